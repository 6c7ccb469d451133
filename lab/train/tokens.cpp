#include "lab/train/tokens.h"

#include <algorithm>
#include <cmath>
#include <queue>

#include "lab/train/peaks.h"

namespace arrcoc::training {
namespace {

struct Node {
  float gain;
  int level, row, col;
  bool operator<(const Node& other) const {
    if (gain != other.gain) return gain < other.gain;
    if (level != other.level) return level < other.level;  // coarser first
    if (row != other.row) return row > other.row;
    return col > other.col;
  }
};

}  // namespace

std::vector<Cell> quadtree(const float* map, int stride, const Geometry& geometry, int budget,
                           float finest) {
  const int roots = std::max(0, geometry.root_level(budget));
  const Peaks peaks(map, stride, geometry, roots);
  const auto node = [&](int level, int row, int col) {
    const float weight = finest > 0 && level == 1   ? finest
                         : finest > 0 && level <= 0 ? std::min(finest, split_weight(level))
                                                    : split_weight(level);
    return Node{peaks.at(level, row, col) * weight, level, row, col};
  };
  std::priority_queue<Node> open;
  std::vector<Cell> out;
  const Grid grid = geometry.grid(roots);
  int spent = static_cast<int>(grid.cells());
  for (int r = 0; r < grid.rows; ++r)
    for (int c = 0; c < grid.cols; ++c) open.push(node(roots, r, c));
  while (!open.empty()) {
    const Node top = open.top();
    open.pop();
    const int finer = top.level - 1;
    int children = 0;
    if (finer >= geometry.finest)
      for (int i = 0; i < 4; ++i)
        children += geometry.exists(finer, 2 * top.row + i / 2, 2 * top.col + i % 2) ? 1 : 0;
    if (children == 0 || spent + children - 1 > budget) {
      out.push_back({top.level, top.row, top.col, peaks.at(top.level, top.row, top.col)});
      continue;
    }
    spent += children - 1;
    for (int i = 0; i < 4; ++i)
      if (geometry.exists(finer, 2 * top.row + i / 2, 2 * top.col + i % 2))
        open.push(node(finer, 2 * top.row + i / 2, 2 * top.col + i % 2));
  }
  return out;
}

void to_native(const float* map, int stride, const Geometry& frame, const Geometry& native,
               float* out) {
  constexpr double kSliver = 0.125;  // overlaps below this share of a cell are rounding
  const Grid from = frame.grid(0), to = native.grid(0);
  struct Range {
    int first, last;
  };
  const auto ranges = [&](int count, int pixels, double step, int cells) {
    std::vector<Range> out(static_cast<size_t>(count));
    for (int i = 0; i < count; ++i) {
      const double begin = 16.0 * i, end = std::min<double>(pixels, begin + 16);
      const double sliver = kSliver * std::min(step, end - begin);
      out[static_cast<size_t>(i)] = {
          static_cast<int>(std::min<double>(std::floor((begin + sliver) / step), cells - 1)),
          static_cast<int>(std::min<double>(std::ceil((end - sliver) / step) - 1, cells - 1))};
    }
    return out;
  };
  const auto rows = ranges(to.rows, native.height, 16.0 * native.height / frame.height, from.rows);
  const auto cols = ranges(to.cols, native.width, 16.0 * native.width / frame.width, from.cols);
  for (int r = 0; r < to.rows; ++r)
    for (int c = 0; c < to.cols; ++c) {
      float best = 0;
      for (int y = rows[static_cast<size_t>(r)].first; y <= rows[static_cast<size_t>(r)].last; ++y)
        for (int x = cols[static_cast<size_t>(c)].first; x <= cols[static_cast<size_t>(c)].last;
             ++x)
          best = std::max(best, map[static_cast<size_t>(y) * stride + x]);
      out[static_cast<size_t>(r) * to.cols + c] = best;
    }
}

std::vector<Cell> reading_cells(const Ask& ask, const Geometry& geometry, int most) {
  const Grid grid = geometry.grid(0);
  std::vector<uint8_t> taken(static_cast<size_t>(grid.cells()), 0);
  std::vector<Cell> out;
  for (const auto* boxes : {&ask.answer_boxes, &ask.evidence_boxes})
    for (const Box& box : *boxes) {
      const CellRange range = touched(box, 16, grid.rows, grid.cols);
      for (int r = range.r0; r < range.r1; ++r)
        for (int c = range.c0; c < range.c1; ++c) {
          uint8_t& mark = taken[static_cast<size_t>(r) * grid.cols + c];
          if (mark || static_cast<int>(out.size()) >= most) continue;
          mark = 1;
          out.push_back({0, r, c, 1.0F});
        }
    }
  if (out.empty()) out.push_back({0, 0, 0, 0.0F});
  return out;
}

std::vector<Cell> dense_cells(const Geometry& geometry) {
  const Grid grid = geometry.grid(0);
  std::vector<Cell> out;
  for (int r = 0; r < grid.rows; ++r)
    for (int c = 0; c < grid.cols; ++c) out.push_back({0, r, c, 0.0F});
  return out;
}

namespace {

// Raises the map around a box: amplitude inside, falling off with deviation `blur` cells outside.
void raise(float* map, int stride, const Grid& grid, const Box& box, float amplitude, float blur) {
  const float x0 = box.x0 / 16, x1 = box.x1 / 16, y0 = box.y0 / 16, y1 = box.y1 / 16;
  const int reach = static_cast<int>(std::ceil(3 * blur)) + 1;
  const int r0 = std::max(0, static_cast<int>(std::floor(y0)) - reach);
  const int r1 = std::min(grid.rows, static_cast<int>(std::ceil(y1)) + reach);
  const int c0 = std::max(0, static_cast<int>(std::floor(x0)) - reach);
  const int c1 = std::min(grid.cols, static_cast<int>(std::ceil(x1)) + reach);
  const float k = blur > 0.05F ? 0.5F / (blur * blur) : 1e3F;
  for (int r = r0; r < r1; ++r) {
    const float dy = std::max({0.0F, y0 - (r + 1), r - y1});
    for (int c = c0; c < c1; ++c) {
      const float dx = std::max({0.0F, x0 - (c + 1), c - x1});
      const bool apart = dx > 0 || dy > 0;
      const float value = apart ? amplitude * std::exp(-k * (dx * dx + dy * dy)) : amplitude;
      float& cell = map[static_cast<size_t>(r) * stride + c];
      cell = std::max(cell, value);
    }
  }
}

void clear(float* map, int stride, const Grid& grid) {
  for (int r = 0; r < grid.rows; ++r)
    std::fill_n(map + static_cast<size_t>(r) * stride, grid.cols, 0.0F);
}

}  // namespace

void oracle_map(const Ask& ask, const Geometry& geometry, int stride, float* map) {
  const Grid grid = geometry.grid(0);
  clear(map, stride, grid);
  for (const Box& box : ask.evidence_boxes) raise(map, stride, grid, box, 0.9F, 0);
  for (const Box& box : ask.answer_boxes) raise(map, stride, grid, box, 1.0F, 0);
}

void noisy_map(const Ask& ask, const Geometry& geometry, int stride, Dice& dice, float* map) {
  const Grid grid = geometry.grid(0);
  const float noise = dice.uniform(0, 0.25F);
  for (int r = 0; r < grid.rows; ++r)
    for (int c = 0; c < grid.cols; ++c)
      map[static_cast<size_t>(r) * stride + c] = noise * dice.uniform();
  const float blur = dice.uniform(0, 2.0F);
  for (const Box& box : ask.evidence_boxes)
    if (!dice.chance(0.05F)) raise(map, stride, grid, box, dice.uniform(0.5F, 1), blur);
  for (const Box& box : ask.context_boxes)
    if (dice.chance(0.5F)) raise(map, stride, grid, box, dice.uniform(0.3F, 0.9F), blur);
  for (const Box& box : ask.answer_boxes)
    raise(map, stride, grid, box, dice.uniform(0.6F, 1), blur);
  for (int blobs = dice.below(5); blobs > 0; --blobs) {
    const float x = dice.uniform(0, static_cast<float>(geometry.width));
    const float y = dice.uniform(0, static_cast<float>(geometry.height));
    const Box box{x, y, x + dice.uniform(8, 160), y + dice.uniform(8, 48)};
    raise(map, stride, grid, box, dice.uniform(0.2F, 1), blur);
  }
}

float recall(const std::vector<Cell>& cells, const Ask& ask) {
  float covered = 0, total = 0;
  for (const Box& box : ask.answer_boxes) {
    if (box.area() <= 0) continue;
    float inside = 0;
    for (const Cell& cell : cells) {
      if (cell.level > 1) continue;
      const float side = static_cast<float>(Geometry::side(cell.level));
      inside += intersect(box, {cell.col * side, cell.row * side, (cell.col + 1) * side,
                                (cell.row + 1) * side})
                    .area();
    }
    covered += std::min(1.0F, inside / box.area());
    total += 1;
  }
  return total > 0 ? covered / total : -1;
}

}  // namespace arrcoc::training
