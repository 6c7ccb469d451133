// Small pictures, maps and questions for the tests of the room allocate.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "allocate/field.h"
#include "arrcoc/allocate.h"

namespace arrcoc::allocating {

// A map of rows x cols that spans the picture exactly.
inline Map map_over(const Geometry& geometry, int rows, int cols, float value = 0) {
  Map map{rows,
          cols,
          static_cast<float>(geometry.width) / static_cast<float>(cols),
          static_cast<float>(geometry.height) / static_cast<float>(rows),
          {}};
  return like(map, value);
}

// One map cell for each finest-level cell.
inline Map aligned_map(const Geometry& geometry, float value = 0) {
  const Grid grid = geometry.grid(geometry.finest);
  const auto side = static_cast<float>(Geometry::side(geometry.finest));
  return like(Map{grid.rows, grid.cols, side, side, {}}, value);
}

inline void fill_random(Map& map, std::mt19937& random) {
  std::uniform_real_distribution<float> unit(0, 1);
  for (float& value : map.values) value = unit(random);
}

inline const Geometry kSquare{1024, 1024, 0};

// Random values, one for each finest-level cell.
inline Map noise(uint32_t seed, const Geometry& geometry = kSquare) {
  std::mt19937 random(seed);
  Map map = aligned_map(geometry);
  fill_random(map, random);
  return map;
}

// Row and column of every leaf.
inline std::set<std::pair<int, int>> cells(const Allocation& allocation) {
  std::set<std::pair<int, int>> out;
  for (const Leaf& leaf : allocation.leaves) out.insert({leaf.row, leaf.col});
  return out;
}

inline Relevance relevance_of(const Map& map) {
  Relevance out;
  out.map = map;
  return out;
}

inline Look look_of(const Map& map) {
  Look out;
  out.relevance.map = map;
  return out;
}

inline Budget tokens(int count) { return Budget{count, "", ""}; }

inline Allocation run(const std::string& allocator, const Map& map, const Geometry& geometry,
                      int budget, const AllocateOptions& options = {}) {
  return allocate(relevance_of(map), geometry, tokens(budget), allocator, options);
}

// The leaf over a native pixel; nullptr when none covers it.
inline const Leaf* leaf_at(const Allocation& allocation, double x, double y) {
  for (const Leaf& leaf : allocation.leaves) {
    const Box box = box_of(allocation.geometry, leaf);
    if (x >= box.x0 && x < box.x1 && y >= box.y0 && y < box.y1) return &leaf;
  }
  return nullptr;
}

// Level of the leaf over the middle of the first map cell with the highest value.
inline int level_at_top(const Allocation& allocation, const Map& map) {
  const auto best =
      static_cast<int>(std::max_element(map.values.begin(), map.values.end()) - map.values.begin());
  const double x =
      std::min<double>((best % map.cols + 0.5) * map.cell_width, allocation.geometry.width - 0.5);
  const double y =
      std::min<double>((best / map.cols + 0.5) * map.cell_height, allocation.geometry.height - 0.5);
  const Leaf* leaf = leaf_at(allocation, x, y);
  return leaf == nullptr ? 99 : leaf->level;
}

// Do the leaves cover every pixel once? Exact also for pictures too large to count pixels: the
// areas add up to the picture's and no cell lies under another one.
inline bool tiles_exactly(const Allocation& allocation) {
  const Geometry& geometry = allocation.geometry;
  int64_t area = 0;
  for (const Leaf& leaf : allocation.leaves) {
    const int64_t side = Geometry::side(leaf.level);
    area += (std::min<int64_t>(geometry.width, (leaf.col + 1) * side) - leaf.col * side) *
            (std::min<int64_t>(geometry.height, (leaf.row + 1) * side) - leaf.row * side);
  }
  if (area != static_cast<int64_t>(geometry.width) * geometry.height) return false;
  std::vector<Leaf> leaves = allocation.leaves;
  const auto key = [](const Leaf& a) { return std::tuple(a.level, a.row, a.col); };
  const auto before = [&](const Leaf& a, const Leaf& b) { return key(a) < key(b); };
  std::sort(leaves.begin(), leaves.end(), before);
  const auto holds = [&](const Leaf& leaf) {
    return std::binary_search(leaves.begin(), leaves.end(), leaf, before);
  };
  if (std::adjacent_find(leaves.begin(), leaves.end()) != leaves.end()) return false;
  for (const Leaf& leaf : leaves) {
    Leaf parent = leaf;
    for (int up = 0; up < 32; ++up) {
      parent = Leaf{parent.level + 1, parent.row / 2, parent.col / 2, 0};
      if (holds(parent)) return false;
    }
  }
  return true;
}

}  // namespace arrcoc::allocating
