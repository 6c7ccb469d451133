#include "allocate/falloff.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "allocate/curves.h"
#include "allocate/selection.h"

namespace arrcoc::allocating {

namespace {

constexpr float kHotspotShare = 0.7F;
constexpr size_t kMaxHotspots = 64;

bool is_local_maximum(const Map& map, int row, int col) {
  for (int r = std::max(0, row - 1); r <= std::min(map.rows - 1, row + 1); ++r) {
    for (int c = std::max(0, col - 1); c <= std::min(map.cols - 1, col + 1); ++c) {
      if (map.at(r, c) > map.at(row, col)) return false;
    }
  }
  return true;
}

// Strongest first, ties in raster order.
std::vector<Cell> hotspots(const Map& map, float lowest) {
  std::vector<Cell> cells;
  std::vector<float> strengths;
  for (int r = 0; r < map.rows; ++r) {
    for (int c = 0; c < map.cols; ++c) {
      if (map.at(r, c) < lowest || !is_local_maximum(map, r, c)) continue;
      cells.push_back(Cell{0, r, c});
      strengths.push_back(map.at(r, c));
    }
  }
  std::vector<Cell> out;
  for (size_t index : top(strengths, kMaxHotspots)) out.push_back(cells[index]);
  return out;
}

}  // namespace

Map with_falloff(const Map& map, float reach) {
  Map out = map;
  const float largest = maximum(map);
  if (!(largest > 0)) return out;
  const int down = static_cast<int>(std::min<float>(reach / map.cell_height, map.rows)) + 1;
  const int across = static_cast<int>(std::min<float>(reach / map.cell_width, map.cols)) + 1;
  for (const Cell& spot : hotspots(map, kHotspotShare * largest)) {
    const int row = spot.row;
    const int col = spot.col;
    const float strength = map.at(row, col);
    for (int r = std::max(0, row - down); r <= std::min(map.rows - 1, row + down); ++r) {
      for (int c = std::max(0, col - across); c <= std::min(map.cols - 1, col + across); ++c) {
        const double distance = std::hypot(static_cast<double>(r - row) * map.cell_height,
                                           static_cast<double>(c - col) * map.cell_width);
        const double quality = smooth_quality(distance, reach / 4.0, reach);
        out.at(r, c) = std::max(out.at(r, c), static_cast<float>(strength * quality));
      }
    }
  }
  return out;
}

}  // namespace arrcoc::allocating
