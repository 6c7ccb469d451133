// Leaves as JSON, the same for the command line and the server.
#pragma once

#include <nlohmann/json.hpp>

#include "arrcoc/allocate.h"
#include "base/rounded.h"

namespace arrcoc::allocating {

// In pixels, times `scale` (whole numbers stay whole with a whole scale).
template <class Number = int64_t>
nlohmann::ordered_json leaves_json(const Allocation& allocation, Number scale = 1) {
  auto out = nlohmann::ordered_json::array();
  for (const Leaf& leaf : allocation.leaves) {
    const Number side = static_cast<Number>(Geometry::side(leaf.level)) * scale;
    out.push_back({{"x", leaf.col * side},
                   {"y", leaf.row * side},
                   {"size", side},
                   {"level", leaf.level},
                   {"relevance", rounded(leaf.relevance)}});
  }
  return out;
}

}  // namespace arrcoc::allocating
