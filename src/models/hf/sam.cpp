#include "models/hf/sam.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

#include "arrcoc/error.h"
#include "base/cancel.h"

namespace arrcoc::hf {
namespace {

// Relative positions of q against k places, [q,k,D], from a table of 2*S-1 offsets.
at::Tensor offsets(int64_t q, int64_t k, const at::Tensor& table) {
  int64_t wanted = 2 * std::max(q, k) - 1;
  at::Tensor resized = table;
  if (table.size(0) != wanted)
    resized = at::upsample_linear1d(table.t().unsqueeze(0), {wanted}, false).squeeze(0).t();
  auto scale = [](int64_t a, int64_t b) {
    return std::max(static_cast<double>(b) / static_cast<double>(a), 1.0);
  };
  at::Tensor rows = at::arange(q, at::kFloat).unsqueeze(1) * scale(q, k);
  at::Tensor cols = at::arange(k, at::kFloat).unsqueeze(0) * scale(k, q);
  at::Tensor index = (rows - cols) + static_cast<double>(k - 1) * scale(k, q);
  at::Tensor flat = index.to(at::kLong).reshape({-1}).to(table.device());
  return resized.index_select(0, flat).reshape({q, k, table.size(1)});
}

// Over the channels of [B,C,H,W].
at::Tensor channel_norm(const Norm& norm, const at::Tensor& x) {
  return norm(x.permute({0, 2, 3, 1})).permute({0, 3, 1, 2});
}

}  // namespace

SamEncoder::SamEncoder(const SamConfig& c, const std::string& v, const std::string& file,
                       Source& source)
    : config_(c) {
  int64_t width = c.vision.hidden;
  int64_t side = c.image_size / c.patch;
  int64_t head = width / c.vision.heads;
  patch_ = patch_projection(source, v + "patch_embed.projection", width, c.channels, c.patch, true);
  if (c.absolute) positions_ = source.get(v + "pos_embed", {1, side, side, width});
  for (int64_t i = 0; i < c.vision.layers; ++i) {
    std::string at = v + "layers." + std::to_string(i) + ".";
    Layer layer;
    layer.global = c.window <= 0 || std::count(c.global_layers.begin(), c.global_layers.end(), i);
    int64_t span = 2 * (layer.global ? side : c.window) - 1;
    layer.norm1 = source.layer_norm(at + "layer_norm1", width, c.vision.eps);
    layer.norm2 = source.layer_norm(at + "layer_norm2", width, c.vision.eps);
    layer.qkv = source.linear(at + "attn.qkv", width, 3 * width, c.qkv_bias);
    layer.out = source.linear(at + "attn.proj", width, width);
    if (c.relative) {
      layer.rows = source.get(at + "attn.rel_pos_h", {span, head});
      layer.cols = source.get(at + "attn.rel_pos_w", {span, head});
    }
    layer.mlp = {source.linear(at + "mlp.lin1", width, c.vision.intermediate),
                 source.linear(at + "mlp.lin2", c.vision.intermediate, width),
                 activation(c.vision.act, file)};
    layers_.push_back(std::move(layer));
  }
  neck1_ = source.get(v + "neck.conv1.weight", {c.output, width, 1, 1});
  neck2_ = source.get(v + "neck.conv2.weight", {c.output, c.output, 3, 3});
  neck_norm1_ = source.layer_norm(v + "neck.layer_norm1", c.output, 1e-6);
  neck_norm2_ = source.layer_norm(v + "neck.layer_norm2", c.output, 1e-6);
}

// x [B,h,w,D]: attention among all places of each, with offsets added to the scores.
at::Tensor SamEncoder::attend(const Layer& layer, const at::Tensor& x) const {
  int64_t batch = x.size(0), h = x.size(1), w = x.size(2), heads = config_.vision.heads;
  int64_t head = x.size(3) / heads;
  at::Tensor parts = layer.qkv(x)
                         .reshape({batch, h * w, 3, heads, head})
                         .permute({2, 0, 3, 1, 4})
                         .reshape({3, batch * heads, h * w, head});
  at::Tensor q = parts[0];
  double scale = 1 / std::sqrt(static_cast<double>(head));
  at::Tensor scores = at::matmul(q * scale, parts[1].transpose(1, 2));
  if (layer.rows.defined()) {
    at::Tensor grid = q.reshape({batch * heads, h, w, head});
    at::Tensor by_row = at::einsum("bhwc,hkc->bhwk", {grid, offsets(h, h, layer.rows)});
    at::Tensor by_col = at::einsum("bhwc,wkc->bhwk", {grid, offsets(w, w, layer.cols)});
    scores =
        (scores.reshape({batch * heads, h, w, h, w}) + by_row.unsqueeze(4) + by_col.unsqueeze(3))
            .reshape({batch * heads, h * w, h * w});
  }
  at::Tensor mixed = at::matmul(at::softmax(scores, -1, at::kFloat).to(x.scalar_type()), parts[2]);
  return layer.out(mixed.reshape({batch, heads, h, w, head})
                       .permute({0, 2, 3, 1, 4})
                       .reshape({batch, h, w, heads * head}));
}

// The same inside windows; the last ones are filled up with zeros, which are attended to.
at::Tensor SamEncoder::windowed(const Layer& layer, const at::Tensor& x) const {
  int64_t size = config_.window;
  int64_t batch = x.size(0), h = x.size(1), w = x.size(2), width = x.size(3);
  int64_t more_rows = (size - h % size) % size;
  int64_t more_cols = (size - w % size) % size;
  at::Tensor padded = at::constant_pad_nd(x, {0, 0, 0, more_cols, 0, more_rows});
  int64_t rows = (h + more_rows) / size;
  int64_t cols = (w + more_cols) / size;
  at::Tensor windows = padded.reshape({batch, rows, size, cols, size, width})
                           .permute({0, 1, 3, 2, 4, 5})
                           .reshape({batch * rows * cols, size, size, width});
  return attend(layer, windows)
      .reshape({batch, rows, cols, size, size, width})
      .permute({0, 1, 3, 2, 4, 5})
      .reshape({batch, h + more_rows, w + more_cols, width})
      .narrow(1, 0, h)
      .narrow(2, 0, w);
}

at::Tensor SamEncoder::operator()(const at::Tensor& pixels) const {
  require_square(pixels, config_.channels, config_.image_size);
  return of_any_size(pixels);
}

at::Tensor SamEncoder::of_any_size(const at::Tensor& pixels) const {
  const int64_t rows = pixels.size(2) / config_.patch, cols = pixels.size(3) / config_.patch;
  const at::Tensor whole =
      pixels.narrow(2, 0, rows * config_.patch).narrow(3, 0, cols * config_.patch);
  at::Tensor x = patch_(unfold_patches(whole.to(patch_.weight.options()), config_.patch))
                     .reshape({pixels.size(0), rows, cols, -1});
  if (positions_.defined() && positions_.size(1) == rows && positions_.size(2) == cols)
    x = x + positions_;
  else if (positions_.defined())
    x = x + at::_upsample_bicubic2d_aa(positions_.permute({0, 3, 1, 2}).to(at::kFloat),
                                       {rows, cols}, false)
                .permute({0, 2, 3, 1})
                .to(x.scalar_type());
  for (const Layer& layer : layers_) {
    check_cancelled();
    at::Tensor normal = layer.norm1(x);
    x = x + (layer.global ? attend(layer, normal) : windowed(layer, normal));
    x = x + layer.mlp(layer.norm2(x));
  }
  x = channel_norm(neck_norm1_, at::conv2d(x.permute({0, 3, 1, 2}), neck1_));
  return channel_norm(neck_norm2_, at::conv2d(x, neck2_, {}, 1, 1));
}

}  // namespace arrcoc::hf
