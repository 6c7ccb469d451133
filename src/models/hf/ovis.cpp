// Ovis2: patches become mixtures over a visual vocabulary, looked up in an embedding table.
#include <ATen/ATen.h>

#include <cmath>

#include "arrcoc/error.h"
#include "models/compat.h"
#include "models/hf/vlm.h"

namespace arrcoc::hf {
namespace {

class Ovis : public Vlm {
 public:
  Ovis(const ModelConfig& config, Source& source) : Vlm(config, source), c_(config.ovis) {
    const std::string v = "visual.transformer.";
    int64_t side = c_.image_size / c_.patch;
    Activation act = activation(c_.act, config.file);
    patch_.weight = source
                        .get(v + "embeddings.patch_embedding.weight",
                             {c_.hidden, c_.channels, c_.patch, c_.patch})
                        .flatten(1);
    patch_.bias = source.get(v + "embeddings.patch_embedding.bias", {c_.hidden});
    positions_ = source.get(v + "embeddings.position_embedding.weight", {side * side, c_.hidden});
    patch_norm_ = source.rms_norm(v + "embeddings.rms_norm", c_.hidden, c_.eps);
    for (int64_t i = 0; i < c_.layers; ++i) {
      std::string at = v + "encoder.layers." + std::to_string(i) + ".";
      auto square = [&](const char* name) {
        return source.linear(at + "attention." + name, c_.hidden, c_.hidden, c_.qkv_bias);
      };
      Layer layer;
      layer.norm1 = source.rms_norm(at + "rms_norm1", c_.hidden, c_.eps);
      layer.norm2 = source.rms_norm(at + "rms_norm2", c_.hidden, c_.eps);
      layer.q = square("q_proj");
      layer.k = square("k_proj");
      layer.v = square("v_proj");
      layer.out = square("out_proj");
      layer.mlp = {source.linear(at + "ffn.gate_proj", c_.hidden, c_.intermediate, c_.mlp_bias),
                   source.linear(at + "ffn.up_proj", c_.hidden, c_.intermediate, c_.mlp_bias),
                   source.linear(at + "ffn.down_proj", c_.intermediate, c_.hidden, c_.mlp_bias),
                   act};
      layers_.push_back(std::move(layer));
    }
    norm_ = source.rms_norm(v + "rms_norm", c_.hidden, c_.eps);
    words_ = c_.vocab - c_.indicators;
    head_ = source.linear("visual.head_linear", c_.hidden * c_.stride * c_.stride, words_, false);
    head_norm_ = source.layer_norm("visual.head_norm", words_, 1e-5);
    table_ = source.get("table.weight", {c_.vocab, config.decoder.hidden});
  }

  int64_t tokens(const at::Tensor& values, const at::Tensor&) const override {
    if (values.dim() != 4 || values.size(1) != c_.channels || values.size(2) != c_.image_size ||
        values.size(3) != c_.image_size) {
      throw Error(ErrorCode::bad_argument, "pixel values must be [tiles,3," +
                                               std::to_string(c_.image_size) + "," +
                                               std::to_string(c_.image_size) + "]");
    }
    return values.size(0) * across() * across();
  }

  Visual encode(const at::Tensor& values, const at::Tensor& grid,
                const std::vector<int64_t>& keep) const override {
    int64_t total = tokens(values, grid);
    int64_t side = c_.image_size / c_.patch;
    at::Tensor image = values.narrow(2, 0, side * c_.patch).narrow(3, 0, side * c_.patch);
    at::Tensor patches = unfold_patches(image.to(patch_.weight.options()), c_.patch);
    if (keep.empty()) {
      at::Tensor x = run(patch_norm_(patch_(patches)) + positions_);
      return {words(blocks(x)).reshape({total, -1}), {}};
    }
    return some(patches, keep);
  }

  at::Tensor embed(const at::Tensor& ids) const override {
    at::Tensor out = decoder_.embed(ids).clone();
    at::Tensor where = ids.to(out.device());
    for (size_t i = 0; i < config_.indicators.size(); ++i) {
      auto row = words_ + static_cast<int64_t>(i);
      if (row >= table_.size(0)) break;
      at::Tensor mask = where.eq(config_.indicators[i]).unsqueeze(-1);
      out = at::where(mask, table_[row].to(out.scalar_type()), out);
    }
    return out;
  }

