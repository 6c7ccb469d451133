// Comparing a checkpoint's outputs with those the reference wrote down.
#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <sstream>

#include "arrcoc/error.h"
#include "arrcoc/weights.h"
#include "models/hf/checkpoint.h"
#include "models/hf/dual.h"
#include "models/hf/generate.h"
#include "models/hf/sam.h"
#include "models/settings.h"

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

// SmolVLM: [B,N,...] -> the pictures that are not all padding, [N,...]; the first when all are.
at::Tensor real_pictures(const at::Tensor& tensor, const at::Tensor& pixels) {
  at::Tensor real = pixels.flatten(0, 1).flatten(1).ne(0).any(1);
  if (!real.any().item<bool>()) real[0] = true;
  return tensor.flatten(0, 1).index_select(0, real.nonzero().reshape({-1}));
}

// What a golden file shows: pictures, films, or both.
struct Shown {
  at::Tensor pixels, grid;            // of pictures
  at::Tensor film_pixels, film_grid;  // [N,5]
  at::Tensor grids() const {          // of all
    if (!film_grid.defined()) return grid;
    if (!grid.defined()) return film_grid;
    const at::Tensor still = at::tensor({int64_t{1}, int64_t{0}}, at::kLong);
    return at::cat({at::cat({grid, still.expand({grid.size(0), 2})}, 1), film_grid});
  }
};

// golden.json beside the file: seconds of film that a temporal patch lasts, one number or a list;
// the reference cuts them to whole ones. In milliseconds.
at::Tensor lasting(const std::string& path, int64_t films) {
  std::vector<double> seconds(static_cast<size_t>(films), 1.0);
  const auto file = std::filesystem::path(path).parent_path() / "golden.json";
  if (std::filesystem::exists(file)) {
    const json value = Settings::read(file.string());
    const Settings s(value, file.string());
    constexpr const char* kKey = "second_per_grid_ts";
    for (size_t i = 0; s.has(kKey) && i < seconds.size(); ++i) {
      const json& given = s.need(kKey);
      const bool list = given.is_array() && i < given.size();
      read_value(s.file(), kKey, list ? given[i] : given, seconds[i]);
    }
  }
  return at::tensor(seconds, at::kDouble).to(at::kLong).mul(1000).unsqueeze(1);
}

Shown shown_in(const WeightFile& golden, const std::string& path) {
  Shown out;
  if (golden.has("pixel_values")) out.pixels = golden.get("pixel_values", at::kFloat);
  if (golden.has("image_grid_thw")) out.grid = golden.get("image_grid_thw", at::kLong);
  if (golden.has("pixel_attention_mask"))
    out.grid = real_pictures(golden.get("pixel_attention_mask", at::kLong), out.pixels);
  if (out.pixels.defined() && out.pixels.dim() == 5)
    out.pixels = real_pictures(out.pixels, out.pixels);
  if (golden.has("pixel_values_videos")) {
    out.film_pixels = golden.get("pixel_values_videos", at::kFloat);
    const at::Tensor grid = golden.get("video_grid_thw", at::kLong);
    const at::Tensor mark = at::ones({grid.size(0), 1}, at::kLong);
    out.film_grid = at::cat({grid, lasting(path, grid.size(0)), mark}, 1);
  }
  return out;
}

// Rows of pictures and of films in the order in which the prompt shows them.
Visual in_order(const Vlm& model, const at::Tensor& ids, const Visual& pictures,
                const Visual& films) {
  if (!films.rows.defined()) return pictures;
  if (!pictures.rows.defined()) return films;
  std::vector<int64_t> order;
  int64_t next[2] = {0, pictures.size()};
  const at::Tensor flat = ids.reshape({-1}).contiguous();
  for (int64_t i = 0; i < flat.numel(); ++i) {
    const int64_t id = flat.data_ptr<int64_t>()[i];
    if (id == model.config().image_token) order.push_back(next[0]++);
    if (id == model.config().video_token) order.push_back(next[1]++);
  }
  return pick(join({pictures, films}), order);
}

// DeepSeek-OCR-2: every picture with its local views.
Visual with_local_views(const Vlm& model, const WeightFile& golden, const at::Tensor& pixels,
                        bool local) {
  local = local && golden.has("pixel_values_local") && golden.has("num_local_patches");
  at::Tensor views, counts;
  if (local) {
    views = golden.get("pixel_values_local", at::kFloat);
    counts = golden.get("num_local_patches", at::kLong);
  }
  std::vector<Visual> parts;
  int64_t first = 0;
  for (int64_t i = 0; i < pixels.size(0); ++i) {
    const int64_t count = local ? counts[i].item<int64_t>() : 0;
    parts.push_back(model.encode(pixels.narrow(0, i, 1),
                                 count > 0 ? views.narrow(0, first, count) : at::Tensor()));
    first += count;
  }
  return join(parts);
}

// Rows in tiles, where the reference has them so.
at::Tensor tiled_like(const at::Tensor& expected, const at::Tensor& rows) {
  const bool tiled = expected.dim() == 3 && expected.size(1) > 0 &&
                     expected.size(0) * expected.size(1) == rows.size(0);
  return tiled ? rows.reshape({expected.size(0), expected.size(1), -1}) : rows;
}

std::vector<int64_t> kept_rows(const WeightFile& golden) {
  if (!golden.has("sparse_keep")) return {};
  const at::Tensor rows = golden.get("sparse_keep", at::kLong).reshape({-1}).contiguous();
  return {rows.data_ptr<int64_t>(), rows.data_ptr<int64_t>() + rows.numel()};
}

std::vector<TensorCheck> check_vlm(const std::string& folder, const ModelConfig& config,
                                   Source& source, const WeightFile& golden,
                                   const std::string& path) {
  std::unique_ptr<Vlm> model = make_vlm(config, source);
  at::Tensor ids = golden.get("input_ids", at::kLong);
  const Shown shown = shown_in(golden, path);
  const at::Tensor grid = shown.grids();
  const std::vector<int64_t> keep = kept_rows(golden);
  Visual pictures, films;
  const bool near = config.family == Family::deepseek_ocr2;
  if (near)
    pictures = with_local_views(*model, golden, shown.pixels, true);
  else if (shown.pixels.defined())
    pictures = model->encode(shown.pixels, shown.grid);
  if (shown.film_pixels.defined()) films = model->encode(shown.film_pixels, shown.film_grid);
  const Visual visual = in_order(*model, ids, pictures, films);
  Prompt prompt = prepare(*model, ids, grid, visual);
  auto logits = [&](const Prompt& p) {
    const Decoder& decoder = model->decoder();
    return decoder.logits(decoder.forward(p.embeds, p.positions, nullptr, &p.deepstack));
  };
  Computed computed;
  computed["image_features"] = [&] {
    return tiled_like(golden.view("image_features"), pictures.rows);
  };
  if (near) {
    computed["sam_features"] = [&] { return model->compressed(shown.pixels); };
    computed["image_features_global_only"] = [&] {
      return with_local_views(*model, golden, shown.pixels, false).rows;
    };
  }
  if (films.rows.defined()) computed["video_features"] = [&] { return films.rows; };
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
  return run(
      golden,
      {"pixel_values", "input_ids", "image_grid_thw", "pixel_attention_mask", "pixel_values_videos",
       "video_grid_thw", "pixel_values_local", "num_local_patches", "sparse_keep"},
      computed);
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
      return check_vlm(folder, config, source, golden, path);
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
