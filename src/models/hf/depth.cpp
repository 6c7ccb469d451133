#include "models/hf/depth.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>
#include <sstream>
#include <string>

#include "arrcoc/error.h"

namespace arrcoc {
namespace hf {

std::vector<int64_t> levels_of(const Depth& depth, std::span<const float> relevance,
                               size_t levels) {
  std::vector<int64_t> out(relevance.size(), static_cast<int64_t>(levels) - 1);
  if (depth.rule == DepthRule::full) return out;
  if (depth.rule == DepthRule::relevance) {
    for (size_t i = 0; i < out.size(); ++i)
      out[i] = std::count_if(depth.values.begin(), depth.values.end(), [&](double least) {
        return static_cast<double>(relevance[i]) > least;
      });
    return out;
  }
  std::vector<size_t> order(relevance.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return relevance[a] > relevance[b]; });
  double deeper = 1;  // share of the tokens that go beyond the level
  size_t gone = order.size();
  for (size_t level = 0; level + 1 < levels; ++level) {
    deeper -= depth.values[level];
    const auto left = static_cast<size_t>(
        std::llround(std::max(0.0, deeper) * static_cast<double>(order.size())));
    while (gone > left) out[order[--gone]] = static_cast<int64_t>(level);
  }
  return out;
}

std::vector<int64_t> counted(const std::vector<int64_t>& level_of_each, size_t levels) {
  std::vector<int64_t> out(levels, 0);
  for (int64_t level : level_of_each) ++out[static_cast<size_t>(level)];
  return out;
}

Leaving::Leaving(std::vector<int64_t> levels, std::vector<int64_t> frames, int64_t unit)
    : levels_(std::move(levels)), frames_(std::move(frames)), here_(levels_.size()), unit_(unit) {
  std::iota(here_.begin(), here_.end(), int64_t{0});
}

at::Tensor Leaving::at(int64_t level, const at::Tensor& rows, at::Tensor& x, Rotary& rotary,
                       Segments& segments) {
  if (levels_.empty()) return rows;
  const auto index = [&](const std::vector<int64_t>& numbers) {
    return at::tensor(numbers, at::kLong).to(rows.device());
  };
  const auto all_tokens = static_cast<int64_t>(levels_.size());
  at::Tensor out = rows;
  if (!left_.empty())
    out = at::zeros({all_tokens, rows.size(1)}, rows.options()).index_copy(0, index(here_), rows);
  std::vector<int64_t> go, stay, tokens, frames;
  for (size_t i = 0; i < here_.size(); ++i) {
    const auto token = static_cast<size_t>(here_[i]);
    if (levels_[token] == level) {
      go.push_back(static_cast<int64_t>(i));
      left_.push_back(here_[i]);
      continue;
    }
    stay.push_back(static_cast<int64_t>(i));
    tokens.push_back(here_[i]);
    frames.push_back(frames_[token]);
  }
  if (go.empty()) return out;
  gone_.push_back(rows.index_select(0, index(go)));
  here_ = std::move(tokens);
  const at::Tensor patches =
      (index(stay).unsqueeze(1) * unit_ + at::arange(unit_, index(stay).options())).reshape({-1});
  x = x.index_select(0, patches);
  rotary.cosine = rotary.cosine.index_select(0, patches);
  rotary.sine = rotary.sine.index_select(0, patches);
  segments = Segments(run_lengths(frames, unit_), rows.device());
  return out;
}

at::Tensor Leaving::all(const at::Tensor& rows) const {
  if (gone_.empty()) return rows;
  std::vector<at::Tensor> parts = gone_;
  std::vector<int64_t> order = left_;
  if (rows.defined()) parts.push_back(rows);
  order.insert(order.end(), here_.begin(), here_.end());
  const at::Tensor joined = at::cat(parts);
  return at::empty_like(joined).index_copy_(0, at::tensor(order, at::kLong).to(joined.device()),
                                            joined);
}

}  // namespace hf

Depth parse_depth(const std::string& text) {
  const auto refuse = [&](const std::string& why) {
    throw Error(ErrorCode::bad_argument, "depth '" + text + "': " + why);
  };
  const size_t colon = text.find(':');
  const bool numbers = !text.empty() && text.find_first_not_of("0123456789.,") == std::string::npos;
  Depth out;
  out.rule = numbers ? DepthRule::share : parse_enum<DepthRule>(text.substr(0, colon));
  std::istringstream list(numbers                      ? text
                          : colon == std::string::npos ? ""
                                                       : text.substr(colon + 1));
  for (std::string one; std::getline(list, one, ',');) {
    const bool digits = one.find_first_not_of("0123456789.") == std::string::npos;
    char* end = nullptr;
    const double value = std::strtod(one.c_str(), &end);
    if (!digits || end == one.c_str() || *end != '\0' || value > 1)
      refuse("'" + one + "' is no number of 0 to 1");
    out.values.push_back(value);
  }
  if (out.rule == DepthRule::full && (!out.values.empty() || colon != std::string::npos))
    refuse("full has no numbers");
  if (out.rule != DepthRule::full && out.values.empty())
    refuse("numbers are missing, as in share:0.25,0.25,0.25,0.25 or relevance:0.2,0.4,0.7");
  const double sum = std::accumulate(out.values.begin(), out.values.end(), 0.0);
  if (out.rule == DepthRule::share && std::abs(sum - 1) > 0.005) refuse("shares are 1 together");
  if (out.rule == DepthRule::relevance && !std::is_sorted(out.values.begin(), out.values.end()))
    refuse("thresholds ascend");
  return out;
}

}  // namespace arrcoc
