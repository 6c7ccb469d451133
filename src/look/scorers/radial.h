// Round things by radial symmetry.
#pragma once

#include "arrcoc/look.h"

namespace arrcoc::scoring {

// Every strong edge votes for the points at several radii along its gradient; where votes of many
// directions meet, something round is centred there. In [0,1], largest 1 (or all 0).
Map radial_symmetry(const Sight& sight);

}  // namespace arrcoc::scoring
