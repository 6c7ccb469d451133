// Comparing a checkpoint's outputs with those the reference wrote down.
#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <sstream>

#include "arrcoc/error.h"
#include "arrcoc/weights.h"
#include "models/hf/checkpoint.h"
#include "models/hf/dual.h"
#include "models/hf/generate.h"
#include "models/hf/sam.h"

namespace arrcoc {
namespace hf {
namespace {

constexpr double kTolerance = 2e-4;  // of features and logits, float32
constexpr double kPixelMax = 0.06;   // of image processors: resampling differs by a grey level
constexpr double kPixelMean = 2e-3;

using Computed = std::map<std::string, std::function<at::Tensor()>>;

std::string sizes_text(const at::Tensor& tensor) {
  std::ostringstream out;
  out << tensor.sizes();
  return out.str();
}

TensorCheck compare(const std::string& name, const at::Tensor& got, const at::Tensor& expected) {
  TensorCheck check{name, 0, 0, ""};
  if (got.sizes() != expected.sizes()) {
    check.problem = "shape " + sizes_text(got) + ", expected " + sizes_text(expected);
  } else if (!c10::isFloatingType(expected.scalar_type())) {
    check.difference = got.ne(expected).sum().item<double>();
  } else {
    check.tolerance = kTolerance;
    if (expected.numel() > 0) {
      at::Tensor off = (got.to(at::kDouble) - expected.to(at::kDouble)).abs();
      check.difference = off.max().item<double>();
    }
    if (!std::isfinite(check.difference)) check.problem = "not finite";
  }
  return check;
}

std::vector<TensorCheck> run(const WeightFile& golden, const std::vector<std::string>& inputs,
                             const Computed& computed) {
  std::vector<TensorCheck> out;
  for (const auto& [name, info] : golden.tensors()) {
    if (std::count(inputs.begin(), inputs.end(), name)) continue;
    auto found = computed.find(name);
    try {
      if (found == computed.end())
        out.push_back({name, 0, 0, "nothing here computes it"});
      else
        out.push_back(compare(name, found->second().to(at::kCPU), golden.view(name)));
    } catch (const Error& error) {
      out.push_back({name, 0, 0, error.what()});
    }
  }
  if (out.empty())
    throw Error(ErrorCode::bad_weights, golden.source() + ": holds no output to compare with");
  return out;
}

std::vector<TensorCheck> check_dual(const ModelConfig& config, Source& source,
                                    const WeightFile& golden) {
  DualEncoder model(config, source);
  at::Tensor pixels = golden.get("pixel_values", at::kFloat);
  at::Tensor ids = golden.get("input_ids", at::kLong);
  return run(golden, {"pixel_values", "input_ids"},
             {{"vision_last_hidden", [&] { return model.vision_hidden(pixels); }},
              {"image_embeds", [&] { return model.image_embeds(pixels); }},
              {"text_embeds", [&] { return model.text_embeds(ids); }},
              {"dense_projected", [&] { return model.dense(pixels); }},
              {"logits_per_image", [&] {
                 return model.logits_per_image(model.image_embeds(pixels), model.text_embeds(ids));
               }}});
}

std::vector<TensorCheck> check_vlm(const std::string& folder, const ModelConfig& config,
                                   Source& source, const WeightFile& golden) {
  std::unique_ptr<Vlm> model = make_vlm(config, source);
  at::Tensor pixels = golden.get("pixel_values", at::kFloat);
  at::Tensor ids = golden.get("input_ids", at::kLong);
  at::Tensor grid;
  if (golden.has("image_grid_thw")) grid = golden.get("image_grid_thw", at::kLong);
  std::vector<int64_t> keep;
  if (golden.has("sparse_keep")) {
    at::Tensor rows = golden.get("sparse_keep", at::kLong).reshape({-1}).contiguous();
    keep.assign(rows.data_ptr<int64_t>(), rows.data_ptr<int64_t>() + rows.numel());
  }
  Visual visual = model->encode(pixels, grid);
  Prompt prompt = prepare(*model, ids, grid, visual);
  auto logits = [&](const Prompt& p) {
    const Decoder& decoder = model->decoder();
    return decoder.logits(decoder.forward(p.embeds, p.positions, nullptr, &p.deepstack));
  };
  Computed computed;
  computed["image_features"] = [&] {
    at::Tensor expected = golden.view("image_features");
    bool tiled = expected.dim() == 3 && expected.size(1) > 0 &&
                 expected.size(0) * expected.size(1) == visual.size();
    return tiled ? visual.rows.reshape({expected.size(0), expected.size(1), -1}) : visual.rows;
  };
  for (size_t i = 0; i < visual.deepstack.size(); ++i)
    computed["deepstack_" + std::to_string(i)] = [&visual, i] { return visual.deepstack[i]; };
  computed["position_ids"] = [&] { return prompt.positions; };
  computed["rope_delta"] = [&] {
    at::Tensor last = std::get<0>(prompt.positions.max(0)).amax(1);
    return (last + 1 - ids.size(1)).unsqueeze(1);
  };
  computed["logits"] = [&] { return logits(prompt); };
  computed["sparse_logits"] = [&] {
    std::vector<std::vector<int64_t>> groups;
    for (int64_t row : keep) groups.push_back({row});
    return logits(prepare(*model, ids, grid, pick(visual, keep), groups));
  };
  computed["generated"] = [&] {
    GenerationSettings settings = read_generation(folder);
    settings.temperature = 0;
    settings.max_new_tokens = golden.view("generated").size(1) - ids.size(1);
    Generation made = generate(*model, prompt, settings);
    return at::cat({ids, at::tensor(made.ids, at::kLong).unsqueeze(0)}, 1);
  };
  return run(golden, {"pixel_values", "input_ids", "image_grid_thw", "sparse_keep"}, computed);
}

}  // namespace

}  // namespace hf

std::vector<TensorCheck> check_golden(const std::string& folder, const std::string& path,
                                      const std::string& device) {
  using namespace hf;
  ModelConfig config = read_config(folder);
  WeightFile golden = WeightFile::open(path);
  FileSource source = open_weights(folder, config, {.device = device, .dtype = "float32"});
  switch (config.family) {
    case Family::clip:
    case Family::siglip:
      return check_dual(config, source, golden);
    case Family::sam: {
      SamEncoder model(config, source);
      at::Tensor pixels = golden.get("pixel_values", at::kFloat);
      return run(golden, {"pixel_values"}, {{"image_embeddings", [&] { return model(pixels); }}});
    }
    default:
      return check_vlm(folder, config, source, golden);
  }
}

std::vector<TensorCheck> check_processor(const std::string& settings, const std::string& path,
                                         const std::vector<at::Tensor>& pictures) {
  using namespace hf;
  ImageProcessor processor = ImageProcessor::open(settings);
  WeightFile golden = WeightFile::open(path);
  std::vector<TensorCheck> out;
  for (size_t i = 0; i < pictures.size(); ++i) {
    std::string stem = "img" + std::to_string(i) + ".";
    if (!golden.has(stem + "pixel_values")) continue;
    Pixels pixels = processor.process(pictures[i]);
    at::Tensor expected = golden.get(stem + "pixel_values", at::kFloat);
    TensorCheck check = compare(stem + "pixel_values", pixels.values, expected);
    check.tolerance = kPixelMax;
    if (check.problem.empty() && expected.numel() > 0) {
      double mean = (pixels.values - expected).abs().mean().item<double>();
      if (mean > kPixelMean) check.problem = "mean difference " + std::to_string(mean);
    }
    out.push_back(check);
    if (golden.has(stem + "image_grid_thw")) {
      at::Tensor grid = pixels.grid.defined() ? pixels.grid : at::empty({0, 3}, at::kLong);
      out.push_back(
          compare(stem + "image_grid_thw", grid, golden.get(stem + "image_grid_thw", at::kLong)));
    }
  }
  for (const auto& [name, info] : golden.tensors()) {
    bool done = std::any_of(out.begin(), out.end(),
                            [&](const TensorCheck& check) { return check.name == name; });
    if (!done) out.push_back({name, 0, 0, "no picture for it, or nothing here computes it"});
  }
  return out;
}

}  // namespace arrcoc
