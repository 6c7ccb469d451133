// A tree whose detail follows bands of relevance.
#pragma once

#include <functional>

#include "allocate/tree.h"

namespace arrcoc::allocating {

// Splits each cell until its level is that of its band: band 0 stays at the root level, the last
// band goes to the finest, the others lie evenly between. `band` maps relevance to 0..bands-1.
// Where the budget does not last, higher bands and coarser cells go first.
std::vector<Cell> split_by_band(const Forest& forest, const Field& field, int budget, int bands,
                                const std::function<int(float)>& band);

}  // namespace arrcoc::allocating
