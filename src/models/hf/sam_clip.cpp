// Our own composition: SAM, convolutions and a choice of places that make few tokens of its map,
// CLIP over these tokens, an adapter, and a language model. A token is the mean of the places that
// it stands for: relevance decides which places stay by themselves.
#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

#include "arrcoc/error.h"
#include "models/hf/sam.h"
#include "models/hf/vlm.h"

namespace arrcoc::hf {
namespace {

class SamClip : public Vlm {
 public:
  SamClip(const ModelConfig& config, Source& source)
      : Vlm(config, source),
        c_(config.sam_clip),
        sam_(c_.sam, "sam.", config.file, source),
        across_(c_.sam.image_size / c_.sam.patch) {
    int64_t width = c_.sam.output;
    for (size_t i = 0; i < c_.channels.size(); ++i) {
      const std::string name = "compressor." + std::to_string(i) + ".weight";
      convolutions_.push_back(source.get(name, {c_.channels[i], width, 3, 3}));
      width = c_.channels[i];
      across_ = (across_ + 1) / 2;
    }
    const int64_t hidden = c_.clip.hidden;
    patch_ = source.linear("clip.embeddings.projection", width, hidden);
    places_ = source.get("clip.embeddings.position_embedding.weight", {across_ * across_, hidden});
    sizes_ = source.get("clip.embeddings.size_embedding.weight", {c_.sizes, hidden});
    norm_ = source.layer_norm("clip.pre_layrnorm", hidden, c_.clip.eps);
    clip_ = Encoder(c_.clip, "clip.encoder.", source);
    adapter_ = {source.linear("projector.linear_1", hidden, config.decoder.hidden),
                source.linear("projector.linear_2", config.decoder.hidden, config.decoder.hidden),
                activation(c_.act, config.file)};
  }

  int64_t tile_tokens(int64_t) const override { return across_ * across_; }
  int64_t tokens(const at::Tensor& values, const at::Tensor&) const override {
    require_square(values, c_.sam.channels, c_.sam.image_size);
    return values.size(0) * tile_tokens(c_.sam.image_size);
  }

  Visual encode(const at::Tensor& values, const at::Tensor& grid,
                const std::vector<int64_t>& keep) const override {
    if (keep.empty()) return encoded(values, nullptr);
    std::vector<std::vector<int64_t>> alone;
    for (int64_t token : keep) alone.push_back({token});
    return encode_groups(values, grid, alone);
  }

  Visual encode_watched(const at::Tensor& values, const at::Tensor&,
                        EncoderSight& sight) const override {
    const Visual out = encoded(values, &sight);
    sight.looked = sight.looked.flatten();
    sight.keys = sight.keys.flatten(0, 1);
    return out;
  }

  bool takes_groups() const override { return true; }

  Visual encode_groups(const at::Tensor& values, const at::Tensor& grid,
                       const std::vector<std::vector<int64_t>>& groups) const override {
    if (tokens(values, grid) != tile_tokens(0))
      throw Error(ErrorCode::unsupported, "places are chosen for one picture at a time");
    std::vector<int64_t> sizes;
    for (const auto& group : groups) sizes.push_back(size_of(group.size()));
    const at::Tensor row = at::tensor(sizes, at::kLong).to(places_.device());
    // Places by themselves have no size to tell: all of them alone are what encode() gives.
    const at::Tensor told = at::embedding(sizes_, (row - 1).clamp_min(0)) *
                            row.gt(0).unsqueeze(1).to(sizes_.scalar_type());
    const at::Tensor x = merge({placed(values)[0], {}}, groups).rows + told;
    return {through(x.unsqueeze(0), nullptr)[0], {}};
  }

  at::Tensor compressed(const at::Tensor& values) const override {
    at::Tensor x = sam_(values);
    for (const at::Tensor& weight : convolutions_) x = at::conv2d(x, weight, {}, 2, 1);
    return x;
  }

 private:
  // Octaves of the side of the square that a token stands for; the largest ones are one.
  int64_t size_of(size_t places) const {
    const auto octaves =
        std::lround(std::log2(static_cast<double>(std::max<size_t>(1, places))) / 2);
    return std::min<int64_t>(octaves, c_.sizes);
  }

  // Every place of the compressed map with where it is, [B,places,hidden].
  at::Tensor placed(const at::Tensor& values) const {
    return patch_(compressed(values).flatten(2).transpose(1, 2)) + places_;
  }

  at::Tensor through(const at::Tensor& x, EncoderSight* sight) const {
    return adapter_(clip_(norm_(x), false, -1, {}, sight));
  }

  Visual encoded(const at::Tensor& values, EncoderSight* sight) const {
    tokens(values, {});
    return {through(placed(values), sight).flatten(0, 1), {}};
  }

  SamClipConfig c_;
  SamEncoder sam_;
  int64_t across_;  // places along a picture
  std::vector<at::Tensor> convolutions_;
  Linear patch_;
  at::Tensor places_, sizes_;
  Norm norm_;
  Encoder clip_;
  Mlp adapter_;
};

}  // namespace

std::unique_ptr<Vlm> make_sam_clip(const ModelConfig& config, Source& source) {
  return std::make_unique<SamClip>(config, source);
}

}  // namespace arrcoc::hf
