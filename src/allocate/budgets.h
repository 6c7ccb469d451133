// What budget rules look at.
#pragma once

#include <array>

#include "arrcoc/allocate.h"

namespace arrcoc::allocating {

// Without a temperature the softmax of values in [0,1] is nearly flat for every map, and the
// entropy nearly maximal; 0.05 tells a single peak (0) from noise (0.75) from an even map (1).
inline constexpr float kEntropyTemperature = 0.05F;

// Entropy of softmax(values / temperature) over log(cells): 0 one cell .. 1 even. 1 for a single
// cell, about which nothing is known.
double normalised_entropy(const Map& map, double temperature);

// Does the answer have to be read off the picture, letter by letter?
bool must_be_read(const Query& query);

// Position in kTiers by the question alone: complexity 0..2, one more when the answer must be read,
// one more when the question is specific; a vague question looks at everything, at least tier 1.
int tier_of(const Query& query);

// Logits over kTiers from question and map; a trained head returns the same kind of numbers.
// difficulty = 0.35 complexity + 0.2 specificity + 0.15 must be read + 0.3 entropy, all in 0..1;
// logit k = -(difficulty - k/4)^2 / (2 * 0.15^2).
std::array<float, kTiers.size()> tier_logits(const Relevance& relevance, const Query& query);

}  // namespace arrcoc::allocating
