// CLIP and SigLIP: pictures and texts in one space.
#pragma once

#include <ATen/core/Tensor.h>

#include "models/hf/config.h"

namespace arrcoc::hf {

class DualEncoder {
 public:
  DualEncoder(const ModelConfig& config, Source& source);

  // pixels [B,3,S,S] -> [B,L,D]: CLIP: class token first, before the last norm; SigLIP: after it.
  at::Tensor vision_hidden(const at::Tensor& pixels) const;
  at::Tensor image_embeds(const at::Tensor& pixels) const;  // [B,P], unit length
  // ids [B,L] -> [B,P], unit length
  at::Tensor text_embeds(const at::Tensor& ids) const;
  // [images,texts], scaled and shifted as trained
  at::Tensor logits_per_image(const at::Tensor& images, const at::Tensor& texts) const;
  // Every place in the space of the texts, [B,L,P]. CLIP: projection(norm(hidden)); SigLIP: each
  // place through the pooling head by itself, as if it alone were attended to.
  at::Tensor dense(const at::Tensor& pixels) const;
  int64_t max_text() const { return config_.positions; }
  bool clip() const { return clip_; }

 private:
  at::Tensor pooled(const at::Tensor& hidden) const;  // SigLIP's attention pooling

  bool clip_;
  DualConfig config_;
  Encoder vision_, text_;
  Linear patch_;
  at::Tensor class_, vision_positions_, text_positions_, tokens_, scale_, bias_, probe_;
  Norm pre_, post_, text_norm_, head_norm_;
  Linear image_projection_, text_projection_;
  Linear pool_q_, pool_k_, pool_v_, pool_out_;
  Mlp head_mlp_;
};

}  // namespace arrcoc::hf
