// LLaVA-1.5: features of an inner layer of CLIP's tower through two linear layers.
#include <ATen/ATen.h>

#include "arrcoc/error.h"
#include "models/hf/vlm.h"

namespace arrcoc::hf {
namespace {

class Llava : public Vlm {
 public:
  Llava(const ModelConfig& config, Source& source) : Vlm(config, source), c_(config.llava) {
    int64_t width = c_.encoder.hidden;
    int64_t side = c_.image_size / c_.patch;
    const std::string v = "visual.";
    class_ = source.get(v + "embeddings.class_embedding", {width});
    patch_ = patch_projection(source, v + "embeddings.patch_embedding", width, c_.channels,
                              c_.patch, false);
    positions_ = source.get(v + "embeddings.position_embedding.weight", {side * side + 1, width});
    pre_ = source.layer_norm(v + "pre_layrnorm", width, c_.encoder.eps);
    encoder_ = Encoder(c_.encoder, v + "encoder.", source);
    auto sets = static_cast<int64_t>(c_.feature_layers.size());
    projector_ = {
        source.linear("projector.linear_1", width * sets, config.decoder.hidden, c_.bias),
        source.linear("projector.linear_2", config.decoder.hidden, config.decoder.hidden, c_.bias),
        activation(c_.act, config.file)};
  }

  int64_t tile_tokens(int64_t) const override {
    const int64_t side = c_.image_size / c_.patch;
    return side * side + (c_.keep_class ? 1 : 0);
  }
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
    sight.by_first = true;  // CLIP's class token
    Visual out = encoded(values, grid, {}, &sight);
    const int64_t first = c_.keep_class ? 0 : 1;
    sight.looked = sight.looked.slice(1, first).flatten();
    sight.keys = sight.keys.slice(1, first).flatten(0, 1);
    return out;
  }

 private:
  Visual encoded(const at::Tensor& values, const at::Tensor& grid, const std::vector<int64_t>& keep,
                 EncoderSight* sight) const {
    tokens(values, grid);
    int64_t side = c_.image_size / c_.patch * c_.patch;
    at::Tensor image = values.narrow(2, 0, side).narrow(3, 0, side).to(patch_.weight.options());
    at::Tensor patches = unfold_patches(image, c_.patch);
    at::Tensor places = positions_.narrow(0, 1, positions_.size(0) - 1);
    if (!keep.empty()) {
      if (values.size(0) != 1 || c_.keep_class)
        throw Error(ErrorCode::unsupported, "patches are chosen for one picture at a time");
      if (keep.front() < 0 || keep.back() >= places.size(0))
        throw Error(ErrorCode::bad_argument, "kept visual tokens must exist");
      at::Tensor index = at::tensor(keep, at::kLong).to(patches.device());
      patches = patches.index_select(1, index);
      places = places.index_select(0, index);
    }
    at::Tensor x = patch_(patches) + places;
    at::Tensor first = (class_ + positions_[0]).expand({x.size(0), 1, x.size(2)});
    x = pre_(at::cat({first, x}, 1));
    std::vector<at::Tensor> sets;
    for (int64_t layer : c_.feature_layers) {
      int64_t depth = layer < 0 ? c_.encoder.layers + 1 + layer : layer;
      at::Tensor hidden = encoder_(x, false, depth, {}, sight);
      sets.push_back(c_.keep_class ? hidden : hidden.narrow(1, 1, hidden.size(1) - 1));
    }
    return {projector_(at::cat(sets, -1)).flatten(0, 1), {}};
  }

  LlavaVisionConfig c_;
  at::Tensor class_, positions_;
  Linear patch_;
  Norm pre_;
  Encoder encoder_;
  Mlp projector_;
};

}  // namespace

std::unique_ptr<Vlm> make_llava(const ModelConfig& config, Source& source) {
  return std::make_unique<Llava>(config, source);
}

}  // namespace arrcoc::hf
