#include "arrcoc/allocate.h"

#include <algorithm>
#include <cmath>

#include "allocate/selection.h"

namespace arrcoc::allocating {

namespace {

constexpr float kSeed = 0.5F;  // of the map's range
constexpr float kGrow[] = {0.6F, 0.8F, 0.95F};
constexpr double kLargest = 1.0 / 3;  // of the picture

struct Rect {  // map cells, both ends included
  int top, left, bottom, right;
};

// Bounding rectangle of the 8-connected cells of at least `low` around a start.
Rect grow(const Map& map, int row, int col, float low) {
  Rect out{row, col, row, col};
  std::vector<char> seen(map.size(), 0);
  std::vector<std::pair<int, int>> open{{row, col}};
  seen[static_cast<size_t>(row) * map.cols + col] = 1;
  while (!open.empty()) {
    const auto [y, x] = open.back();
    open.pop_back();
    out = {std::min(out.top, y), std::min(out.left, x), std::max(out.bottom, y),
           std::max(out.right, x)};
    for (int r = std::max(0, y - 1); r <= std::min(map.rows - 1, y + 1); ++r) {
      for (int c = std::max(0, x - 1); c <= std::min(map.cols - 1, x + 1); ++c) {
        char& mark = seen[static_cast<size_t>(r) * map.cols + c];
        if (mark != 0 || map.at(r, c) < low) continue;
        mark = 1;
        open.emplace_back(r, c);
      }
    }
  }
  return out;
}

// One axis of a rectangle: padded, at least `smallest` long, whole pixels inside 0..limit.
void pad(float& low, float& high, float margin, float smallest, int limit) {
  const float extra = std::max(margin, (smallest - (high - low)) / 2);
  low = std::max(0.0F, std::floor(low - extra));
  high = std::min(static_cast<float>(limit), std::ceil(high + extra));
}

Box to_box(const Rect& rect, const Map& map, const Geometry& geometry, int smallest) {
  const auto limit_x = static_cast<float>(geometry.width - 1);
  const auto limit_y = static_cast<float>(geometry.height - 1);
  Box box{std::min(static_cast<float>(rect.left) * map.cell_width, limit_x),
          std::min(static_cast<float>(rect.top) * map.cell_height, limit_y),
          static_cast<float>(rect.right + 1) * map.cell_width,
          static_cast<float>(rect.bottom + 1) * map.cell_height};
  pad(box.x0, box.x1, map.cell_width, static_cast<float>(smallest), geometry.width);
  pad(box.y0, box.y1, map.cell_height, static_cast<float>(smallest), geometry.height);
  return box;
}

bool inside(const Box& box, float x, float y) {
  return x >= box.x0 && x < box.x1 && y >= box.y0 && y < box.y1;
}

// Merges a new region into those that it overlaps.
void add(std::vector<Region>& regions, Region region) {
  for (auto each = regions.begin(); each != regions.end();) {
    if (intersect(each->box, region.box).area() > 0) {
      region.box =
          Box{std::min(region.box.x0, each->box.x0), std::min(region.box.y0, each->box.y0),
              std::max(region.box.x1, each->box.x1), std::max(region.box.y1, each->box.y1)};
      region.strength = std::max(region.strength, each->strength);
      regions.erase(each);
      each = regions.begin();  // the larger box may meet others
    } else {
      ++each;
    }
  }
  regions.push_back(region);
}

}  // namespace

std::vector<Region> find_regions(const Map& map, const Geometry& geometry, int count,
                                 int smallest) {
  std::vector<Region> regions;
  const Map range = min_max(map);
  const double picture = static_cast<double>(geometry.width) * geometry.height;
  for (size_t index : top(range.values, range.size())) {
    const float strength = range.values[index];
    if (strength < kSeed || static_cast<int>(regions.size()) >= count) break;
    const int row = static_cast<int>(index) / map.cols;
    const int col = static_cast<int>(index) % map.cols;
    const float x = (static_cast<float>(col) + 0.5F) * map.cell_width;
    const float y = (static_cast<float>(row) + 0.5F) * map.cell_height;
    if (std::any_of(regions.begin(), regions.end(),
                    [&](const Region& region) { return inside(region.box, x, y); })) {
      continue;
    }
    Box box;
    for (float share : kGrow) {
      box = to_box(grow(range, row, col, share * strength), map, geometry, smallest);
      if (box.area() <= kLargest * picture) break;
    }
    if (box.area() > kLargest * picture) {  // a plateau: its first cell has to do
      box = to_box(Rect{row, col, row, col}, map, geometry, smallest);
    }
    add(regions, Region{box, strength});
  }
  std::stable_sort(regions.begin(), regions.end(),
                   [](const Region& a, const Region& b) { return a.strength > b.strength; });
  return regions;
}

}  // namespace arrcoc::allocating
