// From relevance to tokens.
#pragma once

#include <string>
#include <vector>

#include "arrcoc/allocate.h"

namespace arrcoc::allocating {

// [0,1] -> [0,1], rising.
double along(Curve curve, double relevance, double steepness = 0);

// 0..1 -> 64..400.
int tokens_at(double share);

// 0..1 -> one of kTiers by level order: five equal shares of the range. Rounding the token count to
// the nearest tier instead would leave 400 to counts of 392 and above.
int tier_at(double share);

// Budgets of single positions, 64..400 each, for scores in falling order. Their sum stays within
// `total`: first all shrink alike (never below 64), then the last ones get none and are left out.
std::vector<int> position_budgets(const std::vector<float>& scores, const AllocateOptions& options,
                                  int64_t total);

// >= 300: 0, >= 200: 1, >= 100: 2, else 3.
int mip_level(int tokens);

// 1 - smoothstep(inner, outer, distance): 1 up to inner, 0 from outer on.
double smooth_quality(double distance, double inner, double outer);

}  // namespace arrcoc::allocating
