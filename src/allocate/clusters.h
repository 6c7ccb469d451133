// Groups of neighbouring cells with like relevance.
#pragma once

#include <vector>

#include "allocate/selection.h"

namespace arrcoc::allocating {

// Label (0, 1, ...) of each cell of the selection: k-means over position and relevance, started
// from an even grid of about `count` centres; every cell looks only at the 3x3 centres around its
// start.
std::vector<int> cluster(const Selection& from, int count);

}  // namespace arrcoc::allocating
