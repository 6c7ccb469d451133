#include "allocate/field.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "arrcoc/error.h"

namespace arrcoc::allocating {

namespace {
// Overlaps up to this share of the smaller of the two cells are rounding of cell sizes, not
// content.
constexpr double kSliver = 0.125;
}  // namespace

Field::Field(const Map& map, const Geometry& geometry, bool sums)
    : geometry_(geometry), finest_(geometry.grid(geometry.finest)) {
  if (map.rows < 1 || map.cols < 1 || map.size() != static_cast<size_t>(map.rows) * map.cols ||
      !(map.cell_width > 0) || !(map.cell_height > 0)) {
    throw Error(ErrorCode::bad_argument,
                "[allocate] the relevance map is empty or its cells have no size; give it rows x "
                "cols values and a cell size in source pixels");
  }
  require_finite(map, "attending");
  maxima_.push_back(map);
  build_maxima();
  if (sums) build_sums();
  find_top();
}

void Field::build_maxima() {
  while (maxima_.back().rows > 1 || maxima_.back().cols > 1) {
    const Map& fine = maxima_.back();
    Map coarse{(fine.rows + 1) / 2, (fine.cols + 1) / 2, 0, 0, {}};
    coarse.values.resize(static_cast<size_t>(coarse.rows) * coarse.cols);
    for (int r = 0; r < coarse.rows; ++r) {
      const int below = std::min(2 * r + 1, fine.rows - 1);
      for (int c = 0; c < coarse.cols; ++c) {
        const int right = std::min(2 * c + 1, fine.cols - 1);
        coarse.at(r, c) = std::max(std::max(fine.at(2 * r, 2 * c), fine.at(2 * r, right)),
                                   std::max(fine.at(below, 2 * c), fine.at(below, right)));
      }
    }
    maxima_.push_back(std::move(coarse));
  }
}

void Field::build_sums() {
  const size_t wide = static_cast<size_t>(map().cols) + 1;
  values_.assign((static_cast<size_t>(map().rows) + 1) * wide, 0.0);
  squares_ = values_;
  for (int r = 0; r < map().rows; ++r) {
    double sum = 0;
    double square = 0;
    for (int c = 0; c < map().cols; ++c) {
      const double value = map().at(r, c);
      sum += value;
      square += value * value;
      const size_t here = (static_cast<size_t>(r) + 1) * wide + c + 1;
      values_[here] = values_[here - wide] + sum;
      squares_[here] = squares_[here - wide] + square;
    }
  }
}

void Field::find_top() {
  const auto [low, high] = std::minmax_element(map().values.begin(), map().values.end());
  constant_ = *low == *high;
  const auto first = std::find(map().values.begin(), map().values.end(), *high);
  const auto index = static_cast<int>(first - map().values.begin());
  const double side = static_cast<double>(Geometry::side(geometry_.finest));
  const int row = index / map().cols;
  const int col = index % map().cols;
  const double x = (col + 0.5) * map().cell_width;
  const double y = (row + 0.5) * map().cell_height;
  top_ = Cell{geometry_.finest, static_cast<int>(std::min<double>(y / side, finest_.rows - 1)),
              static_cast<int>(std::min<double>(x / side, finest_.cols - 1))};
}

// Map rows (or columns) under the finest-level rows first..last, along an axis of `pixels`. Written
// by finest-level cells, so that a parent sees exactly what its children see together.
Field::Range Field::overlapped(int64_t first, int64_t last, int pixels, double step,
                               int count) const {
  const double side = static_cast<double>(Geometry::side(geometry_.finest));
  const auto sliver = [&](int64_t index) {
    return kSliver * std::min(step, std::min(side, pixels - static_cast<double>(index) * side));
  };
  const double begin = static_cast<double>(first) * side + sliver(first);
  const double end = std::min<double>(pixels, static_cast<double>(last + 1) * side) - sliver(last);
  Range range{};
  range.first = static_cast<int>(std::min<double>(std::floor(begin / step), count - 1));
  range.last = static_cast<int>(std::min<double>(std::ceil(end / step) - 1, count - 1));
  return range;
}

float Field::peak(const Cell& cell) const {
  const int depth = cell.level - geometry_.finest;
  const auto last = [&](int index, int count) {
    return std::min<int64_t>(((static_cast<int64_t>(index) + 1) << depth) - 1, count - 1);
  };
  const Range rows =
      overlapped(static_cast<int64_t>(cell.row) << depth, last(cell.row, finest_.rows),
                 geometry_.height, map().cell_height, map().rows);
  const Range cols =
      overlapped(static_cast<int64_t>(cell.col) << depth, last(cell.col, finest_.cols),
                 geometry_.width, map().cell_width, map().cols);
  // Blocks of the largest size that fits: at most 3x3 of them meet the range.
  const int longest = std::max(rows.last - rows.first, cols.last - cols.first) + 1;
  const int level = std::min(static_cast<int>(std::bit_width(static_cast<unsigned>(longest))) - 1,
                             static_cast<int>(maxima_.size()) - 1);
  float best = map().at(rows.first, cols.first);
  for (int r = rows.first >> level; r <= rows.last >> level; ++r) {
    for (int c = cols.first >> level; c <= cols.last >> level; ++c) {
      descend(level, r, c, rows, cols, best);
    }
  }
  return best;
}

void Field::descend(int level, int row, int col, const Range& rows, const Range& cols,
                    float& best) const {
  const Map& blocks = maxima_[level];
  if (blocks.at(row, col) <= best) return;
  const int top = row << level;
  const int left = col << level;
  const int bottom = std::min((row + 1) << level, map().rows) - 1;
  const int right = std::min((col + 1) << level, map().cols) - 1;
  if (top > rows.last || bottom < rows.first || left > cols.last || right < cols.first) return;
  if (top >= rows.first && bottom <= rows.last && left >= cols.first && right <= cols.last) {
    best = blocks.at(row, col);
    return;
  }
  const Map& finer = maxima_[level - 1];
  for (int r = 2 * row; r < std::min(2 * row + 2, finer.rows); ++r) {
    for (int c = 2 * col; c < std::min(2 * col + 2, finer.cols); ++c) {
      descend(level - 1, r, c, rows, cols, best);
    }
  }
}

Field::Extent Field::extent(const Cell& cell) const {
  const double side = static_cast<double>(Geometry::side(cell.level));
  return {cell.col * side, cell.row * side,
          std::min<double>(geometry_.width, (cell.col + 1) * side),
          std::min<double>(geometry_.height, (cell.row + 1) * side)};
}

// Integral of the map from the origin to (x, y), in map cells. The table is bilinear inside a map
// cell; beyond the map the last row and column go on.
double Field::integral(const std::vector<double>& table, double x, double y) const {
  const double u = x / map().cell_width;
  const double v = y / map().cell_height;
  const int c = static_cast<int>(std::min<double>(u, map().cols - 1));
  const int r = static_cast<int>(std::min<double>(v, map().rows - 1));
  const size_t wide = static_cast<size_t>(map().cols) + 1;
  const double* here = &table[r * wide + c];
  const double above = here[0] + (u - c) * (here[1] - here[0]);
  const double below = here[wide] + (u - c) * (here[wide + 1] - here[wide]);
  return above + (v - r) * (below - above);
}

double Field::integral(const std::vector<double>& table, const Extent& area) const {
  return integral(table, area.x1, area.y1) - integral(table, area.x0, area.y1) -
         integral(table, area.x1, area.y0) + integral(table, area.x0, area.y0);
}

double Field::mass(const Cell& cell) const {
  const double side = static_cast<double>(Geometry::side(geometry_.finest));
  const double map_cell = static_cast<double>(map().cell_width) * map().cell_height;
  return integral(values_, extent(cell)) * map_cell / (side * side);
}

double Field::variance(const Cell& cell) const {
  const Extent area = extent(cell);
  const double cells = area.area() / (static_cast<double>(map().cell_width) * map().cell_height);
  const double mean = integral(values_, area) / cells;
  return std::max(0.0, integral(squares_, area) / cells - mean * mean);
}

}  // namespace arrcoc::allocating
