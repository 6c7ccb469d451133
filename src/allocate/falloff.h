// Smooth level of detail around hotspots.
#pragma once

#include "arrcoc/map.h"

namespace arrcoc::allocating {

// Raises the map around its hotspots (local maxima of at least 0.7 of the largest value, at most
// 64, strongest first): value = max(value, strength x quality), where quality = 1 -
// smoothstep(reach / 4, reach, distance to the hotspot) and reach is in source pixels.
Map with_falloff(const Map& map, float reach);

}  // namespace arrcoc::allocating
