// How deep the encoder goes with each token of a picture.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>
#include <vector>

#include "arrcoc/model.h"
#include "models/hf/blocks.h"

namespace arrcoc::hf {

inline constexpr float kNotChosen = -1;  // relevance of tokens that are only looked at by others

// The level at which each token leaves, of `levels`; relevance: of each token. Among tokens of one
// relevance the later ones leave first. The rule has the numbers of so many levels
// (HfModel::depth_refusal).
std::vector<int64_t> levels_of(const Depth& depth, std::span<const float> relevance, size_t levels);

// How many tokens leave at each level.
std::vector<int64_t> counted(const std::vector<int64_t>& level_of_each, size_t levels);

// Who is still in an encoder, and the rows of those that left. Tokens have `unit` patches each and
// look at those of their frame.
class Leaving {
 public:
  // levels: of each token; empty: nobody leaves before the end.
  Leaving(std::vector<int64_t> levels, std::vector<int64_t> frames, int64_t unit);
  // rows: of a level, one for each token that is still here. Those that leave at the level keep
  // theirs; x, rotary and segments (of patches) go on with the others. Returns the level's rows of
  // all tokens, zeros for those that left before.
  at::Tensor at(int64_t level, const at::Tensor& rows, at::Tensor& x, Rotary& rotary,
                Segments& segments);
  // One row for every token, from where it left. rows: of those that came to the end; undefined
  // where nobody did.
  at::Tensor all(const at::Tensor& rows) const;

 private:
  std::vector<int64_t> levels_, frames_, here_;  // here_: tokens, ascending
  int64_t unit_;
  std::vector<int64_t> left_;  // tokens in the order of gone_
  std::vector<at::Tensor> gone_;
};

}  // namespace arrcoc::hf
