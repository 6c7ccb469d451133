// Rectangles around what stands out of a map.
#pragma once

#include <vector>

#include "arrcoc/map.h"

namespace arrcoc::allocating {

struct Region {
  Box box;  // whole native pixels, inside the picture
  float strength = 0;
};

// At most `count` rectangles, strongest first: each grows from the highest cell left over the
// connected cells of at least 0.6 of it (more when that would take over a third of the picture),
// and is padded by one map cell to at least `smallest` pixels a side. Overlapping ones become one.
// An even map has none; cells in the lower half of the map's range start none.
std::vector<Region> find_regions(const Map& map, const Geometry& geometry, int count, int smallest);

}  // namespace arrcoc::allocating
