// Weights of the three maps, from what is asked and how the maps look: a linear rule, by hand or
// fitted.
#pragma once

#include <array>
#include <string>

#include "arrcoc/look.h"

namespace arrcoc::balancing {

// [specificity, vague, complexity, reads | mean, max, std of information, salience, coupling]
using PolicyFeatures = std::array<float, BalancePolicy::kFeatures>;
PolicyFeatures describe(const Knowledge& knowledge, const Query& query);

// Three logits (information, salience, coupling) = bias + rows . features, then softmax or sigmoid.
Weights weights_by(const BalancePolicy& policy, const PolicyFeatures& features, bool by_sigmoid);

}  // namespace arrcoc::balancing
