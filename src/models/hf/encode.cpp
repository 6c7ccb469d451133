// From pictures to rows for the language model: whole, in part, or as glance and crops.
#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

#include "arrcoc/error.h"
#include "models/hf/depth.h"
#include "models/hf/processor.h"
#include "models/hf/select.h"
#include "models/hf/vlm.h"

namespace arrcoc::hf {
namespace {

// The picture in one size and its tiles: squares of `side` x `side` tokens. Ovis2 has the whole
// first, SmolVLM last and names for the tiles.
void add_tiles(const Box& seen, const Pixels& pixels, int64_t side, bool named, Features& out) {
  if (!named || pixels.values.size(0) == 1) out.views.push_back({seen, side, side, {}});
  if (pixels.values.size(0) == 1) return;
  const float w = seen.width() / static_cast<float>(pixels.tile_cols);
  const float h = seen.height() / static_cast<float>(pixels.tile_rows);
  for (int64_t tile = 0; tile < pixels.tile_rows * pixels.tile_cols; ++tile) {
    const float x = static_cast<float>(tile % pixels.tile_cols) * w;
    const float y = static_cast<float>(tile / pixels.tile_cols) * h;
    out.views.push_back({{x, y, x + w, y + h}, side, side, {}});
    if (!named) continue;
    out.views.back().tile_row = tile / pixels.tile_cols + 1;
    out.views.back().tile_col = tile % pixels.tile_cols + 1;
  }
  if (named) out.views.push_back({seen, side, side, {}});
}

// DeepSeek-OCR-2: the local views, the whole, and the separator behind it. A token belongs to all
// of its view.
void add_views(const Box& seen, const Pixels& pixels, const Vlm& vlm, Features& out) {
  const auto add = [&](const Box& box, int64_t tokens) {
    out.views.push_back({box, 1, tokens, {}});
    out.boxes.insert(out.boxes.end(), static_cast<size_t>(tokens), box);
  };
  out.placeless = true;
  const float w = seen.width() / static_cast<float>(pixels.tile_cols);
  const float h = seen.height() / static_cast<float>(pixels.tile_rows);
  const int64_t tiles = pixels.grid.defined() ? pixels.grid.size(0) : 0;
  for (int64_t tile = 0; tile < tiles; ++tile) {
    const int64_t row = tile / pixels.tile_cols, col = tile % pixels.tile_cols;
    const float x = static_cast<float>(col) * w, y = static_cast<float>(row) * h;
    add({x, y, x + w, y + h}, vlm.tile_tokens(pixels.grid.size(2)));
    out.views.back().tile_row = row + 1;
    out.views.back().tile_col = col + 1;
  }
  add(seen, vlm.tile_tokens(pixels.values.size(2)));
  add(seen, 1);
}

// Views and boxes of pixels as the processor made them; no rows yet.
Features frame(const Picture& picture, const Pixels& pixels, const ImageProcessor& processor,
               const Vlm& vlm) {
  Features out;
  out.width = picture.width();
  out.height = picture.height();
  out.tile_rows = pixels.tile_rows;
  out.tile_cols = pixels.tile_cols;
  const Box seen = processor.visible(picture.height(), picture.width());
  if (processor.has_views()) {
    add_views(seen, pixels, vlm, out);
    return out;
  }
  if (pixels.grid.defined()) {
    const int64_t* grid = pixels.grid.data_ptr<int64_t>();
    out.views.push_back(
        {seen, grid[1] / processor.merge(), grid[2] / processor.merge(), pixels.grid});
  } else {
    const int64_t each = vlm.tokens(pixels.values, pixels.grid) / pixels.values.size(0);
    const auto side = static_cast<int64_t>(std::lround(std::sqrt(static_cast<double>(each))));
    if (side * side != each)
      throw Error(ErrorCode::unsupported, "the visual tokens of this model form no square");
    add_tiles(seen, pixels, side, vlm.config().is_smol(), out);
  }
  for (const Features::View& view : out.views) add_boxes(view, out.boxes);
  return out;
}

// The crop's rectangle in whole pixels of the picture.
Box rectangle_of(const Picture& picture, const Geometry& geometry, const Crop& crop) {
  const auto edge = [](float value, int from, int to) {
    const float scaled = value * static_cast<float>(to) / static_cast<float>(from);
    return static_cast<float>(std::clamp<int64_t>(std::lround(scaled), 0, to));
  };
  const Box out{edge(crop.box.x0, geometry.width, picture.width()),
                edge(crop.box.y0, geometry.height, picture.height()),
                edge(crop.box.x1, geometry.width, picture.width()),
                edge(crop.box.y1, geometry.height, picture.height())};
  if (out.width() < 1 || out.height() < 1 || crop.width < 1 || crop.height < 1)
    throw Error(ErrorCode::bad_argument, "a crop of the allocation is empty");
  return out;
}

void take(Features& features, Visual visual) {
  features.rows = std::move(visual.rows);
  features.deepstack = std::move(visual.deepstack);
}

// The rows of a choice: of every group of `rows` one.
void take(Features& features, const Visual& visual, const std::vector<std::vector<int64_t>>& rows,
          Choice choice, const SelectOptions& options) {
  take(features, merge(visual, rows));
  if (options.tiers) features.deepstack = tiered(features.deepstack, choice.relevance);
  features.groups = std::move(choice.groups);
}

// Tokens `keep` (none: all) by their relevance; features.depths says how deep they went.
Visual encode_as_deep(const HfModel& model, const Pixels& pixels, const std::vector<int64_t>& keep,
                      const std::vector<float>& relevance, const Depth& depth, Features& features) {
  const Vlm& vlm = model.vlm();
  model.require_depth(depth);
  if (depth.rule == DepthRule::full) return vlm.encode(pixels.values, pixels.grid, keep);
  const size_t levels = vlm.level_blocks().size();
  const std::vector<int64_t> level_of_each = levels_of(depth, relevance, levels);
  features.depths = counted(level_of_each, levels);
  return vlm.encode_depths(pixels.values, pixels.grid, keep, level_of_each);
}

}  // namespace

void add_boxes(const Features::View& view, std::vector<Box>& boxes) {
  const auto x = [&](int64_t col) {
    return view.box.x0 + view.box.width() * static_cast<float>(col) / static_cast<float>(view.cols);
  };
  const auto y = [&](int64_t row) {
    return view.box.y0 +
           view.box.height() * static_cast<float>(row) / static_cast<float>(view.rows);
  };
  for (int64_t r = 0; r < view.rows; ++r)
    for (int64_t c = 0; c < view.cols; ++c) boxes.push_back({x(c), y(r), x(c + 1), y(r + 1)});
}

int64_t Features::size() const { return rows.defined() ? rows.size(0) : 0; }

int64_t Features::bytes() const {
  if (!rows.defined()) return 0;
  size_t sum = rows.nbytes();
  for (const at::Tensor& set : deepstack) sum += set.nbytes();
  return static_cast<int64_t>(sum);
}

int HfModel::token_pixels() const {
  const ModelConfig& config = vlm_->config();
  if (processor_->follows_size())
    return static_cast<int>(processor_->patch() * processor_->merge());
  if (config.is_smol()) return static_cast<int>(config.smol.patch * config.smol.scale);
  if (processor_->has_views()) return static_cast<int>(config.deepseek.sam.patch * 4);
  if (config.family == Family::sam_clip)
    return static_cast<int>(config.sam_clip.sam.patch << config.sam_clip.channels.size());
  return static_cast<int>(config.family == Family::ovis2 ? config.ovis.patch * config.ovis.stride
                                                         : config.llava.patch);
}

int64_t HfModel::native_tokens(int width, int height) const {
  if (processor_->has_views())
    return (processor_->count(height, width) - 1) * vlm_->tile_tokens(processor_->tile_side()) +
           vlm_->tile_tokens(processor_->whole_side()) + 1;
  if (!processor_->follows_size())
    return processor_->count(height, width) * vlm_->tile_tokens(processor_->tile_side());
  const auto [high, wide] = processor_->smart_size(height, width);
  return high / token_pixels() * (wide / token_pixels());
}

int64_t HfModel::least_tokens() const {
  return processor_->has_views() ? vlm_->tile_tokens(processor_->tile_side()) + 1 : 1;
}

std::pair<int64_t, int64_t> HfModel::view_grid(int width, int height) const {
  const int64_t unit = token_pixels();
  const auto [high, wide] = processor_->smart_size(height, width, {unit * unit, 0});
  return {high / unit, wide / unit};
}

std::string HfModel::zoom_refusal() const {
  if (processor_->follows_size() || chooses_tiles()) return "";
  return std::string("zoom needs a model whose token count follows the picture's size; ") +
         to_string(family()) +
         " always spends the same number of tokens a picture: use prune or patches";
}

std::string HfModel::select_refusal() const {
  if (!processor_->has_views()) return "";
  return std::string("the tokens of ") + to_string(family()) +
         " are answers about a whole view, not places in it: use zoom, which chooses views, or "
         "native";
}

std::string HfModel::depth_refusal(const Depth& depth) const {
  const std::vector<int64_t> blocks = vlm_->level_blocks();
  if (depth.rule == DepthRule::full) return "";
  if (blocks.empty())
    return std::string("depth needs an encoder with DeepStack levels, as qwen3_vl has; ") +
           to_string(family()) + " has none";
  const size_t wanted = blocks.size() - (depth.rule == DepthRule::share ? 0 : 1);
  if (depth.values.size() == wanted) return "";
  std::string list;
  for (int64_t count : blocks) list += (list.empty() ? "" : ", ") + std::to_string(count);
  return std::string("depth ") + to_string(depth.rule) + " has " +
         std::to_string(depth.values.size()) + " numbers and wants " + std::to_string(wanted) +
         ": tokens of this model can leave its encoder behind " + list + " blocks";
}

void HfModel::require_depth(const Depth& depth) const {
  const std::string why = depth_refusal(depth);
  const bool has_levels = !vlm_->level_blocks().empty();
  if (!why.empty()) throw Error(has_levels ? ErrorCode::bad_argument : ErrorCode::unsupported, why);
}

Features HfModel::encode_image(const Picture& picture, int64_t max_tokens) const {
  c10::InferenceMode guard;
  PixelLimits limits;
  const int64_t unit = int64_t{token_pixels()} * token_pixels();
  if (max_tokens > 0) limits = {unit, max_tokens * unit};
  const Pixels pixels = processor_->process(picture.rgb, limits);
  Features out = frame(picture, pixels, *processor_, *vlm_);
  if (max_tokens > 0 && vlm_->config().is_smol())
    return encode_views(pixels, out, {static_cast<int64_t>(out.views.size()) - 1});
  take(out, vlm_->encode(pixels.values, pixels.grid));
  return out;
}

Features HfModel::shown(const Picture& picture, Pixels& pixels) const {
  pixels = processor_->process(picture.rgb);
  return frame(picture, pixels, *processor_, *vlm_);
}

Features HfModel::encode_watched(const Picture& picture, EncoderSight& sight) const {
  c10::InferenceMode guard;
  Pixels pixels;
  Features out = shown(picture, pixels);
  take(out, vlm_->encode_watched(pixels.values, pixels.grid, sight));
  return out;
}

Features HfModel::select(const Features& features, const Allocation& allocation,
                         const SelectOptions& options) const {
  c10::InferenceMode guard;
  if (const std::string reason = select_refusal(); !reason.empty())
    throw Error(ErrorCode::unsupported, reason);
  if (!features.groups.empty())
    throw Error(ErrorCode::bad_argument, "these features are a selection already");
  Choice choice = choose(features, allocation, options.merge);
  const auto rows = choice.groups;
  Features out = features;
  take(out, {features.rows, features.deepstack}, rows, std::move(choice), options);
  return out;
}

Features HfModel::encode_patches(const Picture& picture, const Allocation& allocation,
                                 const SelectOptions& options) const {
  c10::InferenceMode guard;
  if (const std::string reason = select_refusal(); !reason.empty())
    throw Error(ErrorCode::unsupported, reason);
  const bool sized = processor_->follows_size();  // then only what is chosen is cut up
  Pixels pixels = sized ? processor_->sized(picture.rgb) : processor_->process(picture.rgb);
  Features out = frame(picture, pixels, *processor_, *vlm_);
  Choice choice = choose(out, allocation, options.merge || vlm_->takes_groups());
  if (vlm_->takes_groups()) {
    take(out, vlm_->encode_groups(pixels.values, pixels.grid, choice.groups));
    out.groups = std::move(choice.groups);
    return out;
  }
  std::vector<int64_t> keep;
  for (const auto& group : choice.groups) keep.insert(keep.end(), group.begin(), group.end());
  std::sort(keep.begin(), keep.end());
  if (sized) pixels.values = processor_->values_of(pixels.values, keep);
  auto rows = choice.groups;  // as rows of what is encoded
  for (auto& group : rows)
    for (int64_t& token : group)
      token = std::lower_bound(keep.begin(), keep.end(), token) - keep.begin();
  std::vector<float> relevance(keep.size());
  for (size_t g = 0; g < rows.size(); ++g)
    for (int64_t row : rows[g]) relevance[static_cast<size_t>(row)] = choice.relevance[g];
  take(out, encode_as_deep(*this, pixels, keep, relevance, options.depth, out), rows,
       std::move(choice), options);
  return out;
}

Features HfModel::encode_tapered(const Picture& picture, const Allocation& allocation,
                                 const SelectOptions& options) const {
  c10::InferenceMode guard;
  Pixels pixels;
  Features out = shown(picture, pixels);
  Choice choice = choose(out, allocation, options.merge);
  std::vector<float> relevance(out.boxes.size(), kNotChosen);
  for (size_t g = 0; g < choice.groups.size(); ++g)
    for (int64_t token : choice.groups[g])
      relevance[static_cast<size_t>(token)] = choice.relevance[g];
  const auto rows = choice.groups;
  take(out, encode_as_deep(*this, pixels, {}, relevance, options.depth, out), rows,
       std::move(choice), options);
  return out;
}

bool HfModel::chooses_tiles() const { return vlm_->config().is_smol() || processor_->has_views(); }

// Some of the views, and nothing else of the picture.
Features HfModel::encode_views(const Pixels& pixels, const Features& all,
                               const std::vector<int64_t>& chosen) const {
  Features out = all;
  out.views.clear();
  out.boxes.clear();
  std::vector<int64_t> tiles;
  for (int64_t i : chosen) {
    const Features::View& view = all.views[static_cast<size_t>(i)];
    if (view.tile_row > 0 || !all.placeless) tiles.push_back(i);
    out.views.push_back(view);
    if (all.placeless)
      out.boxes.insert(out.boxes.end(), static_cast<size_t>(view.cols), view.box);
    else
      add_boxes(view, out.boxes);
  }
  const at::Tensor index = at::tensor(tiles, at::kLong).to(pixels.values.device());
  if (!all.placeless)
    take(out, vlm_->encode(pixels.values.index_select(0, index), {}));
  else if (tiles.empty())
    take(out, vlm_->encode(pixels.values, {}));
  else
    take(out, vlm_->encode(pixels.values, pixels.grid.index_select(0, index)));
  return out;
}

Features HfModel::encode_tiles(const Picture& picture, const Allocation& allocation) const {
  const int64_t budget = allocation.budget.tokens;
  if (processor_->has_views() && budget <= vlm_->tile_tokens(processor_->whole_side())) {
    Features whole = encode_image(picture, std::max<int64_t>(1, budget - 1));  // and a separator
    if (whole.size() > budget)
      throw Error(ErrorCode::bad_argument,
                  std::string(to_string(family())) + " needs " + std::to_string(whole.size()) +
                      " tokens for the smallest view of a picture, the budget is " +
                      std::to_string(budget));
    return whole;
  }
  const Pixels pixels = processor_->process(picture.rgb);
  const Features all = frame(picture, pixels, *processor_, *vlm_);
  Features out = encode_views(pixels, all, choose_tiles(all, allocation));
  // A budget below the view of the whole: the tokens of it that matter most.
  return out.size() > budget ? select(out, allocation) : out;
}

Features HfModel::encode_zoom(const Picture& picture, const Allocation& allocation) const {
  c10::InferenceMode guard;
  if (const std::string reason = zoom_refusal(); !reason.empty())
    throw Error(ErrorCode::unsupported, reason);
  if (chooses_tiles()) return encode_tiles(picture, allocation);
  if (allocation.crops.empty())
    throw Error(ErrorCode::bad_argument, "the allocation has no crops: use the zoom allocator");
  Features out;
  out.width = picture.width();
  out.height = picture.height();
  std::vector<at::Tensor> values, grids;
  for (const Crop& crop : allocation.crops) {
    const Box part = rectangle_of(picture, allocation.geometry, crop);
    const auto [rows, cols] = view_grid(crop.width, crop.height);
    const at::Tensor rgb =
        picture.rgb.narrow(1, static_cast<int64_t>(part.y0), static_cast<int64_t>(part.height()))
            .narrow(2, static_cast<int64_t>(part.x0), static_cast<int64_t>(part.width()));
    const Pixels pixels = processor_->exactly(rgb, rows, cols);
    values.push_back(pixels.values);
    grids.push_back(pixels.grid);
    out.views.push_back({part, rows, cols, pixels.grid});
    add_boxes(out.views.back(), out.boxes);
  }
  take(out, vlm_->encode(at::cat(values), at::cat(grids)));  // all in one run of the tower
  return out;
}

}  // namespace arrcoc::hf
