// SmolVLM and Idefics3: SigLIP's tower over tiles and the whole picture, pixel shuffle, a Llama.
#include <ATen/ATen.h>

#include <cmath>

#include "arrcoc/error.h"
#include "models/hf/vlm.h"

namespace arrcoc::hf {
namespace {

class Smol : public Vlm {
 public:
  Smol(const ModelConfig& config, Source& source) : Vlm(config, source), c_(config.smol) {
    const std::string v = "visual.";
    const EncoderConfig& e = c_.encoder;
    side_ = c_.image_size / c_.patch;
    patch_ = patch_projection(source, v + "embeddings.patch_embedding", e.hidden, c_.channels,
                              c_.patch, true);
    positions_ = source.get(v + "embeddings.position_embedding.weight", {side_ * side_, e.hidden});
    encoder_ = Encoder(e, v + "encoder.", source);
    norm_ = source.layer_norm(v + "post_layernorm", e.hidden, e.eps);
    connector_ = source.linear("connector.modality_projection.proj", e.hidden * c_.scale * c_.scale,
                               config.decoder.hidden, false);
  }

  int64_t tile_tokens(int64_t side) const override {
    const int64_t across = side / c_.patch / c_.scale;
    return across * across;
  }

  int64_t tokens(const at::Tensor& values, const at::Tensor&) const override {
    if (values.dim() != 4 || values.size(1) != c_.channels)
      throw Error(ErrorCode::bad_argument,
                  "pixel values must be [B," + std::to_string(c_.channels) + ",H,W]");
    const int64_t patches = values.size(2) / c_.patch * (values.size(3) / c_.patch);
    const auto side = static_cast<int64_t>(std::sqrt(static_cast<double>(patches)));
    if (patches < 1 || side * side != patches || side % c_.scale)
      throw Error(ErrorCode::bad_argument,
                  std::to_string(patches) + " patches form no square of tokens of " +
                      std::to_string(c_.scale) + "x" + std::to_string(c_.scale));
    return values.size(0) * (side / c_.scale) * (side / c_.scale);
  }

  Visual encode(const at::Tensor& values, const at::Tensor& mask,
                const std::vector<int64_t>& keep) const override {
    return encoded(values, mask, keep, nullptr);
  }

  Visual encode_watched(const at::Tensor& values, const at::Tensor& mask,
                        EncoderSight& sight) const override {
    Visual out = encoded(values, mask, {}, &sight);
    const auto across = static_cast<int64_t>(std::sqrt(static_cast<double>(sight.looked.size(1))));
    sight.looked = blocks(sight.looked.unsqueeze(2), across).sum(2).flatten();
    const int64_t width = sight.keys.size(2);
    sight.keys = blocks(sight.keys, across).reshape({out.size(), -1, width}).mean(1);
    return out;
  }

 private:
  Visual encoded(const at::Tensor& values, const at::Tensor& mask, const std::vector<int64_t>& keep,
                 EncoderSight* sight) const {
    const int64_t total = tokens(values, mask);
    const int64_t rows = values.size(2) / c_.patch, cols = values.size(3) / c_.patch;
    const at::Tensor image = values.narrow(2, 0, rows * c_.patch).narrow(3, 0, cols * c_.patch);
    Pieces all;
    all.patches = unfold_patches(image.to(patch_.weight.options()), c_.patch);
    const at::Tensor real = real_patches(mask, values, rows, cols);
    all.places = places_of(real, values.size(0), rows, cols).to(patch_.weight.device());
    if (real.defined()) {
      const at::Tensor hidden = real.flatten(1).logical_not().unsqueeze(1).unsqueeze(1);
      all.mask =
          at::zeros(hidden.sizes(), at::kFloat).masked_fill(hidden, -INFINITY).to(all.patches);
    }
    if (keep.empty()) {
      const auto across = static_cast<int64_t>(std::sqrt(static_cast<double>(rows * cols)));
      return {connector_(blocks(towered(all, sight), across)).reshape({total, -1}), {}};
    }
    if (rows != cols)
      throw Error(ErrorCode::unsupported, "patches are chosen of square pictures only");
    return some(all, cols, keep);
  }

  struct Pieces {
    at::Tensor patches;  // [B,L,C*P*P]
    at::Tensor places;   // [B,L] rows of the table of positions
    at::Tensor mask;     // [B,1,1,L], added to the scores; undefined: all are seen
  };

  at::Tensor towered(const Pieces& p, EncoderSight* sight = nullptr) const {
    return norm_(encoder_(patch_(p.patches) + at::embedding(positions_, p.places), false, -1,
                          p.mask, sight));
  }

