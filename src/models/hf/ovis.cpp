// Ovis2: patches become mixtures over a visual vocabulary, looked up in an embedding table.
#include <ATen/ATen.h>

#include "arrcoc/error.h"
#include "models/hf/vlm.h"

namespace arrcoc::hf {
namespace {

class Ovis : public Vlm {
 public:
  Ovis(const ModelConfig& config, Source& source) : Vlm(config, source), c_(config.ovis) {
    const std::string v = "visual.transformer.";
    const EncoderConfig& e = c_.encoder;
    const int64_t side = c_.image_size / c_.patch;
    const Activation act = activation(e.act, config.file);
    patch_ = patch_projection(source, v + "embeddings.patch_embedding", e.hidden, c_.channels,
                              c_.patch, true);
    positions_ = source.get(v + "embeddings.position_embedding.weight", {side * side, e.hidden});
    patch_norm_ = source.rms_norm(v + "embeddings.rms_norm", e.hidden, e.eps);
    std::vector<Encoder::Layer> layers;
    for (int64_t i = 0; i < e.layers; ++i) {
      const std::string at = v + "encoder.layers." + std::to_string(i) + ".";
      Encoder::Layer& layer = layers.emplace_back();
      layer.norm1 = source.rms_norm(at + "rms_norm1", e.hidden, e.eps);
      layer.norm2 = source.rms_norm(at + "rms_norm2", e.hidden, e.eps);
      layer.read_attention(at + "attention.", e.hidden, c_.qkv_bias, source);
      layer.mlp = {source.linear(at + "ffn.up_proj", e.hidden, e.intermediate, c_.mlp_bias),
                   source.linear(at + "ffn.down_proj", e.intermediate, e.hidden, c_.mlp_bias), act,
                   source.linear(at + "ffn.gate_proj", e.hidden, e.intermediate, c_.mlp_bias)};
    }
    encoder_ = Encoder(std::move(layers), e.heads);
    norm_ = source.rms_norm(v + "rms_norm", e.hidden, e.eps);
    words_ = c_.vocab - c_.indicators;
    head_ = source.linear("visual.head_linear", e.hidden * c_.stride * c_.stride, words_, false);
    head_norm_ = source.layer_norm("visual.head_norm", words_, 1e-5);
    table_ = source.get("table.weight", {c_.vocab, config.decoder.hidden});
  }

  int64_t tile_tokens(int64_t) const override { return across() * across(); }
  int64_t tokens(const at::Tensor& values, const at::Tensor&) const override {
    require_square(values, c_.channels, c_.image_size);
    return values.size(0) * tile_tokens(c_.image_size);
  }

  Visual encode(const at::Tensor& values, const at::Tensor& grid,
                const std::vector<int64_t>& keep) const override {
    return encoded(values, grid, keep, nullptr);
  }

  Visual encode_watched(const at::Tensor& values, const at::Tensor& grid,
                        EncoderSight& sight) const override {
    Visual out = encoded(values, grid, {}, &sight);
    sight.looked = blocks(sight.looked.unsqueeze(2)).sum(2).flatten();
    const int64_t width = sight.keys.size(2);
    sight.keys = blocks(sight.keys).reshape({out.size(), -1, width}).mean(1);
    return out;
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
  Visual encoded(const at::Tensor& values, const at::Tensor& grid, const std::vector<int64_t>& keep,
                 EncoderSight* sight) const {
    int64_t total = tokens(values, grid);
    int64_t side = c_.image_size / c_.patch;
    at::Tensor image = values.narrow(2, 0, side * c_.patch).narrow(3, 0, side * c_.patch);
    at::Tensor patches = unfold_patches(image.to(patch_.weight.options()), c_.patch);
    if (keep.empty()) {
      at::Tensor x =
          norm_(encoder_(patch_norm_(patch_(patches)) + positions_, false, -1, {}, sight));
      return {words(blocks(x)).reshape({total, -1}), {}};
    }
    return some(patches, keep);
  }

  int64_t across() const {  // tokens along a tile
    return (c_.image_size / c_.patch + c_.stride - 1) / c_.stride;
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
    int64_t per_tile = tile_tokens(c_.image_size);
    int64_t unit = c_.stride * c_.stride;
    std::vector<at::Tensor> rows;
    for (size_t begin = 0; begin < keep.size();) {
      int64_t tile = keep[begin] / per_tile;
      if (keep[begin] < 0 || tile >= patches.size(0))
        throw Error(ErrorCode::bad_argument, "kept visual tokens must exist");
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
      x = norm_(encoder_(x + positions_.index_select(0, index)));
      at::Tensor filled =
          at::zeros({static_cast<int64_t>(end - begin) * unit, c_.encoder.hidden}, x.options());
      filled.index_copy_(0, at::tensor(to, at::kLong).to(patches.device()), x[0]);
      rows.push_back(words(filled.reshape({1, -1, c_.encoder.hidden * unit}))[0]);
      begin = end;
    }
    return {at::cat(rows), {}};
  }

  // Probabilities over the visual words, then the mean embedding under them.
  at::Tensor words(const at::Tensor& x) const {
    at::Tensor logits = head_norm_(head_(x));
    at::Tensor share = at::softmax(logits, -1);
    if (c_.likeliest) share = at::zeros_like(share).scatter_(-1, share.argmax(-1, true), 1.0);
    return at::matmul(share, table_.narrow(0, 0, words_));
  }

  OvisVisionConfig c_;
  int64_t words_ = 0;
  Linear patch_, head_;
  at::Tensor positions_, table_;
  Norm patch_norm_, norm_, head_norm_;
  Encoder encoder_;
};

}  // namespace

std::unique_ptr<Vlm> make_ovis(const ModelConfig& config, Source& source) {
  return std::make_unique<Ovis>(config, source);
}

}  // namespace arrcoc::hf
