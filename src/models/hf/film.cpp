// Films for the Qwen family: frames in pairs, with their times.
#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

#include "arrcoc/error.h"
#include "models/hf/processor.h"
#include "models/hf/select.h"
#include "models/hf/vlm.h"

namespace arrcoc::hf {
namespace {

// Half to even, as Python rounds.
int64_t round_even(double value) { return static_cast<int64_t>(std::nearbyint(value)); }

// Milliseconds from one temporal patch to the next, over all of them; one alone lasts as long as
// its frames tell.
int64_t pace(std::span<const Frame> frames, size_t temporal) {
  const size_t last = (frames.size() - 1) / temporal * temporal;
  const double seconds = last > 0 ? (frames[last].seconds - frames[0].seconds) *
                                        static_cast<double>(temporal) / static_cast<double>(last)
                                  : (frames.back().seconds - frames[0].seconds) *
                                        static_cast<double>(temporal) /
                                        std::max(1.0, static_cast<double>(frames.size()) - 1);
  return std::llround(1000 * std::clamp(seconds, 0.0, 1e6));
}

// The tokens of one temporal patch, as of a picture.
Features part_of(const Features& film, size_t view, int64_t first) {
  Features out;
  out.width = film.width;
  out.height = film.height;
  out.views = {film.views[view]};
  const int64_t count = film.views[view].rows * film.views[view].cols;
  out.boxes.assign(film.boxes.begin() + first, film.boxes.begin() + first + count);
  return out;
}

}  // namespace

// transformers: qwen3_vl/video_processing_qwen3_vl.py smart_resize.
std::pair<int64_t, int64_t> ImageProcessor::film_size(int64_t frames, int64_t height, int64_t width,
                                                      const PixelLimits& limits) const {
  if (!over_time_) return smart_size(height, width, limits);
  const int64_t step = patch_ * merge_;
  const auto unit = static_cast<double>(step), count = static_cast<double>(frames);
  auto high = static_cast<double>(height), wide = static_cast<double>(width);
  if (height < step || width < step) {
    const double scale = std::max(unit / high, unit / wide);
    high = std::floor(high * scale);
    wide = std::floor(wide * scale);
  }
  if (std::max(high, wide) / std::min(high, wide) > 200)
    throw Error(ErrorCode::bad_image, "the film is too thin for this model: sides up to 200:1");
  const auto least = static_cast<double>(limits.min_pixels ? limits.min_pixels : min_pixels_);
  const auto most = static_cast<double>(limits.max_pixels ? limits.max_pixels : max_pixels_);
  int64_t rows = round_even(high / unit), cols = round_even(wide / unit);
  const auto pairs = static_cast<double>(temporal_);
  const double volume = std::nearbyint(count / pairs) * pairs * static_cast<double>(rows * step) *
                        static_cast<double>(cols * step);
  if (volume > most) {
    const double shrink = std::sqrt(count * high * wide / most);
    rows = static_cast<int64_t>(std::floor(high / shrink / unit));
    cols = static_cast<int64_t>(std::floor(wide / shrink / unit));
  } else if (volume < least) {
    const double grow = std::sqrt(least / (count * high * wide));
    rows = static_cast<int64_t>(std::ceil(high * grow / unit));
    cols = static_cast<int64_t>(std::ceil(wide * grow / unit));
  }
  return {std::max<int64_t>(1, rows) * step, std::max<int64_t>(1, cols) * step};
}

Pixels ImageProcessor::film(const std::vector<at::Tensor>& frames,
                            const PixelLimits& limits) const {
  if (kind_ != Kind::smart) throw Error(ErrorCode::unsupported, "this model takes no films");
  if (frames.empty()) throw Error(ErrorCode::bad_image, "a film without frames");
  const auto count = static_cast<int64_t>(frames.size());
  const auto [high, wide] =
      film_size(std::max(count, temporal_), frames[0].size(1), frames[0].size(2), limits);
  std::vector<at::Tensor> shown;
  for (const at::Tensor& frame : frames) {
    if (frame.sizes() != frames[0].sizes())
      throw Error(ErrorCode::bad_image, "the frames of a film must be of one size");
    shown.push_back(normalised(resample(frame, high, wide, filter_)));
  }
  while (static_cast<int64_t>(shown.size()) % temporal_) shown.push_back(shown.back());
  Pixels out = patchified(at::stack(shown));
  out.grid = at::cat({out.grid, at::tensor({1000, 1}, at::kLong).unsqueeze(0)}, 1);
  return out;
}

Features HfModel::encode_film(std::span<const Frame> frames, int64_t max_tokens) const {
  c10::InferenceMode guard;
  const ModelConfig& config = vlm_->config();
  if (!config.is_qwen())
    throw Error(ErrorCode::unsupported, std::string("films are read by the Qwen family, not by ") +
                                            to_string(config.family));
  if (frames.empty()) throw Error(ErrorCode::bad_argument, "a film without frames");
  const int64_t temporal = film_processor_->temporal();
  const auto count = static_cast<int64_t>(frames.size());
  const int64_t pairs = (count + temporal - 1) / temporal;
  const int64_t unit = int64_t{token_pixels()} * token_pixels();
  PixelLimits limits;
  if (max_tokens > 0)
    limits = {unit, film_processor_->over_time() ? max_tokens * unit * temporal
                                                 : std::max<int64_t>(1, max_tokens / pairs) * unit};
  std::vector<at::Tensor> rgb;
  for (const Frame& frame : frames) rgb.push_back(frame.picture->rgb);
  const Pixels pixels = film_processor_->film(rgb, limits);
  const int64_t rows = pixels.grid[0][1].item<int64_t>(), cols = pixels.grid[0][2].item<int64_t>();
  Features out;
  out.width = frames[0].picture->width();
  out.height = frames[0].picture->height();
  const Box whole{0, 0, static_cast<float>(out.width), static_cast<float>(out.height)};
  const int64_t lasts = pace(frames, static_cast<size_t>(temporal));
  const bool apart = config.family == Family::qwen3_vl;
  for (int64_t i = 0; i < pairs; ++i) {
    const Frame& first = frames[static_cast<size_t>(i * temporal)];
    const Frame& last = frames[static_cast<size_t>(std::min((i + 1) * temporal, count) - 1)];
    out.views.push_back({whole, rows / config.qwen.merge, cols / config.qwen.merge, at::Tensor()});
    out.views.back().seconds = (first.seconds + last.seconds) / 2;
    if (apart || i == 0)
      out.views.back().grid =
          at::tensor({apart ? 1 : pairs, rows, cols, lasts, int64_t{1}}, at::kLong).unsqueeze(0);
    add_boxes(out.views.back(), out.boxes);
  }
  out.film = true;
  Visual visual = vlm_->encode(pixels.values, pixels.grid);
  out.rows = std::move(visual.rows);
  out.deepstack = std::move(visual.deepstack);
  return out;
}

Features HfModel::select_film(const Features& film, std::span<const Allocation> allocations,
                              const SelectOptions& options) const {
  c10::InferenceMode guard;
  if (!film.film || !film.groups.empty() || allocations.size() != film.views.size())
    throw Error(ErrorCode::bad_argument,
                "a choice of a film wants all of it and an allocation for every temporal patch");
  Choice all;
  int64_t first = 0;
  for (size_t i = 0; i < film.views.size(); ++i) {
    if (!allocations[i].leaves.empty()) {
      Choice part = choose(part_of(film, i, first), allocations[i], options.merge);
      for (std::vector<int64_t>& group : part.groups) {
        for (int64_t& token : group) token += first;
        all.groups.push_back(std::move(group));
      }
      all.relevance.insert(all.relevance.end(), part.relevance.begin(), part.relevance.end());
    }
    first += film.views[i].rows * film.views[i].cols;
  }
  if (all.groups.empty()) throw Error(ErrorCode::bad_argument, "nothing of the film was chosen");
  Features out = film;
  Visual visual = merge({film.rows, film.deepstack}, all.groups);
  out.rows = std::move(visual.rows);
  out.deepstack =
      options.tiers ? tiered(visual.deepstack, all.relevance) : std::move(visual.deepstack);
  out.groups = std::move(all.groups);
  return out;
}

}  // namespace arrcoc::hf
