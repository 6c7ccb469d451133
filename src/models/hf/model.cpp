// Opening a model, and prompts for it.
#include <ATen/ATen.h>

#include <algorithm>

#include "arrcoc/error.h"
#include "models/hf/checkpoint.h"
#include "models/hf/generate.h"

namespace arrcoc::hf {
namespace {

// SmolVLM's text begins with its first token, which is another one where the language model is
// Llama 3 (Idefics3); no tokenizer has to add it.
std::vector<int64_t> encoded(std::string text, const ModelConfig& config,
                             const Tokenizer& tokenizer) {
  if (!config.is_smol()) return tokenizer.encode(text);
  const std::string begin = "<|im_start|>", llama = "<|begin_of_text|>";
  if (!tokenizer.id_of(begin) && tokenizer.id_of(llama)) text.replace(0, begin.size(), llama);
  return tokenizer.encode(text, false);
}

// Grids of pictures get the columns that those of films have, where there is a film.
std::vector<at::Tensor> of_one_width(std::vector<at::Tensor> grids) {
  const bool films = std::any_of(grids.begin(), grids.end(),
                                 [](const at::Tensor& grid) { return grid.size(1) == 5; });
  const at::Tensor still = at::tensor({int64_t{1}, int64_t{0}}, at::kLong).unsqueeze(0);
  for (at::Tensor& grid : grids)
    if (films && grid.size(1) == 3) grid = at::cat({grid, still}, 1);
  return grids;
}

}  // namespace

HfModel::HfModel() = default;
HfModel::~HfModel() = default;

std::shared_ptr<const HfModel> HfModel::open(const std::string& folder, const ModelOptions& options,
                                             std::shared_ptr<const Tokenizer> tokenizer) {
  c10::InferenceMode guard;
  const ModelConfig config = read_config(folder);
  FileSource source = open_weights(folder, config, options);
  return of(folder, config, source, device_named(options.device), std::move(tokenizer),
            numbers_of(options).note);
}

std::shared_ptr<const HfModel> HfModel::of(const std::string& folder, const ModelConfig& config,
                                           Source& source, at::Device device,
                                           std::shared_ptr<const Tokenizer> tokenizer,
                                           std::string note) {
  std::shared_ptr<HfModel> model(new HfModel());
  model->vlm_ = make_vlm(config, source);
  model->processor_ = std::make_unique<ImageProcessor>(open_processor(folder, config));
  model->processor_->on(device);
  if (config.is_qwen()) {
    model->film_processor_ = std::make_unique<ImageProcessor>(open_film_processor(folder, config));
    model->film_processor_->on(device);
  }
  model->tokenizer_ = std::move(tokenizer);
  model->defaults_ = read_generation(folder);
  model->note_ = std::move(note);
  return model;
}

std::shared_ptr<const HfModel> HfModel::random(const std::string& path, const ModelOptions& options,
                                               uint64_t seed) {
  c10::InferenceMode guard;
  const ModelConfig config = read_config(path);
  const at::Device device = device_named(options.device);
  const Numbers numbers = numbers_of(options);
  RandomSource source(numbers.dtype, device, seed, numbers.in_bytes);
  std::shared_ptr<HfModel> model(new HfModel());
  model->vlm_ = make_vlm(config, source);
  model->processor_ =
      std::make_unique<ImageProcessor>(ImageProcessor::from(default_processor(config), path));
  model->processor_->on(device);
  if (config.is_qwen()) {
    model->film_processor_ = std::make_unique<ImageProcessor>(
        ImageProcessor::from(film_settings(default_processor(config), config), path));
    model->film_processor_->on(device);
  }
  model->note_ = numbers.note;
  return model;
}

Family HfModel::family() const { return vlm_->config().family; }

std::vector<int64_t> HfModel::prompt_ids(const std::vector<Turn>& turns,
                                         const std::vector<Features>& pictures) const {
  if (!tokenizer_) throw Error(ErrorCode::bad_argument, "the model was opened without a tokenizer");
  std::vector<Slot> slots;
  std::vector<int64_t> counts;  // tokens behind each placeholder, in order
  for (const Features& features : pictures) {
    Slot& slot = slots.emplace_back();
    if (family() != Family::ovis2 && !features.placeless)
      slot.views = static_cast<int64_t>(features.views.size());
    slot.tile_rows = features.tile_rows;
    slot.tile_cols = features.tile_cols;
    for (const Features::View& view : features.views) {
      if (features.film) slot.seconds.push_back(view.seconds);
      const bool first = &view == &features.views.front();
      if (!first && (features.placeless || (features.film && !view.grid.defined())))
        counts.back() += view.rows * view.cols;  // all behind one placeholder
      else
        counts.push_back(view.rows * view.cols);
      if (view.tile_row > 0) slot.tiles.emplace_back(view.tile_row, view.tile_col);
    }
  }
  const int64_t placeholder = vlm_->config().image_token, film = vlm_->config().video_token;
  std::vector<int64_t> out;
  size_t next = 0;
  for (int64_t id : encoded(chat_text(family(), turns, slots), vlm_->config(), *tokenizer_)) {
    const bool view = id == placeholder || (id == film && film >= 0);
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
  const at::Tensor grid = grids.empty() ? at::Tensor() : at::cat(of_one_width(std::move(grids)));
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
