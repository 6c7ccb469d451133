// Numbers for people and programs.
#pragma once

#include <cmath>

namespace arrcoc {

// Rounds to 4 decimals, so that printed numbers are the same on every machine.
inline double rounded(double value) { return std::round(value * 1e4) / 1e4; }

}  // namespace arrcoc
