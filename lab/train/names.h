// What things are called: on photographs every cell and every token that lies on a known thing
// names it, as glyph losses name characters. The two heads serve training alone and are not
// shipped.
#pragma once

#include <memory>

#include "lab/train/optimiser.h"

namespace arrcoc::training {

class NameHeads {
 public:
  // cell, token: widths of the realizer's cells and the answerer's tokens.
  NameHeads(int names, int cell, int token, uint64_t seed, at::Device device);

  // states [..,width], labels [..] int64, -1 where no name is known. accuracy: share named right.
  at::Tensor cells(const at::Tensor& states, const at::Tensor& labels, at::Tensor* accuracy) const;
  at::Tensor tokens(const at::Tensor& states, const at::Tensor& labels, at::Tensor* accuracy) const;

  FlatWeights& weights() { return *weights_; }

 private:
  at::Tensor loss(const tiny::Linear& head, const at::Tensor& states, const at::Tensor& labels,
                  at::Tensor* accuracy) const;

  tiny::Layout layout_;
  tiny::Linear cells_, tokens_;
  std::unique_ptr<FlatWeights> weights_;
};

}  // namespace arrcoc::training
