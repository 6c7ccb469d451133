// Opening a model, and prompts for it.
#include <ATen/ATen.h>

#include <algorithm>

#include "arrcoc/error.h"
#include "models/hf/checkpoint.h"
#include "models/hf/generate.h"

namespace arrcoc::hf {

HfModel::HfModel() = default;
HfModel::~HfModel() = default;

std::shared_ptr<const HfModel> HfModel::open(const std::string& folder, const ModelOptions& options,
                                             std::shared_ptr<const Tokenizer> tokenizer) {
  c10::InferenceMode guard;
  const ModelConfig config = read_config(folder);
  FileSource source = open_weights(folder, config, options);
  std::shared_ptr<HfModel> model(new HfModel());
  model->vlm_ = make_vlm(config, source);
  model->processor_ = std::make_unique<ImageProcessor>(open_processor(folder, config));
  model->processor_->on(device_of(options.device));
  model->tokenizer_ = std::move(tokenizer);
  model->defaults_ = read_generation(folder);
  return model;
}

std::shared_ptr<const HfModel> HfModel::random(const std::string& path, const ModelOptions& options,
                                               uint64_t seed) {
  c10::InferenceMode guard;
  const ModelConfig config = read_config(path);
  const at::Device device = device_of(options.device);
  RandomSource source(dtype_of(options.dtype, device), device, seed);
  std::shared_ptr<HfModel> model(new HfModel());
  model->vlm_ = make_vlm(config, source);
  model->processor_ =
      std::make_unique<ImageProcessor>(ImageProcessor::from(default_processor(config), path));
  model->processor_->on(device);
  return model;
}

Family HfModel::family() const { return vlm_->config().family; }

std::vector<int64_t> HfModel::prompt_ids(const std::vector<Turn>& turns,
                                         const std::vector<Features>& pictures) const {
  if (!tokenizer_) throw Error(ErrorCode::bad_argument, "the model was opened without a tokenizer");
  std::vector<Slot> slots;
  std::vector<int64_t> counts;  // tokens behind each placeholder, in order
  for (const Features& features : pictures) {
    const bool tiles = family() == Family::ovis2;
    slots.push_back({tiles ? 1 : static_cast<int64_t>(features.views.size()), features.tile_rows,
                     features.tile_cols});
    for (const Features::View& view : features.views) counts.push_back(view.rows * view.cols);
  }
  const int64_t placeholder = vlm_->config().image_token;
  std::vector<int64_t> out;
  size_t next = 0;
  for (int64_t id : tokenizer_->encode(chat_text(family(), turns, slots))) {
    const bool view = id == placeholder;
    const int64_t count = !view ? 1 : next < counts.size() ? counts[next] : 0;
    out.insert(out.end(), static_cast<size_t>(count), id);
    if (view) ++next;
  }
  if (next != counts.size())
    throw Error(ErrorCode::bad_argument,
                "the tokenizer wrote " + std::to_string(next) + " picture placeholders, expected " +
                    std::to_string(counts.size()) +
                    ": is it the tokenizer of this checkpoint? (image token " +
                    std::to_string(placeholder) + ")");
  return out;
}

Prompt HfModel::prepared(const std::vector<int64_t>& prompt,
                         const std::vector<Features>& pictures) const {
  const at::Tensor ids = at::tensor(prompt, at::kLong).unsqueeze(0);
  std::vector<Visual> parts;
  std::vector<at::Tensor> grids;
  std::vector<std::vector<int64_t>> groups;
  bool sparse = false;
  int64_t before = 0;
  for (const Features& features : pictures) {
    parts.push_back({features.rows, features.deepstack});
    for (const Features::View& view : features.views)
      if (view.grid.defined()) grids.push_back(view.grid);
    sparse = sparse || !features.groups.empty();
    if (features.groups.empty())
      for (int64_t i = 0; i < features.native(); ++i) groups.push_back({before + i});
    for (std::vector<int64_t> group : features.groups) {
      for (int64_t& token : group) token += before;
      groups.push_back(std::move(group));
    }
    before += features.native();
  }
  const at::Tensor grid = grids.empty() ? at::Tensor() : at::cat(grids);
  const Visual visual = join(parts);
  return sparse ? prepare(*vlm_, ids, grid, visual, groups) : prepare(*vlm_, ids, grid, visual);
}

Generation HfModel::generate(const std::vector<int64_t>& prompt,
                             const std::vector<Features>& pictures,
                             const GenerationSettings& settings) const {
  return std::move(generate_all({prompt}, pictures, settings).front());
}

std::vector<Generation> HfModel::generate_all(const std::vector<std::vector<int64_t>>& ids,
                                              const std::vector<Features>& pictures,
                                              const GenerationSettings& settings) const {
  c10::InferenceMode guard;
  if (ids.empty()) return {};
  std::vector<Prompt> prompts;
  for (const auto& one : ids) prompts.push_back(prepared(one, pictures));
  size_t common = ids[0].size();
  for (const auto& other : ids) {
    const auto differ = std::mismatch(ids[0].begin(), ids[0].end(), other.begin(), other.end());
    common =
        std::min({common, static_cast<size_t>(differ.first - ids[0].begin()), other.size() - 1});
  }
  // Words are never left out, so what follows the common part counts the same in ids and places.
  const int64_t shared = prompts[0].length() - static_cast<int64_t>(ids[0].size() - common);
  const auto& places = prompts[0].visual_places;
  const bool together =
      prompts.size() > 1 && shared > 0 && !places.empty() && places.back() < shared;
  if (together) return hf::generate(*vlm_, prompts, shared, settings);
  std::vector<Generation> out;
  for (size_t i = 0; i < prompts.size(); ++i) {
    GenerationSettings own = settings;
    if (settings.on_token)
      own.on_token = [&, i](size_t, int64_t id) { return settings.on_token(i, id); };
    out.push_back(hf::generate(*vlm_, prompts[i], own));
  }
  return out;
}

std::vector<float> HfModel::early_attention(const std::vector<Turn>& turns,
                                            const std::vector<Features>& pictures,
                                            const std::vector<int64_t>& layers) const {
  c10::InferenceMode guard;
  const Prompt prompt = prepared(prompt_ids(turns, pictures), pictures);
  if (prompt.visual_places.empty())
    throw Error(ErrorCode::bad_argument, "the messages show no picture to look at");
  std::vector<int64_t> watched = layers;
  const int64_t depth = vlm_->decoder().config().layers;
  for (int64_t i = 1; layers.empty() && i <= std::max<int64_t>(1, depth / 4); ++i)
    watched.push_back(std::min(i, depth - 1));
  const int64_t words = prompt.length() - 1 - prompt.visual_places.back();
  return look_of_words(*vlm_, prompt, words, watched);
}

}  // namespace arrcoc::hf
