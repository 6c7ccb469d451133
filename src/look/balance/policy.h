// Weights of the three maps, from what is asked and how the maps look: a linear rule, by hand or
// fitted.
#pragma once

#include <array>
#include <string>

#include "arrcoc/look.h"

namespace arrcoc::balancing {

inline constexpr int kPolicyFeatures = 13;
// [specificity, vague, complexity, reads | mean, max, std of information, salience, coupling]
using PolicyFeatures = std::array<float, kPolicyFeatures>;

PolicyFeatures describe(const Knowledge& knowledge, const Query& query);

// Three logits (information, salience, coupling) = bias + rows . features.
struct Policy {
  std::array<float, 3> bias{};
  std::array<PolicyFeatures, 3> rows{};
};

Weights weights_by(const Policy& policy, const PolicyFeatures& features, bool by_sigmoid);

// {"bias": [3], "rows": [[13] x 3]}; Error{bad_json} for anything else, numbers must be finite.
Policy policy_from_json(const std::string& json);
std::string to_json(const Policy& policy);

}  // namespace arrcoc::balancing