  // Patches with a pixel that is no padding, [B,rows,cols]; undefined when all have.
  at::Tensor real_patches(const at::Tensor& mask, const at::Tensor& values, int64_t rows,
                          int64_t cols) const {
    if (!mask.defined()) return {};
    if (mask.dim() != 3 || mask.size(0) != values.size(0) || mask.size(1) != values.size(2) ||
        mask.size(2) != values.size(3))
      throw Error(ErrorCode::bad_argument, "the mask of pixels must have the pictures' size");
    const at::Tensor some = mask.to(at::kCPU)
                                .ne(0)
                                .narrow(1, 0, rows * c_.patch)
                                .narrow(2, 0, cols * c_.patch)
                                .reshape({mask.size(0), rows, c_.patch, cols, c_.patch})
                                .any(4)
                                .any(2);
    return some.all().item<bool>() ? at::Tensor() : some;
  }

  // Where each patch lies, as a fraction of the picture's real rows and columns, in the square of
  // learned positions; padding is at the first.
  at::Tensor places_of(const at::Tensor& real, int64_t batch, int64_t rows, int64_t cols) const {
    const double step = 1.0 / static_cast<double>(side_);
    const at::Tensor bounds = at::arange(step, 1.0, step, at::kFloat);
    const auto buckets = [&](const at::Tensor& counts, int64_t length) {  // [B,length]
      const at::Tensor at = at::arange(length, at::kFloat).unsqueeze(0) *
                            at::reciprocal(counts.to(at::kFloat)).unsqueeze(1);
      const at::Tensor within = at.clamp_max(1.0 - 1e-6).to(positions_.scalar_type());
      return at::bucketize(within.to(at::kFloat), bounds, false, true);
    };
    const at::Tensor whole = real.defined() ? real : at::ones({batch, rows, cols}, at::kBool);
    const at::Tensor down = buckets(whole.select(2, 0).sum(1), rows);
    const at::Tensor across = buckets(whole.select(1, 0).sum(1), cols);
    const at::Tensor places = down.unsqueeze(2) * side_ + across.unsqueeze(1);
    return (places * whole).flatten(1);
  }

  // scale x scale neighbours side by side: [B,across*across,D] -> [B,tokens,D*scale*scale].
  at::Tensor blocks(const at::Tensor& x, int64_t across) const {
    const int64_t tokens = across / c_.scale;
    return x.reshape({x.size(0), tokens, c_.scale, tokens, c_.scale, x.size(2)})
        .permute({0, 1, 3, 2, 4, 5})
        .reshape({x.size(0), tokens * tokens, -1});
  }

  // Only the patches of the tokens that were chosen, tile by tile.
  Visual some(const Pieces& all, int64_t across, const std::vector<int64_t>& keep) const {
    const int64_t tokens = across / c_.scale, unit = c_.scale * c_.scale;
    const int64_t per_tile = tokens * tokens;
    std::vector<at::Tensor> rows;
    for (size_t begin = 0, end = 0; begin < keep.size(); begin = end) {
      const int64_t tile = keep[begin] / per_tile;
      if (keep[begin] < 0 || tile >= all.patches.size(0))
        throw Error(ErrorCode::bad_argument, "kept visual tokens must exist");
      std::vector<int64_t> wanted;
      for (; end < keep.size() && keep[end] / per_tile == tile; ++end) {
        const int64_t token = keep[end] % per_tile;
        const int64_t first = token / tokens * c_.scale * across + token % tokens * c_.scale;
        for (int64_t i = 0; i < unit; ++i)
          wanted.push_back(first + i / c_.scale * across + i % c_.scale);
      }
      const at::Tensor index = at::tensor(wanted, at::kLong).to(all.patches.device());
      const auto part = [&](const at::Tensor& whole, int64_t axis) {
        return whole.narrow(0, tile, 1).index_select(axis, index);
      };
      Pieces chosen{part(all.patches, 1), part(all.places, 1), {}};
      if (all.mask.defined()) chosen.mask = part(all.mask, 3);
      if (all.mask.defined() && !chosen.mask.eq(0).any().item<bool>())
        chosen.mask = at::Tensor();  // nothing but padding: it sees itself
      rows.push_back(connector_(towered(chosen).reshape({-1, c_.encoder.hidden * unit})));
    }
    return {at::cat(rows), {}};
  }

  SmolVisionConfig c_;
  int64_t side_ = 1;  // of the square of learned positions
  Linear patch_, connector_;
  at::Tensor positions_;
  Encoder encoder_;
  Norm norm_;
};

}  // namespace

std::unique_ptr<Vlm> make_smol(const ModelConfig& config, Source& source) {
  return std::make_unique<Smol>(config, source);
}

}  // namespace arrcoc::hf
