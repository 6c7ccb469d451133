// Reducing: fewer tokens on the way through an encoder that was given all of them.
//
// These are other people's ways of saving tokens, on the same weights, for `arrcoc bench`: ToMe,
// VisionZip, FastV, CDPruner. They start from every native patch, so the encoder pays for all of
// them up to the layer where they go; "budget" is how many reach the reader.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>

#include "arrcoc/registry.h"

namespace arrcoc {

// The tokens of one picture and the characters of one question on their way.
struct Flow {
  at::Tensor states;  // [N+T,width]: N tokens in raster order, then T characters
  at::Tensor size;    // [N] float: patches that a token stands for
  at::Tensor centre;  // [N,2] float: x, y in native pixels, mean over those patches
  at::Tensor scale;   // [N] float: log2(native pixels per patch pixel), mean likewise
  at::Tensor first;   // [N] int64: number of the patch that it began as; increasing
  int64_t tokens() const { return size.size(0); }
};

// What a layer attended with, before anything was taken away.
struct LayerSight {
  int layer = 0, layers = 1;  // number of this one from 0, and of all
  at::Tensor queries, keys;   // [heads,N+T,d]
  int64_t tokens = 0;         // N
};

class Reducer {
 public:
  static constexpr const char* kStage = "reducer";
  virtual ~Reducer() = default;
  // Whether attention counts a token as often as the patches that it stands for: log(size) is
  // added to its scores.
  virtual bool proportional() const { return false; }
  // Called between the attention and the MLP of every layer, and after the layer.
  virtual void inside(const LayerSight&, Flow&, int64_t /*budget*/) const {}
  virtual void after(const LayerSight&, Flow&, int64_t /*budget*/) const {}
};
template <>
Registry<Reducer>& registry<Reducer>();

namespace reducing {

// Keeps the tokens of these numbers (of the flow; any order) and all characters.
void keep(Flow& flow, const at::Tensor& numbers);
// Adds tokens `from` [R] to tokens `to` [R] (means weighted by size) and takes them away. A number
// may occur several times in `to`, but in `from` once, and in one of the two only.
void merge(Flow& flow, const at::Tensor& from, const at::Tensor& to);
// Mean over heads and over `count` query rows from `row` on of the attention that each token gets,
// [N]. The softmax runs over tokens and characters.
at::Tensor attention_received(const LayerSight& sight, int64_t row, int64_t count);
// Keys of the tokens, mean over heads, of length one: [N,d].
at::Tensor token_keys(const LayerSight& sight);

}  // namespace reducing
}  // namespace arrcoc
