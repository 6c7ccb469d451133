// Other people's ways to leave few visual tokens of a Hugging Face model, and how such a model is
// asked under a policy's name.
#pragma once

#include <string>

#include "arrcoc/registry.h"
#include "models/hf/reduction.h"

namespace arrcoc {
template <>
Registry<hf::Reduction>& registry<hf::Reduction>();
}

namespace arrcoc::baselines {

// A name of `eval --model` and `bench --model`: a mode of ours over a policy of the road, or a
// reduction of all tokens.
struct Way {
  std::string policy;  // of the road
  ReadMode mode = ReadMode::prune;
  std::string reduction;  // "": none
};
// Any policy of the road besides: over `usual`. Error{not_found} for a name that nobody knows comes
// from policy().
Way way_of(const std::string& name, ReadMode usual);

// All of them, ours first.
inline constexpr const char* kWays =
    "native,prune,patches,zoom,passes,resize,random,cdpruner,fastv,tome,visionzip";

// Features with one token a group of theirs (the mean of its members).
hf::Features left_of(const hf::Features& whole, std::vector<std::vector<int64_t>> groups);

}  // namespace arrcoc::baselines
