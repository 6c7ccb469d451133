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

// transformers: modeling_rope_utils.py _compute_llama3_parameters.
at::Tensor slowed(const at::Tensor& frequencies, const DecoderConfig& config) {
  const auto& l = config.llama3;
  if (l.factor <= 0) return frequencies;
  const at::Tensor wave = 2 * M_PI / frequencies;
  const at::Tensor part = (l.original / wave - l.low) / (l.high - l.low);
  const at::Tensor mixed = (1 - part) * frequencies / l.factor + part * frequencies;
  const at::Tensor long_ones =
      at::where(wave > l.original / l.low, frequencies / l.factor, frequencies);
  return at::where((wave < l.original / l.high).logical_or(wave > l.original / l.low), long_ones,
                   mixed);
}

}  // namespace

Decoder::Decoder(const DecoderConfig& c, const std::string& file, Source& source) : config_(c) {
  Activation act = activation(c.act, file);
  embeddings_ = source.table("language.embed_tokens.weight", {c.vocab, c.hidden});
  // The largest layer first: nothing else is there while it is made.
  const bool stored = source.has("lm_head.weight") || !c.may_tie;
  head_ = source.layer(stored ? source.table("lm_head.weight", {c.vocab, c.hidden}) : embeddings_);
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
    if (static_cast<size_t>(i) < c.experts.in_layer.size() &&
        c.experts.in_layer[static_cast<size_t>(i)])
      layer.experts = read_experts(at + "mlp.", source, act);
    else
      layer.mlp = gated_mlp(source, at + "mlp.", c.hidden, c.intermediate, c.mlp_bias, act);
    layers_.push_back(std::move(layer));
  }
  norm_ = source.rms_norm("language.norm", c.hidden, c.eps);
  frequencies_ =
      slowed(inverse_frequencies(c.head_dim, c.theta, embeddings_.device()) / c.position_scale, c);
  axis_ = at::tensor(axes(c), at::kLong).to(embeddings_.device());
}

Decoder::Experts Decoder::read_experts(const std::string& at, Source& source,
                                       const Activation& act) const {
  const auto& e = config_.experts;
  Experts out;
  out.router = source.get(at + "gate.weight", {e.count, config_.hidden});
  const std::string together = at + "experts.gate_up_proj";  // of transformers 5.x in memory
  if (source.has(together)) {
    const at::Tensor in = source.table(together, {e.count, 2 * e.intermediate, config_.hidden});
    const at::Tensor back =
        source.table(at + "experts.down_proj", {e.count, config_.hidden, e.intermediate});
    for (int64_t i = 0; i < e.count; ++i)
      out.each.push_back({source.layer(in[i].narrow(0, e.intermediate, e.intermediate)),
                          source.layer(back[i]), act,
                          source.layer(in[i].narrow(0, 0, e.intermediate))});
  } else {
    for (int64_t i = 0; i < e.count; ++i)
      out.each.push_back(gated_mlp(source, at + "experts." + std::to_string(i) + ".",
                                   config_.hidden, e.intermediate, false, act));
  }
  out.shared = gated_mlp(source, at + "shared_experts.", config_.hidden, e.intermediate * e.shared,
                         config_.mlp_bias, act);
  return out;
}

// Every row goes to its likeliest experts, weighted by their shares.
at::Tensor Decoder::mixed(const Experts& experts, const at::Tensor& x) const {
  const auto& e = config_.experts;
  const at::Tensor rows = x.flatten(0, 1);
  at::Tensor share =
      at::softmax(at::linear(rows.to(at::kFloat), experts.router.to(at::kFloat)), -1);
  if (e.limited) {
    const at::Tensor of_group = share.view({-1, e.groups, e.count / e.groups}).amax(-1);
    const at::Tensor best = std::get<1>(of_group.topk(e.chosen_groups, -1));
    const at::Tensor open = at::zeros_like(of_group).scatter_(1, best, 1.0);
    share = share * open.repeat_interleave(e.count / e.groups, 1);
  }
  const auto [weight, index] = share.topk(e.chosen, -1);
  const at::Tensor scaled = (weight * e.scale).to(at::kFloat);
  const at::Tensor chosen = index.to(at::kCPU).contiguous();
  std::vector<std::vector<int64_t>> places(experts.each.size());  // in the flat [rows*chosen]
  for (int64_t i = 0; i < chosen.numel(); ++i)
    places[static_cast<size_t>(chosen.data_ptr<int64_t>()[i])].push_back(i);
  at::Tensor out = at::zeros_like(rows);
  for (size_t i = 0; i < places.size(); ++i) {
    if (places[i].empty()) continue;
    const at::Tensor at = at::tensor(places[i], at::kLong).to(rows.device());
    const at::Tensor row = at.div(e.chosen, "floor");
    const at::Tensor made = experts.each[i](rows.index_select(0, row)) *
                            scaled.flatten().index_select(0, at).unsqueeze(1);
    out.index_add_(0, row, made.to(out.scalar_type()));
  }
  return out.view_as(x) + experts.shared(x);
}

