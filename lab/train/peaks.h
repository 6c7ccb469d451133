// Largest relevance under every cell of every level, and where it is.
#pragma once

#include <vector>

#include "arrcoc/allocate.h"
#include "arrcoc/map.h"

namespace arrcoc::training {

// Weight of splitting a node of this level, as the quadtree allocator has it.
inline float split_weight(int level) {
  static const AllocateOptions defaults;
  return level == 1 ? defaults.finest_weight : level <= 0 ? defaults.enlarge_weight : 1.0F;
}

class Peaks {
 public:
  // map [stride][stride]; levels 0 to roots.
  Peaks(const float* map, int stride, const Geometry& geometry, int roots)
      : map_(map), columns_(static_cast<size_t>(roots) + 1), cells_(columns_.size()) {
    for (int level = 0; level <= roots; ++level) {
      const Grid grid = geometry.grid(level);
      columns_[level] = grid.cols;
      auto& cells = cells_[level];
      cells.assign(static_cast<size_t>(grid.cells()), -1);
      const Grid below = geometry.grid(level > 0 ? level - 1 : 0);
      for (int r = 0; r < below.rows; ++r)
        for (int c = 0; c < below.cols; ++c) {
          const int from = level == 0 ? r * stride + c
                                      : cells_[level - 1][static_cast<size_t>(r) * below.cols + c];
          int& peak = level == 0 ? cells[static_cast<size_t>(r) * grid.cols + c]
                                 : cells[static_cast<size_t>(r / 2) * grid.cols + c / 2];
          if (peak < 0 || map[from] > map[peak]) peak = from;
        }
    }
  }
  // Index into the map. Cells of level -1 lie under their level-0 cell.
  int where(int level, int row, int col) const {
    if (level < 0) return where(0, row / 2, col / 2);
    return cells_[level][static_cast<size_t>(row) * columns_[level] + col];
  }
  float at(int level, int row, int col) const { return map_[where(level, row, col)]; }

 private:
  const float* map_;
  std::vector<int> columns_;
  std::vector<std::vector<int>> cells_;
};

}  // namespace arrcoc::training
