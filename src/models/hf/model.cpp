#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "arrcoc/error.h"
#include "models/hf/hf.h"
#include "models/hf/checkpoint.h"
#include "models/hf/generate.h"
#include "models/hf/processor.h"
#include "models/hf/select.h"
#include "models/hf/vlm.h"

namespace arrcoc::hf {
namespace {

Box to_box(const std::array<double, 4>& edges) {
  return {static_cast<float>(edges[0]), static_cast<float>(edges[1]), static_cast<float>(edges[2]),
          static_cast<float>(edges[3])};
}

void add_boxes(const Features::View& view, std::vector<Box>& boxes) {
  for (int64_t r = 0; r < view.rows; ++r) {
    for (int64_t c = 0; c < view.cols; ++c) {
      auto x = [&](int64_t col) {
        return view.box.x0 +
               view.box.width() * static_cast<float>(col) / static_cast<float>(view.cols);
      };
      auto y = [&](int64_t row) {
        return view.box.y0 +
               view.box.height() * static_cast<float>(row) / static_cast<float>(view.rows);
      };
      boxes.push_back({x(c), y(r), x(c + 1), y(r + 1)});
    }
  }
}

// Views and boxes of pixels as the processor made them; no rows yet.
Features frame(const Picture& picture, const Pixels& pixels, const ImageProcessor& processor,
               const Vlm& vlm) {
  Features out;
  out.width = picture.width();
  out.height = picture.height();
  out.tile_rows = pixels.tile_rows;
  out.tile_cols = pixels.tile_cols;
  int64_t tokens = vlm.tokens(pixels.values, pixels.grid);
  Box seen = to_box(processor.visible(picture.height(), picture.width()));
  if (pixels.grid.defined()) {
    const int64_t* grid = pixels.grid.data_ptr<int64_t>();
    out.views.push_back(
        {seen, grid[1] / processor.merge(), grid[2] / processor.merge(), pixels.grid});
  } else {
    int64_t per_tile = tokens / pixels.values.size(0);
    auto side = static_cast<int64_t>(std::lround(std::sqrt(static_cast<double>(per_tile))));
    if (side * side != per_tile) {
      throw Error(ErrorCode::unsupported, "the visual tokens of this model form no square");
    }
    out.views.push_back({seen, side, side, {}});
    bool tiled = pixels.values.size(0) > 1;
    for (int64_t tile = 0; tiled && tile < pixels.tile_rows * pixels.tile_cols; ++tile) {
      float w = seen.width() / static_cast<float>(pixels.tile_cols);
      float h = seen.height() / static_cast<float>(pixels.tile_rows);
      float x = static_cast<float>(tile % pixels.tile_cols) * w;
      float y = static_cast<float>(tile / pixels.tile_cols) * h;
      out.views.push_back({{x, y, x + w, y + h}, side, side, {}});
    }
  }
  for (const Features::View& view : out.views) add_boxes(view, out.boxes);
  return out;
}

struct Rectangle {
  int64_t x = 0, y = 0, width = 0, height = 0;  // pixels of the picture
  Box box() const {
    return {static_cast<float>(x), static_cast<float>(y), static_cast<float>(x + width),
            static_cast<float>(y + height)};
  }
};

Rectangle rectangle_of(const Picture& picture, const Geometry& geometry, const Crop& crop) {
  float x = static_cast<float>(picture.width()) / static_cast<float>(geometry.width);
  float y = static_cast<float>(picture.height()) / static_cast<float>(geometry.height);
  auto edge = [](float value, int limit) {
    return std::clamp<int64_t>(std::lround(value), 0, limit);
  };
  Rectangle out;
  out.x = edge(crop.box.x0 * x, picture.width());
  out.y = edge(crop.box.y0 * y, picture.height());
  out.width = edge(crop.box.x1 * x, picture.width()) - out.x;
  out.height = edge(crop.box.y1 * y, picture.height()) - out.y;
  if (out.width < 1 || out.height < 1 || crop.width < 1 || crop.height < 1) {
    throw Error(ErrorCode::bad_argument, "a crop of the allocation is empty");
  }
  return out;
}

// Rows and columns of tokens for a crop: its own size in whole tokens; made to fit if it must.
std::pair<int64_t, int64_t> fitting(const Crop& crop, int unit, int64_t tokens, bool must) {
  auto whole = [unit](int pixels) {
    return std::max<int64_t>(1, std::lround(static_cast<double>(pixels) / unit));
  };
  int64_t rows = whole(crop.height);
  int64_t cols = whole(crop.width);
  if (!must || rows * cols <= tokens) return {rows, cols};
  double shrink = std::sqrt(static_cast<double>(tokens) / static_cast<double>(rows * cols));
  rows = std::max<int64_t>(1, static_cast<int64_t>(static_cast<double>(rows) * shrink));
  cols = std::clamp<int64_t>(static_cast<int64_t>(static_cast<double>(cols) * shrink), 1,
                             std::max<int64_t>(1, tokens / rows));
  return {rows, cols};
}

Visual visual_of(const Features& features) { return {features.rows, features.deepstack}; }

void take(Features& features, Visual visual) {
  features.rows = std::move(visual.rows);
  features.deepstack = std::move(visual.deepstack);
}

}  // namespace

int64_t Features::size() const { return rows.defined() ? rows.size(0) : 0; }

int64_t Features::bytes() const {
  if (!rows.defined()) return 0;
  int64_t sum = rows.numel() * static_cast<int64_t>(rows.element_size());
  for (const at::Tensor& set : deepstack) {
    sum += set.numel() * static_cast<int64_t>(set.element_size());
  }
  return sum;
}

HfModel::HfModel() = default;
HfModel::~HfModel() = default;

std::shared_ptr<const HfModel> HfModel::open(const std::string& folder, const LoadOptions& options,
                                             std::shared_ptr<const Tokenizer> tokenizer) {
  c10::InferenceMode guard;
  ModelConfig config = read_config(folder);
  at::Device device = device_of(options.device);
  FileSource source(WeightFile::open(folder), spellings_of(config), dtype_of(options.dtype, device),
                    device);
  std::shared_ptr<HfModel> model(new HfModel());
  model->vlm_ = make_vlm(config, source);
  model->processor_ = std::make_unique<ImageProcessor>(open_processor(folder, config));
  model->processor_->on(device);
  model->tokenizer_ = std::move(tokenizer);
  model->defaults_ = read_generation(folder);
  return model;
}

std::shared_ptr<const HfModel> HfModel::random(const std::string& path, const LoadOptions& options,
                                               uint64_t seed) {
  c10::InferenceMode guard;
  ModelConfig config = read_config(path);
  at::Device device = device_of(options.device);
  RandomSource source(dtype_of(options.dtype, device), device, seed);
  std::shared_ptr<HfModel> model(new HfModel());
  model->vlm_ = make_vlm(config, source);
  model->processor_ =
      std::make_unique<ImageProcessor>(ImageProcessor::from(default_processor(config), path));
  model->processor_->on(device);
  return model;
}

std::string HfModel::family() const { return to_string(vlm_->config().family); }

int HfModel::token_pixels() const {
  if (processor_->follows_size())
    return static_cast<int>(processor_->patch() * processor_->merge());
  const ModelConfig& config = vlm_->config();
  if (config.family == Family::ovis2)
    return static_cast<int>(config.ovis.patch * config.ovis.stride);
  return static_cast<int>(config.llava.patch);
}

std::string HfModel::zoom_refusal() const {
  if (processor_->follows_size()) return "";
  return "zoom needs a model whose token count follows the picture's size; " + family() +
         " always spends the same number of tokens a picture: use prune or patches";
}

Features HfModel::encode_image(const Picture& picture, int64_t max_tokens) const {
  c10::InferenceMode guard;
  PixelLimits limits;
  if (max_tokens > 0 && processor_->follows_size()) {
    int64_t unit = int64_t{token_pixels()} * token_pixels();
    limits = {unit, std::max<int64_t>(1, max_tokens) * unit};
  }
  Pixels pixels = processor_->process(picture.rgb, limits);
  Features out = frame(picture, pixels, *processor_, *vlm_);
  take(out, vlm_->encode(pixels.values, pixels.grid));
  return out;
}

Features HfModel::select(const Features& features, const Allocation& allocation,
                         const SelectOptions& options) const {
  c10::InferenceMode guard;
  if (!features.groups.empty()) {
    throw Error(ErrorCode::bad_argument, "these features are a selection already");
  }
  Choice choice = choose(features, allocation, options.merge);
  Features out = features;
  take(out, merge(visual_of(features), choice.groups));
  if (options.tiers) out.deepstack = tiered(out.deepstack, choice.relevance);
  out.groups = std::move(choice.groups);
  out.mode = "prune";
  return out;
}

Features HfModel::encode_patches(const Picture& picture, const Allocation& allocation,
                                 const SelectOptions& options) const {
  c10::InferenceMode guard;
  Pixels pixels = processor_->process(picture.rgb);
  Features out = frame(picture, pixels, *processor_, *vlm_);
  Choice choice = choose(out, allocation, options.merge);
  std::vector<int64_t> keep;
  for (const auto& group : choice.groups) keep.insert(keep.end(), group.begin(), group.end());
  std::sort(keep.begin(), keep.end());
  Visual visual = vlm_->encode(pixels.values, pixels.grid, keep);
  std::vector<std::vector<int64_t>> local = choice.groups;  // as rows of what was encoded
  for (auto& group : local) {
    for (int64_t& token : group) {
      token = std::lower_bound(keep.begin(), keep.end(), token) - keep.begin();
    }
  }
  take(out, merge(visual, local));
  if (options.tiers) out.deepstack = tiered(out.deepstack, choice.relevance);
  out.groups = std::move(choice.groups);
  out.mode = "patches";
  return out;
}

Features HfModel::encode_zoom(const Picture& picture, const Allocation& allocation) const {
  c10::InferenceMode guard;
  if (std::string reason = zoom_refusal(); !reason.empty()) {
    throw Error(ErrorCode::unsupported, reason);
  }
  if (allocation.crops.empty()) {
    throw Error(ErrorCode::bad_argument, "the allocation has no crops: use the zoom allocator");
  }
  Features out;
  out.width = picture.width();
  out.height = picture.height();
  out.mode = "zoom";
  std::vector<at::Tensor> values, grids;
  int64_t left = allocation.budget.tokens;
  for (const Crop& crop : allocation.crops) {
    Rectangle part = rectangle_of(picture, allocation.geometry, crop);
    auto [rows, cols] = fitting(crop, token_pixels(), left, values.empty());
    if (rows * cols > left) break;
    left -= rows * cols;
    at::Tensor rgb = picture.rgb.narrow(1, part.y, part.height).narrow(2, part.x, part.width);
    Pixels pixels = processor_->exactly(rgb, rows, cols);
    values.push_back(pixels.values);
    grids.push_back(pixels.grid);
    out.views.push_back({part.box(), rows, cols, pixels.grid});
    add_boxes(out.views.back(), out.boxes);
  }
  take(out, vlm_->encode(at::cat(values), at::cat(grids)));  // all in one run of the tower
  return out;
}

std::vector<int64_t> HfModel::prompt_ids(const std::vector<Message>& messages,
                                         const std::vector<Features>& pictures) const {
  if (!tokenizer_) {
    throw Error(ErrorCode::bad_argument, "the model was opened without a tokenizer");
  }
  std::vector<Slot> slots;
  std::vector<int64_t> counts;  // tokens behind each placeholder, in order
  for (const Features& features : pictures) {
    bool tiles = vlm_->config().family == Family::ovis2;
    slots.push_back({tiles ? 1 : static_cast<int64_t>(features.views.size()), features.tile_rows,
                     features.tile_cols});
    for (const Features::View& view : features.views) counts.push_back(view.rows * view.cols);
  }
  std::vector<int64_t> out;
  size_t next = 0;
  for (int64_t id : tokenizer_->encode(chat_text(family(), messages, slots))) {
    if (id != vlm_->config().image_token) {
      out.push_back(id);
    } else if (next < counts.size()) {
      out.insert(out.end(), static_cast<size_t>(counts[next]), id);
      ++next;
    } else {
      ++next;
    }
  }
  if (next != counts.size()) {
    throw Error(ErrorCode::bad_argument,
                "the tokenizer wrote " + std::to_string(next) + " picture placeholders, expected " +
                    std::to_string(counts.size()) +
                    ": is it the tokenizer of this checkpoint? (image token " +
                    std::to_string(vlm_->config().image_token) + ")");
  }
  return out;
}

Prompt HfModel::prepared(const std::vector<int64_t>& prompt,
                         const std::vector<Features>& pictures) const {
  at::Tensor ids = at::tensor(prompt, at::kLong).unsqueeze(0);
  std::vector<Visual> parts;
  std::vector<at::Tensor> grids;
  std::vector<std::vector<int64_t>> groups;
  bool sparse = false;
  int64_t before = 0;
  for (const Features& features : pictures) {
    parts.push_back(visual_of(features));
    for (const Features::View& view : features.views) {
      if (view.grid.defined()) grids.push_back(view.grid);
    }
    sparse = sparse || !features.groups.empty();
    if (features.groups.empty()) {
      for (int64_t i = 0; i < features.native(); ++i) groups.push_back({before + i});
    }
    for (std::vector<int64_t> group : features.groups) {
      for (int64_t& token : group) token += before;
      groups.push_back(std::move(group));
    }
    before += features.native();
  }
  at::Tensor grid = grids.empty() ? at::Tensor() : at::cat(grids);
  Visual visual = join(parts);
  return sparse ? prepare(*vlm_, ids, grid, visual, groups) : prepare(*vlm_, ids, grid, visual);
}

Generation HfModel::generate(const std::vector<int64_t>& prompt,
                             const std::vector<Features>& pictures,
                             const GenerateOptions& options) const {
  c10::InferenceMode guard;
  return hf::generate(*vlm_, prepared(prompt, pictures), options);
}

std::string HfModel::text_of(const Generation& generation) const {
  std::vector<int64_t> ids = generation.ids;
  if (generation.stopped) ids.pop_back();
  std::string text = tokenizer_->decode(ids, true);
  size_t begin = text.find_first_not_of(" \n\r\t");
  size_t end = text.find_last_not_of(" \n\r\t");
  return begin == std::string::npos ? "" : text.substr(begin, end - begin + 1);
}

Answer HfModel::answer(const std::vector<Message>& messages, const std::vector<Features>& pictures,
                       const GenerateOptions& options) const {
  Answer out;
  out.generation = generate(prompt_ids(messages, pictures), pictures, options);
  out.text = text_of(out.generation);
  return out;
}

Answer HfModel::answer(const std::string& question, const std::vector<Features>& pictures) const {
  return answer({{"user", question, static_cast<int>(pictures.size())}}, pictures, defaults_);
}

std::vector<Answer> HfModel::answer_all(const std::vector<std::string>& questions,
                                        const std::vector<Features>& pictures,
                                        const GenerateOptions& options) const {
  c10::InferenceMode guard;
  if (questions.empty()) return {};
  std::vector<std::vector<int64_t>> ids;
  for (const std::string& question : questions) {
    ids.push_back(prompt_ids({{"user", question, static_cast<int>(pictures.size())}}, pictures));
  }
  size_t common = ids[0].size();
  for (const auto& other : ids) {
    auto differ = std::mismatch(ids[0].begin(), ids[0].end(), other.begin(), other.end()).first;
    common = std::min({common, static_cast<size_t>(differ - ids[0].begin()), other.size() - 1});
  }
  std::vector<Prompt> prompts;
  for (const auto& one : ids) prompts.push_back(prepared(one, pictures));
  // Words are never left out, so what follows the common part counts the same in ids and places.
  int64_t shared = prompts[0].length() - static_cast<int64_t>(ids[0].size() - common);
  std::vector<Answer> out;
  for (Generation& one : generate_together(*vlm_, prompts, shared, options)) {
    std::string text = text_of(one);
    out.push_back({std::move(text), std::move(one)});
  }
  return out;
}

std::vector<float> HfModel::early_attention(const std::vector<Message>& messages,
                                            const std::vector<Features>& pictures,
                                            const std::vector<int64_t>& layers) const {
  c10::InferenceMode guard;
  Prompt prompt = prepared(prompt_ids(messages, pictures), pictures);
  if (prompt.visual_places.empty()) {
    throw Error(ErrorCode::bad_argument, "the messages show no picture to look at");
  }
  std::vector<int64_t> watched = layers;
  int64_t depth = vlm_->decoder().config().layers;
  for (int64_t i = 1; layers.empty() && i <= std::max<int64_t>(1, depth / 4); ++i) {
    watched.push_back(std::min(i, depth - 1));
  }
  int64_t words = prompt.length() - 1 - prompt.visual_places.back();
  return look_of_words(*vlm_, prompt, words, watched);
}

}  // namespace arrcoc::hf