at::Tensor Decoder::embed(const at::Tensor& ids) const {
  if (ids.numel() > 0 &&
      (ids.min().item<int64_t>() < 0 || ids.max().item<int64_t>() >= embeddings_.size(0)))
    throw Error(ErrorCode::bad_argument,
                "token ids must lie in 0.." + std::to_string(embeddings_.size(0) - 1));
  return at::embedding(embeddings_, ids.to(embeddings_.device())).to(dtype());
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
    at::Tensor last = probe->last.defined() ? q.index_select(2, probe->last)
                                            : q.narrow(2, q.size(2) - queries, queries);
    // Heads that share keys are rows of one product: [B,K,heads/K*queries,D] x [B,K,D,keys].
    const at::Tensor rows = last.reshape({q.size(0), config_.kv_heads, -1, config_.head_dim});
    at::Tensor scores = at::matmul(rows, k.transpose(2, 3)).to(at::kFloat) * scale;
    scores = scores.view({q.size(0), config_.heads, queries, k.size(2)});
    if (cache && cache->mask.defined()) scores = scores + cache->mask.narrow(3, 0, k.size(2));
    const at::Tensor place = at::arange(k.size(2), scores.options().dtype(at::kLong));
    at::Tensor unseen = probe->last.defined()
                            ? place.gt(probe->last).unsqueeze(0)
                            : at::ones({queries, k.size(2)}, scores.options().dtype(at::kBool))
                                  .triu(k.size(2) - queries + 1);
    probe->maps.push_back(at::softmax(scores.masked_fill(unseen, -INFINITY), -1).mean(1));
  }
  at::Tensor mask;
  if (cache && cache->mask.defined()) mask = cache->mask.narrow(3, 0, k.size(2));
  return layer.out(join_heads(compat::attention(q, k, v, scale, true, mask)));
}

bool Decoder::takes_graph(const at::Tensor& x, const Cache* cache,
                          const AttentionProbe* probe) const {
  const bool experts = std::any_of(layers_.begin(), layers_.end(),
                                   [](const Layer& layer) { return !layer.experts.each.empty(); });
  return Graphs::available(x.device()) && cache != nullptr && cache->length == 0 &&
         cache->keys.empty() && x.size(0) == 1 && x.size(1) > 1 && !experts &&
         config_.sliding_window <= 0 &&
         (probe == nullptr || (probe->queries == 1 && !probe->only && probe->maps.empty()));
}

// Padded behind its end: no word looks at what comes after it.
at::Tensor Decoder::read_prompt(const at::Tensor& x, const at::Tensor& positions, Cache& cache,
                                const DeepStack* deepstack, AttentionProbe* probe) const {
  const int64_t length = x.size(1), longest = bucket(length, length <= 1024 ? 64 : 256);
  const size_t sets = deepstack ? deepstack->rows.size() : 0;
  std::vector<at::Tensor> inputs = {at::constant_pad_nd(x, {0, 0, 0, longest - length}),
                                    at::constant_pad_nd(positions, {0, longest - length})};
  for (size_t i = 0; i < sets; ++i)
    inputs.push_back(at::zeros({longest, x.size(2)}, x.options())
                         .index_copy(0, deepstack->places, deepstack->rows[i].to(x.scalar_type())));
  std::string name = "prompt";
  if (probe) {
    inputs.push_back(at::full({1}, length - 1, at::kLong));
    for (int64_t layer : probe->layers) name += " " + std::to_string(layer);
  }
  const auto work = [&](const std::vector<at::Tensor>& in) {
    Cache own;
    DeepStack stack;
    if (sets > 0) stack.places = at::arange(longest, in[1].options());
    stack.rows.assign(in.begin() + 2, in.begin() + 2 + static_cast<int64_t>(sets));
    AttentionProbe looking;
    if (probe) {
      looking.layers = probe->layers;
      looking.last = in.back();
    }
    std::vector<at::Tensor> out = {through_layers(in[0], in[1], &own, sets > 0 ? &stack : nullptr,
                                                  probe ? &looking : nullptr)};
    out.insert(out.end(), {at::stack(own.keys), at::stack(own.values)});
    out.insert(out.end(), looking.maps.begin(), looking.maps.end());
    return out;
  };
  const std::vector<at::Tensor> made = graphs_->run(x.device(), name, inputs, work);
  cache.capacity = std::max(cache.capacity, length);
  const auto keep = [&](const at::Tensor& all, std::vector<at::Tensor>& to) {
    std::vector<int64_t> sizes = all.sizes().vec();
    sizes[3] = cache.capacity;
    const at::Tensor room = at::empty(sizes, all.options());
    room.narrow(3, 0, length).copy_(all.narrow(3, 0, length));
    for (int64_t i = 0; i < room.size(0); ++i) to.push_back(room.select(0, i));
  };
  keep(made[1], cache.keys);
  keep(made[2], cache.values);
  cache.length = length;
  for (size_t i = 3; i < made.size(); ++i) probe->maps.push_back(made[i].narrow(2, 0, length));
  return made[0].narrow(1, 0, length);
}

at::Tensor Decoder::forward(at::Tensor x, const at::Tensor& positions, Cache* cache,
                            const DeepStack* deepstack, AttentionProbe* probe) const {
  if (takes_graph(x, cache, probe)) return read_prompt(x, positions, *cache, deepstack, probe);
  return through_layers(std::move(x), positions, cache, deepstack, probe);
}

at::Tensor Decoder::through_layers(at::Tensor x, const at::Tensor& positions, Cache* cache,
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
    const at::Tensor normal = layer.post(x);
    x = x + (layer.experts.each.empty() ? layer.mlp(normal) : mixed(layer.experts, normal));
    if (deepstack && i < deepstack->rows.size())
      x = x.flatten(0, 1)
              .index_add(0, deepstack->places, deepstack->rows[i].to(x.scalar_type()))
              .view_as(x);
  }
  if (cache) cache->length += x.size(1);
  return norm_(x);
}

at::Tensor Decoder::logits(const at::Tensor& hidden) const { return head_(hidden).to(at::kFloat); }

}  // namespace arrcoc::hf
