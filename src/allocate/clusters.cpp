#include "allocate/clusters.h"

#include <algorithm>
#include <cmath>

namespace arrcoc::allocating {

namespace {

constexpr int kRounds = 5;
// A full step of relevance weighs as much as this many distances between centres.
constexpr double kRelevanceSpan = 2.0;

struct Centre {
  double x = 0, y = 0, relevance = 0;
};

Grid seed_grid(const Grid& cells, int count) {
  const double spacing =
      std::max(1.0, std::sqrt(static_cast<double>(cells.cells()) / std::max(1, count)));
  const auto along = [&](int length) {
    return std::clamp(static_cast<int>(std::lround(length / spacing)), 1, std::min(length, count));
  };
  const int rows = along(cells.rows);
  // A strip narrower than the spacing has all its centres along its length.
  const int cols = std::clamp(rows == 1 ? count : along(cells.cols), 1, cells.cols);
  return cols == 1 ? Grid{std::clamp(count, 1, cells.rows), 1} : Grid{rows, cols};
}

}  // namespace

std::vector<int> cluster(const Selection& from, int count) {
  const Grid seeds = seed_grid(from.grid, count);
  const double down = static_cast<double>(from.grid.rows) / seeds.rows;
  const double across = static_cast<double>(from.grid.cols) / seeds.cols;
  const auto at = [&](size_t i) {
    const Cell cell = from.cell(i);
    return Centre{(cell.col + 0.5) / across, (cell.row + 0.5) / down,
                  kRelevanceSpan * from.relevance[i]};
  };
  const auto start = [&](const Centre& p) {
    return std::pair(std::min(static_cast<int>(p.y), seeds.rows - 1),
                     std::min(static_cast<int>(p.x), seeds.cols - 1));
  };
  std::vector<int> label(from.relevance.size());
  for (size_t i = 0; i < label.size(); ++i) {
    const auto [r, c] = start(at(i));
    label[i] = r * seeds.cols + c;
  }
  for (int round = 0; round < kRounds; ++round) {
    std::vector<Centre> centres(static_cast<size_t>(seeds.cells()));
    std::vector<int> members(centres.size(), 0);
    for (size_t i = 0; i < label.size(); ++i) {
      const Centre p = at(i);
      Centre& centre = centres[static_cast<size_t>(label[i])];
      centre.x += p.x;
      centre.y += p.y;
      centre.relevance += p.relevance;
      ++members[static_cast<size_t>(label[i])];
    }
    for (size_t i = 0; i < label.size(); ++i) {
      const Centre p = at(i);
      const auto [row, col] = start(p);
      double nearest = INFINITY;
      for (int r = std::max(0, row - 1); r <= std::min(seeds.rows - 1, row + 1); ++r) {
        for (int c = std::max(0, col - 1); c <= std::min(seeds.cols - 1, col + 1); ++c) {
          const auto k = static_cast<size_t>(r) * seeds.cols + c;
          if (members[k] == 0) continue;
          const double dx = p.x - centres[k].x / members[k];
          const double dy = p.y - centres[k].y / members[k];
          const double dr = p.relevance - centres[k].relevance / members[k];
          const double distance = dx * dx + dy * dy + dr * dr;
          if (distance < nearest) {
            nearest = distance;
            label[i] = static_cast<int>(k);
          }
        }
      }
    }
  }
  return label;
}

}  // namespace arrcoc::allocating
