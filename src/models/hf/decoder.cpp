#include "models/hf/decoder.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

#include "arrcoc/error.h"
#include "base/cancel.h"
#include "models/compat.h"

namespace arrcoc::hf {
namespace {

// Which axis (t, h, w) turns each frequency: in sections (Qwen2), or taken in turns, the first axis
// keeping what is left (Qwen3).
std::vector<int64_t> axes(const DecoderConfig& config) {
  std::vector<int64_t> out(static_cast<size_t>(config.head_dim / 2), 0);
  if (config.mrope.empty()) return out;
  if (config.interleaved) {
    for (int64_t axis = 1; axis < 3; ++axis) {
      int64_t end = config.mrope[static_cast<size_t>(axis)] * 3;
      for (int64_t f = axis; f < std::min<int64_t>(end, config.head_dim / 2); f += 3)
        out[static_cast<size_t>(f)] = axis;
    }
    return out;
  }
  size_t at = 0;
  for (size_t axis = 0; axis < 3; ++axis)
    for (int64_t i = 0; i < config.mrope[axis]; ++i) out[at++] = static_cast<int64_t>(axis);
  return out;
}

}  // namespace

Decoder::Decoder(const DecoderConfig& c, const std::string& file, Source& source) : config_(c) {
  Activation act = activation(c.act, file);
  embeddings_ = source.get("language.embed_tokens.weight", {c.vocab, c.hidden});
  for (int64_t i = 0; i < c.layers; ++i) {
    std::string at = "language.layers." + std::to_string(i) + ".";
    std::string self = at + "self_attn.";
    Layer layer;
    layer.input = source.rms_norm(at + "input_layernorm", c.hidden, c.eps);
    layer.post = source.rms_norm(at + "post_attention_layernorm", c.hidden, c.eps);
    layer.q = source.linear(self + "q_proj", c.hidden, c.heads * c.head_dim, c.qkv_bias);
    layer.k = source.linear(self + "k_proj", c.hidden, c.kv_heads * c.head_dim, c.qkv_bias);
    layer.v = source.linear(self + "v_proj", c.hidden, c.kv_heads * c.head_dim, c.qkv_bias);
    layer.out = source.linear(self + "o_proj", c.heads * c.head_dim, c.hidden, c.out_bias);
    if (c.qk_norm) {
      layer.q_norm = source.rms_norm(self + "q_norm", c.head_dim, c.eps);
      layer.k_norm = source.rms_norm(self + "k_norm", c.head_dim, c.eps);
    }
    layer.mlp = {source.linear(at + "mlp.up_proj", c.hidden, c.intermediate, c.mlp_bias),
                 source.linear(at + "mlp.down_proj", c.intermediate, c.hidden, c.mlp_bias), act,
                 source.linear(at + "mlp.gate_proj", c.hidden, c.intermediate, c.mlp_bias)};
    layers_.push_back(std::move(layer));
  }
  norm_ = source.rms_norm("language.norm", c.hidden, c.eps);
  bool stored = source.has("lm_head.weight") || !c.may_tie;
  head_ = stored ? source.get("lm_head.weight", {c.vocab, c.hidden}) : embeddings_;
  frequencies_ = inverse_frequencies(c.head_dim, c.theta, embeddings_.device()) / c.position_scale;
  axis_ = at::tensor(axes(c), at::kLong).to(embeddings_.device());
}

at::Tensor Decoder::embed(const at::Tensor& ids) const {
  if (ids.numel() > 0 &&
      (ids.min().item<int64_t>() < 0 || ids.max().item<int64_t>() >= embeddings_.size(0)))
    throw Error(ErrorCode::bad_argument,
                "token ids must lie in 0.." + std::to_string(embeddings_.size(0) - 1));
  return at::embedding(embeddings_, ids.to(embeddings_.device()));
}

Rotary Decoder::angles(const at::Tensor& positions) const {
  // [axes,B,L] -> the axis of every frequency -> [B,L,D/2]
  at::Tensor at = positions.to(frequencies_.device());
  at::Tensor chosen = at.size(0) == 1 ? at.expand({axis_.size(0), at.size(1), at.size(2)})
                                      : at.index_select(0, axis_);
  at::Tensor angle = chosen.permute({1, 2, 0}).to(at::kFloat) * frequencies_;
  return Rotary(angle.unsqueeze(2), dtype());
}

void Decoder::remember(Cache& cache, size_t index, const at::Tensor& keys,
                       const at::Tensor& values) const {
  int64_t needed = cache.length + keys.size(2);
  if (cache.keys.size() <= index) {
    cache.capacity = std::max(cache.capacity, needed);
    cache.keys.push_back(
        at::empty({keys.size(0), keys.size(1), cache.capacity, keys.size(3)}, keys.options()));
    cache.values.push_back(at::empty_like(cache.keys.back()));
  }
  if (cache.keys[index].size(2) < needed) {
    int64_t more = std::max(needed, cache.keys[index].size(2) * 2) - cache.keys[index].size(2);
    cache.keys[index] = at::constant_pad_nd(cache.keys[index], {0, 0, 0, more});
    cache.values[index] = at::constant_pad_nd(cache.values[index], {0, 0, 0, more});
    cache.capacity = std::max(cache.capacity, cache.keys[index].size(2));
  }
  cache.keys[index].narrow(2, cache.length, keys.size(2)).copy_(keys);
  cache.values[index].narrow(2, cache.length, keys.size(2)).copy_(values);
}

at::Tensor Decoder::attend(const Layer& layer, const at::Tensor& x, const Rotary& rotary,
                           size_t index, Cache* cache, AttentionProbe* probe) const {
  auto heads = [&](const Linear& linear, int64_t count, const Norm& norm) {  // [B,H,L,D]
    at::Tensor rows = linear(x).view({x.size(0), x.size(1), count, config_.head_dim});
    return rotary(config_.qk_norm ? norm(rows) : rows).transpose(1, 2);
  };
  at::Tensor q = heads(layer.q, config_.heads, layer.q_norm);
  at::Tensor k = heads(layer.k, config_.kv_heads, layer.k_norm);
  at::Tensor v = split_heads(layer.v(x), config_.kv_heads);
  if (cache) {
    remember(*cache, index, k, v);
    int64_t length = cache->length + k.size(2);
    k = cache->keys[index].narrow(2, 0, length);
    v = cache->values[index].narrow(2, 0, length);
  }
  if (config_.sliding_window > 0 && k.size(2) > config_.sliding_window)
    throw Error(ErrorCode::unsupported, "more than " + std::to_string(config_.sliding_window) +
                                            " tokens: longer than this model's sliding window");
  double scale = 1 / std::sqrt(static_cast<double>(config_.head_dim));
  if (probe &&
      std::count(probe->layers.begin(), probe->layers.end(), static_cast<int64_t>(index))) {
    int64_t queries = std::min(probe->queries, q.size(2));
    at::Tensor last = q.narrow(2, q.size(2) - queries, queries);
    at::Tensor keys = k.repeat_interleave(config_.heads / config_.kv_heads, 1);
    at::Tensor scores = at::matmul(last, keys.transpose(2, 3)).to(at::kFloat) * scale;
    at::Tensor unseen = at::ones({queries, k.size(2)}, scores.options().dtype(at::kBool))
                            .triu(k.size(2) - queries + 1);
    probe->maps.push_back(at::softmax(scores.masked_fill(unseen, -INFINITY), -1).mean(1));
  }
  at::Tensor mask;
  if (cache && cache->mask.defined()) mask = cache->mask.narrow(3, 0, k.size(2));
  return layer.out(join_heads(compat::attention(q, k, v, scale, true, mask)));
}

at::Tensor Decoder::forward(at::Tensor x, const at::Tensor& positions, Cache* cache,
                            const DeepStack* deepstack, AttentionProbe* probe) const {
  Rotary rotary = angles(positions);
  size_t count = layers_.size();
  if (probe && probe->only && !probe->layers.empty()) {
    auto last = *std::max_element(probe->layers.begin(), probe->layers.end());
    count = std::min(count, static_cast<size_t>(last) + 1);
  }
  for (size_t i = 0; i < count; ++i) {
    check_cancelled();
    const Layer& layer = layers_[i];
    x = x + attend(layer, layer.input(x), rotary, i, cache, probe);
    if (probe && probe->only && i + 1 == count) return x;
    x = x + layer.mlp(layer.post(x));
    if (deepstack && i < deepstack->rows.size())
      x = x.flatten(0, 1)
              .index_add(0, deepstack->places, deepstack->rows[i].to(x.scalar_type()))
              .view_as(x);
  }
  if (cache) cache->length += x.size(1);
  return norm_(x);
}

at::Tensor Decoder::logits(const at::Tensor& hidden) const {
  return at::linear(hidden, head_).to(at::kFloat);
}

}  // namespace arrcoc::hf
