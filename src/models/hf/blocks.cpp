#include "models/hf/blocks.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <map>

#include "arrcoc/error.h"
#include "base/cancel.h"
#include "models/compat.h"

namespace arrcoc::hf {

Activation activation(const std::string& name, const std::string& where) {
  static const std::map<std::string, Activation> known = {
      {"gelu", [](const at::Tensor& x) { return at::gelu(x); }},
      {"gelu_new", [](const at::Tensor& x) { return at::gelu(x, "tanh"); }},
      {"gelu_pytorch_tanh", [](const at::Tensor& x) { return at::gelu(x, "tanh"); }},
      {"quick_gelu", [](const at::Tensor& x) { return x * at::sigmoid(x * 1.702); }},
      {"silu", [](const at::Tensor& x) { return at::silu(x); }},
      {"swish", [](const at::Tensor& x) { return at::silu(x); }},
      {"relu", [](const at::Tensor& x) { return at::relu(x); }}};
  auto found = known.find(name);
  if (found == known.end())
    throw Error(ErrorCode::unsupported, where + ": unknown activation '" + name + "'");
  return found->second;
}

at::Tensor Mlp::operator()(const at::Tensor& x) const {
  return down(gate.defined() ? act(gate(x)) * up(x) : act(up(x)));
}

Mlp gated_mlp(Source& source, const std::string& prefix, int64_t width, int64_t intermediate,
              bool bias, const Activation& act) {
  return {source.linear(prefix + "up_proj", width, intermediate, bias),
          source.linear(prefix + "down_proj", intermediate, width, bias), act,
          source.linear(prefix + "gate_proj", width, intermediate, bias)};
}

at::Tensor split_heads(const at::Tensor& x, int64_t heads) {
  return x.reshape({x.size(0), x.size(1), heads, -1}).transpose(1, 2);
}

at::Tensor join_heads(const at::Tensor& x) { return x.transpose(1, 2).flatten(2); }

Rotary::Rotary(const at::Tensor& angle, at::ScalarType dtype) {
  at::Tensor c = angle.cos();
  at::Tensor s = angle.sin();
  cosine = at::cat({c, c}, -1).to(dtype);
  sine = at::cat({-s, s}, -1).to(dtype);
}

at::Tensor Rotary::operator()(const at::Tensor& x) const {
  at::Tensor swapped = x.roll(x.size(-1) / 2, -1);
  return at::addcmul(x * cosine, swapped, sine).to(x.scalar_type());
}

at::Tensor inverse_frequencies(int64_t dims, double theta, at::Device device) {
  at::Tensor exponent = at::arange(0, dims, 2, at::kFloat) / static_cast<double>(dims);
  return at::reciprocal(at::pow(theta, exponent)).to(device);
}

std::vector<int64_t> run_lengths(const std::vector<int64_t>& ids, int64_t each) {
  std::vector<int64_t> out;
  for (size_t i = 0; i < ids.size(); ++i) {
    if (i == 0 || ids[i] != ids[i - 1]) out.push_back(0);
    out.back() += each;
  }
  return out;
}

Segments::Segments(const std::vector<int64_t>& lengths, at::Device device) {
  std::map<int64_t, std::vector<int64_t>> starts;
  int64_t at = 0;
  for (int64_t length : lengths) {
    if (length > 0) starts[length].push_back(at);
    at += length;
  }
  for (const auto& [length, begins] : starts) {
    Group group{length, static_cast<int64_t>(begins.size()), begins.front(), {}};
    if (starts.size() > 1 && begins.size() > 1) {
      at::Tensor first = at::tensor(begins, at::kLong).unsqueeze(1);
      group.rows = (first + at::arange(length, at::kLong).unsqueeze(0)).reshape({-1}).to(device);
    }
    groups_.push_back(std::move(group));
  }
}

at::Tensor Segments::attend(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v) const {
  double scale = 1 / std::sqrt(static_cast<double>(q.size(2)));
  at::Tensor out;
  for (const Group& group : groups_) {
    auto part = [&](const at::Tensor& x) {
      at::Tensor rows = x;
      if (group.rows.defined())
        rows = x.index_select(0, group.rows);
      else if (groups_.size() > 1)
        rows = x.narrow(0, group.first, group.length);
      return rows.reshape({group.count, group.length, x.size(1), x.size(2)}).transpose(1, 2);
    };
    at::Tensor mixed = compat::attention(part(q), part(k), part(v), scale, false, mask)
                           .transpose(1, 2)
                           .flatten(0, 1);
    if (groups_.size() == 1) return mixed;
    if (!out.defined()) out = at::empty_like(q);
    if (group.rows.defined())
      out.index_copy_(0, group.rows, mixed);
    else
      out.narrow(0, group.first, group.length).copy_(mixed);
  }
  return out.defined() ? out : at::empty_like(q);
}

at::Tensor unfold_patches(const at::Tensor& pixels, int64_t patch) {
  if (pixels.dim() != 4 || pixels.size(2) % patch || pixels.size(3) % patch)
    throw Error(
        ErrorCode::bad_argument,
        "pixels must be [B,3,H,W] with sides that are multiples of " + std::to_string(patch));
  int64_t rows = pixels.size(2) / patch;
  int64_t cols = pixels.size(3) / patch;
  return pixels.reshape({pixels.size(0), pixels.size(1), rows, patch, cols, patch})
      .permute({0, 2, 4, 1, 3, 5})
      .reshape({pixels.size(0), rows * cols, pixels.size(1) * patch * patch});
}

Linear patch_projection(Source& source, const std::string& name, int64_t hidden, int64_t channels,
                        int64_t patch, bool bias) {
  Linear out{source.get(name + ".weight", {hidden, channels, patch, patch}).flatten(1), {}};
  if (bias) out.bias = source.get(name + ".bias", {hidden});
  return out;
}

void require_square(const at::Tensor& pixels, int64_t channels, int64_t side) {
  if (pixels.dim() == 4 && pixels.size(1) == channels && pixels.size(2) == side &&
      pixels.size(3) == side)
    return;
  throw Error(ErrorCode::bad_argument, "pixel values must be [B," + std::to_string(channels) + "," +
                                           std::to_string(side) + "," + std::to_string(side) + "]");
}

void Encoder::Layer::read_attention(const std::string& prefix, int64_t width, bool bias,
                                    Source& source) {
  q = source.linear(prefix + "q_proj", width, width, bias);
  k = source.linear(prefix + "k_proj", width, width, bias);
  v = source.linear(prefix + "v_proj", width, width, bias);
  out = source.linear(prefix + "out_proj", width, width, bias);
}

Encoder::Encoder(const EncoderConfig& c, const std::string& prefix, Source& source)
    : heads_(c.heads) {
  for (int64_t i = 0; i < c.layers; ++i) {
    std::string at = prefix + "layers." + std::to_string(i) + ".";
    Layer layer;
    layer.norm1 = source.layer_norm(at + "layer_norm1", c.hidden, c.eps);
    layer.norm2 = source.layer_norm(at + "layer_norm2", c.hidden, c.eps);
    layer.read_attention(at + "self_attn.", c.hidden, true, source);
    layer.mlp = {source.linear(at + "mlp.fc1", c.hidden, c.intermediate),
                 source.linear(at + "mlp.fc2", c.intermediate, c.hidden),
                 activation(c.act, prefix)};
    layers_.push_back(std::move(layer));
  }
}

void watch_attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& mask,
                     EncoderSight& sight) {
  constexpr int64_t kRows = 256;
  const int64_t rows = sight.by_first ? 1 : q.size(2);
  const double scale = 1 / std::sqrt(static_cast<double>(q.size(3)));
  at::Tensor sum;
  for (int64_t from = 0; from < rows; from += kRows) {
    const at::Tensor some = q.narrow(2, from, std::min(kRows, rows - from));
    at::Tensor scores = at::matmul(some, k.transpose(2, 3)).to(at::kFloat) * scale;
    if (mask.defined()) scores = scores + mask;
    const at::Tensor got = at::softmax(scores, -1).sum(2).mean(1);
    sum = sum.defined() ? sum + got : got;
  }
  sight.looked = sum / static_cast<double>(rows);
  sight.keys = k.to(at::kFloat).mean(1);
}

at::Tensor Encoder::operator()(at::Tensor x, bool causal, int64_t layers, const at::Tensor& mask,
                               EncoderSight* sight) const {
  double scale = 1 / std::sqrt(static_cast<double>(x.size(-1) / heads_));
  size_t count = layers < 0 ? layers_.size() : static_cast<size_t>(layers);
  const size_t watched =
      std::min(std::max<size_t>(count, 1) - 1, layers_.size() < 2 ? 0 : layers_.size() - 2);
  for (size_t i = 0; i < count; ++i) {
    check_cancelled();
    const Layer& layer = layers_[i];
    at::Tensor normal = layer.norm1(x);
    const at::Tensor q = split_heads(layer.q(normal), heads_);
    const at::Tensor k = split_heads(layer.k(normal), heads_);
    if (sight != nullptr && i == watched) watch_attention(q, k, mask, *sight);
    at::Tensor mixed =
        compat::attention(q, k, split_heads(layer.v(normal), heads_), scale, causal, mask);
    x = x + layer.out(join_heads(mixed));
    x = x + layer.mlp(layer.norm2(x));
  }
  return x;
}

}  // namespace arrcoc::hf
