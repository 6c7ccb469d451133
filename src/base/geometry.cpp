#include "arrcoc/map.h"

#include <algorithm>

namespace arrcoc {

namespace {
int ceil_div(int64_t a, int64_t b) { return static_cast<int>((a + b - 1) / b); }
}  // namespace

Grid Geometry::grid(int level) const {
  return Grid{ceil_div(height, side(level)), ceil_div(width, side(level))};
}

bool Geometry::exists(int level, int row, int col) const {
  const Grid g = grid(level);
  return level >= finest && row >= 0 && col >= 0 && row < g.rows && col < g.cols;
}

int Geometry::coarsest() const {
  int level = 0;
  while (grid(level).cells() > 1) ++level;
  return level;
}

int Geometry::root_level(int budget) const {
  const int64_t most = std::min<int64_t>(kMaxRoots, std::max(1, budget / 4));
  int level = 0;
  while (grid(level).cells() > most) ++level;
  return level;
}

}  // namespace arrcoc
