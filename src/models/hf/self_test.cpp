// A short run of a checkpoint by itself, for folders without a golden file.
#include <ATen/ATen.h>

#include "models/hf/checkpoint.h"
#include "models/hf/dual.h"
#include "models/hf/sam.h"
#include "models/hf/vlm.h"

namespace arrcoc {
namespace hf {
namespace {

// Any fixed pixels in the range that processors give.
at::Tensor waves(const std::vector<int64_t>& shape) {
  int64_t count = 1;
  for (int64_t side : shape) count *= side;
  return (at::arange(count, at::kFloat) * 0.37).sin().reshape(shape);
}

TensorCheck finite(const std::string& name, const at::Tensor& tensor) {
  bool fine = at::isfinite(tensor).all().item<bool>();
  return {name, 0, 0, fine ? "" : "not finite"};
}

std::vector<TensorCheck> test_vlm(const ModelConfig& config, Source& source) {
  std::unique_ptr<Vlm> model = make_vlm(config, source);
  at::Tensor values, grid;
  if (config.family == Family::llava) {
    values = waves({1, 3, config.llava.image_size, config.llava.image_size});
  } else if (config.family == Family::ovis2) {
    values = waves({1, 3, config.ovis.image_size, config.ovis.image_size});
  } else if (config.family == Family::sam_clip) {
    const SamConfig& sam = config.sam_clip.sam;
    values = waves({1, sam.channels, sam.image_size, sam.image_size});
  } else if (config.family == Family::deepseek_ocr2) {
    const int64_t side = config.deepseek.sam.image_size;
    values = waves({1, config.deepseek.sam.channels, side, side});
    grid = waves({2, config.deepseek.sam.channels, side * 3 / 4, side * 3 / 4});
  } else if (config.is_smol()) {
    values = waves({2, config.smol.channels, config.smol.image_size, config.smol.image_size});
  } else {
    const QwenVisionConfig& q = config.qwen;
    int64_t rows = 4 * q.merge, cols = 6 * q.merge;
    values = waves({rows * cols, q.channels * q.temporal * q.patch * q.patch});
    grid = at::tensor({int64_t{1}, rows, cols}, at::kLong).unsqueeze(0);
  }
  Visual visual = model->encode(values, grid);
  std::vector<TensorCheck> out = {finite("image_features", visual.rows)};
  const Decoder& decoder = model->decoder();
  at::Tensor text = at::arange(8, at::kLong) % decoder.config().vocab;
  at::Tensor image = at::full({visual.size()}, config.image_token, at::kLong);
  at::Tensor ids = at::cat({text, image, text}).unsqueeze(0);
  Prompt prompt = prepare(*model, ids, grid, visual);
  at::Tensor whole =
      decoder.logits(decoder.forward(prompt.embeds, prompt.positions, nullptr, &prompt.deepstack));
  out.push_back(finite("logits", whole));
  // The same tokens with the last four read one by one from the cache.
  constexpr int64_t kSteps = 4;
  int64_t first = prompt.length() - kSteps;
  Cache cache;
  decoder.forward(prompt.embeds.narrow(1, 0, first), prompt.positions.narrow(2, 0, first), &cache,
                  &prompt.deepstack);
  double off = 0;
  for (int64_t i = first; i < prompt.length(); ++i) {
    at::Tensor hidden =
        decoder.forward(prompt.embeds.narrow(1, i, 1), prompt.positions.narrow(2, i, 1), &cache);
    at::Tensor difference = decoder.logits(hidden).select(1, 0) - whole.select(1, i);
    off = std::max(off, difference.abs().max().item<double>());
  }
  bool exact = decoder.dtype() == at::kFloat;
  double scale = whole.abs().max().item<double>();
  out.push_back(
      {"cached continuation", off, exact ? 1e-3 + 1e-5 * scale : 0.05 * scale + 0.05, ""});
  return out;
}

}  // namespace

}  // namespace hf

std::vector<TensorCheck> self_test(const std::string& folder, const ModelOptions& options) {
  using namespace hf;
  c10::InferenceMode guard;
  const ModelConfig config = read_config(folder);
  FileSource source = open_weights(folder, config, options);
  switch (config.family) {
    case Family::clip:
    case Family::siglip: {
      DualEncoder model(config, source);
      at::Tensor pixels = waves({1, 3, config.dual.image_size, config.dual.image_size});
      at::Tensor ids = at::zeros({1, config.dual.positions}, at::kLong);
      return {finite("image_embeds", model.image_embeds(pixels)),
              finite("text_embeds", model.text_embeds(ids))};
    }
    case Family::sam: {
      SamEncoder model(config, source);
      at::Tensor pixels = waves({1, 3, config.sam.image_size, config.sam.image_size});
      return {finite("image_embeddings", model(pixels))};
    }
    default:
      return test_vlm(config, source);
  }
}

}  // namespace arrcoc