 private:
  struct Layer {
    Norm norm1, norm2;
    Linear q, k, v, out;
    GatedMlp mlp;
  };

  int64_t across() const {  // tokens along a tile
    return (c_.image_size / c_.patch + c_.stride - 1) / c_.stride;
  }

  at::Tensor run(at::Tensor x) const {
    double scale = 1 / std::sqrt(static_cast<double>(c_.hidden / c_.heads));
    for (const Layer& layer : layers_) {
      at::Tensor normal = layer.norm1(x);
      at::Tensor mixed = compat::attention(split_heads(layer.q(normal), c_.heads),
                                           split_heads(layer.k(normal), c_.heads),
                                           split_heads(layer.v(normal), c_.heads), scale);
      x = x + layer.out(join_heads(mixed));
      x = x + layer.mlp(layer.norm2(x));
    }
    return norm_(x);
  }

  // stride x stride neighbours side by side: [B,side*side,D] -> [B,tokens,D*stride*stride].
  at::Tensor blocks(const at::Tensor& x) const {
    if (c_.stride == 1) return x;
    int64_t side = c_.image_size / c_.patch;
    int64_t more = across() * c_.stride - side;
    at::Tensor grid = x.reshape({x.size(0), side, side, x.size(2)});
    grid = at::constant_pad_nd(grid, {0, 0, 0, more, 0, more});
    return grid.reshape({x.size(0), across(), c_.stride, across(), c_.stride, x.size(2)})
        .permute({0, 1, 3, 2, 4, 5})
        .reshape({x.size(0), across() * across(), -1});
  }

  // Patch rows of the tokens that were chosen, tile by tile; places past the edge stay zero.
  Visual some(const at::Tensor& patches, const std::vector<int64_t>& keep) const {
    int64_t side = c_.image_size / c_.patch;
    int64_t per_tile = across() * across();
    int64_t unit = c_.stride * c_.stride;
    std::vector<at::Tensor> rows;
    for (size_t begin = 0; begin < keep.size();) {
      int64_t tile = keep[begin] / per_tile;
      if (keep[begin] < 0 || tile >= patches.size(0)) {
        throw Error(ErrorCode::bad_argument, "kept visual tokens must exist");
      }
      std::vector<int64_t> from, to;  // patch of the tile -> place among the kept blocks
      size_t end = begin;
      for (; end < keep.size() && keep[end] / per_tile == tile; ++end) {
        int64_t token = keep[end] % per_tile;
        for (int64_t i = 0; i < unit; ++i) {
          int64_t row = token / across() * c_.stride + i / c_.stride;
          int64_t col = token % across() * c_.stride + i % c_.stride;
          if (row >= side || col >= side) continue;
          from.push_back(row * side + col);
          to.push_back(static_cast<int64_t>(end - begin) * unit + i);
        }
      }
      at::Tensor index = at::tensor(from, at::kLong).to(patches.device());
      at::Tensor x = patch_norm_(patch_(patches[tile].index_select(0, index).unsqueeze(0)));
      x = run(x + positions_.index_select(0, index));
      at::Tensor filled =
          at::zeros({static_cast<int64_t>(end - begin) * unit, c_.hidden}, x.options());
      filled.index_copy_(0, at::tensor(to, at::kLong).to(patches.device()), x[0]);
      rows.push_back(words(filled.reshape({1, -1, c_.hidden * unit}))[0]);
      begin = end;
    }
    return {at::cat(rows), {}};
  }

  // Probabilities over the visual words, then the mean embedding under them.
  at::Tensor words(const at::Tensor& x) const {
    at::Tensor logits = head_norm_(head_(x));
    at::Tensor share = at::softmax(logits, -1);
    if (c_.tokenize == "st_argmax") {
      share = at::zeros_like(share).scatter_(-1, share.argmax(-1, true), 1.0);
    }
    return at::matmul(share, table_.narrow(0, 0, words_));
  }

  OvisVisionConfig c_;
  int64_t words_ = 0;
  Linear patch_, head_;
  at::Tensor positions_, table_;
  Norm patch_norm_, norm_, head_norm_;
  std::vector<Layer> layers_;
};

}  // namespace

std::unique_ptr<Vlm> make_ovis(const ModelConfig& config, Source& source) {
  return std::make_unique<Ovis>(config, source);
}

}  // namespace arrcoc::hf
