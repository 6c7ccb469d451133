// The picture encoder of SAM: windowed and global attention with relative positions, and its neck.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

#include "models/hf/config.h"

namespace arrcoc::hf {

class SamEncoder {
 public:
  SamEncoder(const ModelConfig& config, Source& source)
      : SamEncoder(config.sam, "vision_encoder.", config.file, source) {}
  SamEncoder(const SamConfig& config, const std::string& prefix, const std::string& file,
             Source& source);
  // pixels [B,3,S,S] -> [B,output,S/patch,S/patch]. Error{bad_argument} for another size.
  at::Tensor operator()(const at::Tensor& pixels) const;
  // The same for sides of any number of patches, with positions between the learned ones.
  at::Tensor of_any_size(const at::Tensor& pixels) const;

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
