#include "models/hf/dual.h"

#include <ATen/ATen.h>

#include <cmath>

#include "arrcoc/error.h"
#include "models/compat.h"

namespace arrcoc::hf {
namespace {

at::Tensor unit(const at::Tensor& x) { return x / x.norm(2, -1, true); }

}  // namespace

DualEncoder::DualEncoder(const ModelConfig& model, Source& source)
    : clip_(model.family == Family::clip), config_(model.dual) {
  const DualConfig& c = config_;
  const std::string v = "vision_model.";
  const std::string t = "text_model.";
  int64_t width = c.vision.hidden;
  int64_t side = c.image_size / c.patch;
  patch_ = patch_projection(source, v + "embeddings.patch_embedding", width, c.channels, c.patch,
                            !clip_);
  if (clip_) {
    class_ = source.get(v + "embeddings.class_embedding", {width});
    pre_ = source.layer_norm(v + "pre_layrnorm", width, c.vision.eps);  // spelled so in the files
  }
  vision_positions_ = source.get(v + "embeddings.position_embedding.weight",
                                 {side * side + (clip_ ? 1 : 0), width});
  vision_ = Encoder(c.vision, v + "encoder.", source);
  post_ = source.layer_norm(v + "post_layernorm", width, c.vision.eps);

  tokens_ = source.get(t + "embeddings.token_embedding.weight", {c.vocab, c.text.hidden});
  text_positions_ =
      source.get(t + "embeddings.position_embedding.weight", {c.positions, c.text.hidden});
  text_ = Encoder(c.text, t + "encoder.", source);
  text_norm_ = source.layer_norm(t + "final_layer_norm", c.text.hidden, c.text.eps);
  if (clip_) {
    scale_ = source.get("logit_scale", {});
    image_projection_ = source.linear("visual_projection", width, c.projection, false);
    text_projection_ = source.linear("text_projection", c.text.hidden, c.projection, false);
    return;
  }
  scale_ = source.get("logit_scale", {1});
  bias_ = source.get("logit_bias", {1});
  text_projection_ = source.linear(t + "head", c.text.hidden, c.projection);
  probe_ = source.get(v + "head.probe", {1, 1, width});
  at::Tensor weight = source.get(v + "head.attention.in_proj_weight", {3 * width, width});
  at::Tensor bias = source.get(v + "head.attention.in_proj_bias", {3 * width});
  auto part = [&](int64_t i) {
    return Linear{weight.narrow(0, i * width, width), bias.narrow(0, i * width, width)};
  };
  pool_q_ = part(0);
  pool_k_ = part(1);
  pool_v_ = part(2);
  pool_out_ = source.linear(v + "head.attention.out_proj", width, width);
  head_norm_ = source.layer_norm(v + "head.layernorm", width, c.vision.eps);
  head_mlp_ = {source.linear(v + "head.mlp.fc1", width, c.vision.intermediate),
               source.linear(v + "head.mlp.fc2", c.vision.intermediate, width),
               activation(c.vision.act, model.file)};
}

at::Tensor DualEncoder::vision_hidden(const at::Tensor& pixels) const {
  // Like the strided convolution of the reference, pixels past the last whole patch are not seen.
  int64_t side = config_.image_size / config_.patch * config_.patch;
  if (pixels.dim() != 4 || pixels.size(2) < side || pixels.size(3) < side ||
      pixels.size(2) > config_.image_size || pixels.size(3) > config_.image_size)
    throw Error(ErrorCode::bad_argument, "this model takes pictures of " +
                                             std::to_string(config_.image_size) + "x" +
                                             std::to_string(config_.image_size) + " pixels");
  at::Tensor image = pixels.narrow(2, 0, side).narrow(3, 0, side).to(tokens_.options());
  at::Tensor x = patch_(unfold_patches(image, config_.patch));
  if (clip_) x = at::cat({class_.expand({x.size(0), 1, x.size(2)}), x}, 1);
  x = x + vision_positions_;
  if (clip_) x = pre_(x);
  x = vision_(x);
  return clip_ ? x : post_(x);
}

at::Tensor DualEncoder::pooled(const at::Tensor& hidden) const {
  int64_t heads = config_.vision.heads;
  double scale = 1 / std::sqrt(static_cast<double>(config_.vision.hidden / heads));
  at::Tensor query = probe_.expand({hidden.size(0), 1, hidden.size(2)});
  at::Tensor mixed =
      compat::attention(split_heads(pool_q_(query), heads), split_heads(pool_k_(hidden), heads),
                        split_heads(pool_v_(hidden), heads), scale);
  at::Tensor x = pool_out_(join_heads(mixed));
  return (x + head_mlp_(head_norm_(x))).squeeze(1);
}

at::Tensor DualEncoder::image_embeds(const at::Tensor& pixels) const {
  at::Tensor hidden = vision_hidden(pixels);
  if (!clip_) return unit(pooled(hidden));
  return unit(image_projection_(post_(hidden.select(1, 0))));
}

at::Tensor DualEncoder::dense(const at::Tensor& pixels) const {
  at::Tensor hidden = vision_hidden(pixels);
  if (clip_) return image_projection_(post_(hidden));
  int64_t batch = hidden.size(0);
  at::Tensor alone = hidden.reshape({batch * hidden.size(1), 1, hidden.size(2)});
  return pooled(alone).reshape({batch, hidden.size(1), -1});
}

at::Tensor DualEncoder::text_embeds(const at::Tensor& ids) const {
  if (ids.dim() != 2 || ids.size(1) < 1 || ids.size(1) > config_.positions)
    throw Error(ErrorCode::bad_argument,
                "this model takes 1 to " + std::to_string(config_.positions) + " text tokens");
  if (ids.min().item<int64_t>() < 0 || ids.max().item<int64_t>() >= config_.vocab)
    throw Error(ErrorCode::bad_argument,
                "token ids must lie in 0.." + std::to_string(config_.vocab - 1));
  at::Tensor at = ids.to(tokens_.device());
  at::Tensor x = at::embedding(tokens_, at) + text_positions_.narrow(0, 0, at.size(1));
  x = text_norm_(text_(x, clip_));
  if (!clip_) return unit(text_projection_(x.select(1, x.size(1) - 1)));
  // The end token's place; early checkpoints have no true id for it, there it is the largest one.
  at::Tensor marks = config_.eos == 2 ? at.to(at::kInt) : at.eq(config_.eos).to(at::kInt);
  at::Tensor rows = at::arange(x.size(0), at.options());
  return unit(text_projection_(x.index({rows, marks.argmax(-1)})));
}

at::Tensor DualEncoder::logits_per_image(const at::Tensor& images, const at::Tensor& texts) const {
  at::Tensor logits = at::matmul(images, texts.t()) * scale_.exp();
  return bias_.defined() ? logits + bias_ : logits;
}

}  // namespace arrcoc::hf
