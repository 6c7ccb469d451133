// The picture encoder of SAM: windowed and global attention with relative positions, and its neck.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "models/hf/config.h"

namespace arrcoc::hf {

class SamEncoder {
 public:
  SamEncoder(const ModelConfig& config, Source& source);
  // pixels [B,3,S,S] -> [B,output,S/patch,S/patch]
  at::Tensor operator()(const at::Tensor& pixels) const;

 private:
  struct Layer {
    Norm norm1, norm2;
    Linear qkv, out;
    at::Tensor rows, cols;  // relative positions [2*S-1, D]
    Mlp mlp;
    bool global = false;
  };
  at::Tensor attend(const Layer& layer, const at::Tensor& x) const;
  at::Tensor windowed(const Layer& layer, const at::Tensor& x) const;

  SamConfig config_;
  Linear patch_;
  at::Tensor positions_, neck1_, neck2_;
  Norm neck_norm1_, neck_norm2_;
  std::vector<Layer> layers_;
};

}  // namespace arrcoc::hf
