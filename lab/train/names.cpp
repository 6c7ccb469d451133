#include "lab/train/names.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

namespace arrcoc::training {

using at::Tensor;

NameHeads::NameHeads(int names, int cell, int token, uint64_t seed, at::Device device)
    : cells_(layout_, "cells", cell, names, 0.3F), tokens_(layout_, "tokens", token, names, 0.3F) {
  weights_ = std::make_unique<FlatWeights>(layout_, layout_.initial(seed), device);
}

Tensor NameHeads::loss(const tiny::Linear& head, const Tensor& states, const Tensor& labels,
                       Tensor* accuracy) const {
  const Tensor flat = labels.reshape({-1});
  const Tensor logits =
      head(weights_->tensors(states.scalar_type()), states.reshape({flat.size(0), states.size(-1)}))
          .to(at::kFloat);
  const Tensor known = flat.ge(0).sum().clamp_min(1).to(at::kFloat);
  if (accuracy) {
    at::NoGradGuard no_grad;
    *accuracy = logits.argmax(1).eq(flat).sum().to(at::kFloat) / known;
  }
  return at::cross_entropy_loss(logits, flat, {}, at::Reduction::Sum, -1) / known;
}

Tensor NameHeads::cells(const Tensor& states, const Tensor& labels, Tensor* accuracy) const {
  return loss(cells_, states, labels, accuracy);
}

Tensor NameHeads::tokens(const Tensor& states, const Tensor& labels, Tensor* accuracy) const {
  return loss(tokens_, states, labels, accuracy);
}

}  // namespace arrcoc::training
