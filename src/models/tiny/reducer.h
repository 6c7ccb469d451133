// Fewer tokens on the way through an encoder that was given all of them. The lab implements it
// (lab/baselines), the product only has the place for it.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

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

}  // namespace arrcoc
