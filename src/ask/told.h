// What tokens say of the relevance under them.
#pragma once

#include "arrcoc/allocate.h"
#include "arrcoc/tokens.h"

namespace arrcoc::asking {

// Tokens cut from leaves say the largest value of this map under each, not what the leaf has. The
// map is in pixels of the allocation.
void tell(const Map& map, const Allocation& allocation, TokenSequence& tokens);

}  // namespace arrcoc::asking
