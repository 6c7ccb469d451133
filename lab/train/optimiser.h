// All weights of one network in a flat buffer, with AdamW, or Muon for its matrices, over it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "models/tiny/layers.h"

namespace arrcoc::training {

class FlatWeights {
 public:
  FlatWeights(const tiny::Layout& layout, const tiny::Tensors& first, at::Device device);

  // Tensors in `type` that share one cast and one split, so that backward is one concatenation.
  tiny::Tensors tensors(at::ScalarType type) const;
  // Copies on the CPU, fp32.
  tiny::Tensors on_cpu() const;

  at::Tensor gradient() const { return flat_.grad(); }
  at::Tensor gradient_or_zeros() const;
  void replace_gradient(const at::Tensor& gradient) { flat_.mutable_grad() = gradient; }
  void forget_gradient();
  // One AdamW step (0.9, 0.95, 1e-8) with the gradient times `factor` (a tensor on the device, so
  // that clipping never waits). Gradients that are not finite count as zero.
  void step(float rate, float decay, const at::Tensor& factor);
  // From now on matrices inside the network step by Muon: momentum whose singular values are
  // brought to about 1 (five Newton-Schulz iterations), times 0.2 sqrt(longer side), so that an
  // update has the size of one of AdamW and the same rates and decay serve. Embeddings, heads,
  // vectors keep AdamW.
  void use_muon();
  // Tensors whose names (after `network`) start with one of these never change. Returns how many.
  int freeze(const std::string& network, const std::vector<std::string>& prefixes);
  int64_t updates() const { return updates_; }

  void store(std::map<std::string, at::Tensor>& into, const std::string& prefix) const;
  void restore(const std::map<std::string, at::Tensor>& from, const std::string& prefix);

 private:
  tiny::Tensors split(const at::Tensor& flat) const;
  void orthogonal_steps(const at::Tensor& gradient, at::Tensor& steps) const;

  const tiny::Layout& layout_;
  std::vector<int64_t> sizes_;
  at::Tensor flat_, mean_, square_, decays_;
  // Matrices of one shape, orthogonalised together.
  struct Alike {
    int64_t rows, columns;
    std::vector<int64_t> offsets;
  };
  std::vector<Alike> matrices_;  // empty: AdamW everywhere
  at::Tensor forgets_;           // 1 - momentum per weight, defined with Muon
  at::Tensor learns_;            // 1 or 0 per weight; undefined when all learn
  int64_t updates_ = 0;
};

// Factor that brings the joint norm of all gradients down to `clip`; zero when it is not finite.
at::Tensor clip_factor(const std::vector<const FlatWeights*>& weights, float clip,
                       at::Tensor* norm = nullptr);

}  // namespace arrcoc::training
