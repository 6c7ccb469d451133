#include "ask/passes.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <iterator>
#include <numeric>

#include "arrcoc/error.h"

namespace arrcoc::asking {

namespace {

constexpr double kFineLevel = 1.1;  // seen finely: tokens of level 1 (views are rounded) or below
constexpr float kBeside = 0.7F;     // attention that the cells beside a read one get

// Calls back with every cell of the map that the box touches, or whose middle lies under it.
template <class Visit>
void under(const Box& box, const Map& map, bool touching, const Visit& visit) {
  const float slack = touching ? 0.5F : 0.0F;
  for (int r = std::max(0, static_cast<int>(box.y0 / map.cell_height)); r < map.rows; ++r) {
    const float y = (static_cast<float>(r) + 0.5F) * map.cell_height;
    if (y - slack * map.cell_height >= box.y1) break;
    if (y + slack * map.cell_height <= box.y0) continue;
    for (int c = std::max(0, static_cast<int>(box.x0 / map.cell_width)); c < map.cols; ++c) {
      const float x = (static_cast<float>(c) + 0.5F) * map.cell_width;
      if (x - slack * map.cell_width >= box.x1) break;
      if (x + slack * map.cell_width > box.x0) visit(static_cast<size_t>(r) * map.cols + c);
    }
  }
}

// Shares of attention by token, 1 for the largest; a word goes on beside the place that was read.
Map from_focus(const std::vector<ReadToken>& tokens, const Map& shape,
               const std::vector<float>& focus, float most) {
  Map read = like(shape, 0);
  const size_t n = std::min(focus.size(), tokens.size());
  most = std::max(most, 1e-9F);
  for (size_t i = 0; i < n; ++i) most = std::max(most, focus[i]);
  for (size_t i = 0; i < n; ++i)
    under(tokens[i].box, read, true,
          [&](size_t cell) { read.values[cell] = std::max(read.values[cell], focus[i] / most); });
  Map out = read;
  for (int r = 0; r < out.rows; ++r)
    for (int c = 0; c < out.cols; ++c)
      for (int d : {-1, 1})
        if (c + d >= 0 && c + d < out.cols)
          out.at(r, c) = std::max(out.at(r, c), kBeside * read.at(r, c + d));
  return out;
}

Map read_from(const Pass& pass, const std::vector<ReadToken>& tokens, float largest) {
  if (!pass.reply.focus.empty())
    return from_focus(tokens, pass.relevance, pass.reply.focus, largest);
  Map out = like(pass.relevance, 0);
  if (!pass.reply.attention.empty()) {
    out.values = resample(pass.reply.attention.front(), out.rows, out.cols).values;
    return out;
  }
  float most = 1e-6F;
  for (const ReadToken& token : tokens) most = std::max(most, token.relevance);
  const float highest = std::max(1e-6F, maximum(pass.relevance));
  for (const ReadToken& token : tokens)
    if (token.level <= kFineLevel)
      under(token.box, out, false, [&](size_t i) {
        const float own =
            token.relevance >= 0 ? token.relevance / most : pass.relevance.values[i] / highest;
        out.values[i] = 0.5F + 0.5F * std::clamp(own, 0.0F, 1.0F);
      });
  return out;
}

void measure_focus(Pass& pass, const std::vector<ReadToken>& tokens) {
  std::vector<float> focus = pass.reply.focus;
  focus.resize(std::min(focus.size(), tokens.size()));
  double sum = 0, levels = 0;
  for (size_t i = 0; i < focus.size(); ++i) {
    sum += static_cast<double>(focus[i]);
    levels += static_cast<double>(focus[i]) * tokens[i].level;
  }
  if (!(sum > 0)) return;
  pass.gathered = gathered(pass.reply.places.empty() ? focus : above_even(std::move(focus)));
  pass.detail = levels / sum;
}

double side_of(const Box& box) { return std::sqrt(static_cast<double>(box.area())); }

// How often a view halves the sides of what it shows.
double level_of(const Crop& crop) {
  const double shown = std::sqrt(static_cast<double>(crop.width) * crop.height);
  return std::log2(side_of(crop.box) / std::max(1.0, shown));
}

// A model's own tokens. Level 0 is a token of the picture at its own size: views say which that is,
// a grid has no finer ones than it shows.
std::vector<ReadToken> placed(const Pass& pass, int width, int height) {
  const Allocation& a = pass.allocation;
  const float x = static_cast<float>(a.geometry.width) / static_cast<float>(width);
  const float y = static_cast<float>(a.geometry.height) / static_cast<float>(height);
  std::vector<ReadToken> out;
  double unit = 1e30;
  for (const Box& b : pass.reply.places) {
    out.push_back({{b.x0 * x, b.y0 * y, b.x1 * x, b.y1 * y}});
    unit = std::min(unit, side_of(out.back().box));
  }
  if (!a.crops.empty() && a.crops[0].tokens > 0)
    unit = side_of(a.crops[0].box) / std::sqrt(a.crops[0].tokens) / std::exp2(level_of(a.crops[0]));
  for (ReadToken& token : out) token.level = std::log2(side_of(token.box) / std::max(1e-6, unit));
  return out;
}

// Lower-case words; what is no ASCII belongs to them.
std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> out(1);
  for (const char c : text) {
    const auto u = static_cast<unsigned char>(c);
    if (u >= 0x80 || std::isalnum(u) != 0)
      out.back() += static_cast<char>(std::tolower(u));
    else if (!out.back().empty())
      out.emplace_back();
  }
  if (out.back().empty()) out.pop_back();
  std::sort(out.begin(), out.end());
  return out;
}

// One number in [0,1) for a cell (SplitMix64).
float grain(uint64_t seed, size_t cell) {
  uint64_t z = seed + 0x9E3779B97F4A7C15ULL * (cell + 1);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
  return static_cast<float>((z ^ (z >> 31)) >> 40) * 0x1p-24F;
}

double logit(double p) {
  p = std::clamp(p, 1e-4, 1 - 1e-4);
  return std::log(p / (1 - p));
}

}  // namespace

double uncertainty(const std::vector<float>& probabilities) {
  if (probabilities.empty()) return 1;
  double sum = 0;
  for (float p : probabilities) {
    if (!(p >= 0 && p <= 1.0001F))
      throw Error(ErrorCode::numeric, "a model gave a token the probability " + std::to_string(p));
    if (p <= 0) return 1;
    sum += std::log(std::min(1.0, static_cast<double>(p)));
  }
  return 1 - std::exp(sum / static_cast<double>(probabilities.size()));
}

double gathered(const std::vector<float>& focus) {
  const double sum = std::accumulate(focus.begin(), focus.end(), 0.0);
  if (!(sum > 0)) return -1;
  std::vector<float> most = focus;
  const auto top = static_cast<std::ptrdiff_t>(std::min<size_t>(4, most.size()));
  std::partial_sort(most.begin(), most.begin() + top, most.end(), std::greater<>());
  return std::accumulate(most.begin(), most.begin() + top, 0.0) / sum;
}

std::vector<float> above_even(std::vector<float> focus) {
  const float even = std::accumulate(focus.begin(), focus.end(), 0.0F) /
                     static_cast<float>(std::max<size_t>(1, focus.size()));
  for (float& share : focus) share = std::max(0.0F, share - even);
  return focus;
}

double agreement(const std::string& a, const std::string& b) {
  const std::vector<std::string> left = words_of(a), right = words_of(b);
  if (left.empty() && right.empty()) return a == b ? 1 : 0;
  std::vector<std::string> common;
  std::set_intersection(left.begin(), left.end(), right.begin(), right.end(),
                        std::back_inserter(common));
  return 2.0 * static_cast<double>(common.size()) / static_cast<double>(left.size() + right.size());
}

std::vector<ReadToken> tokens_of(const Pass& pass, int width, int height) {
  if (!pass.reply.places.empty()) return placed(pass, width, height);
  const Allocation& a = pass.allocation;
  std::vector<ReadToken> out;
  for (const Box& box : allocating::token_boxes(a)) out.push_back({box});
  for (size_t i = 0; i < a.leaves.size(); ++i) {
    out[i].level = a.leaves[i].level;
    out[i].relevance = a.leaves[i].relevance;
  }
  size_t next = a.leaves.size();
  for (const Crop& crop : a.crops)
    for (int64_t n = Geometry{crop.width, crop.height, 0}.native_tokens(); n > 0; --n)
      out[next++].level = level_of(crop);
  return out;
}

void remember(Pass& pass, const std::vector<ReadToken>& tokens, History& history, float most) {
  const Map read = read_from(pass, tokens, most);
  if (history.seen.empty()) {
    history.seen = like(pass.relevance, 0);
    history.detail = history.seen;
    history.attention_accumulated = like(pass.relevance, 0);
  }
  for (size_t i = 0; i < history.seen.size(); ++i) {
    float& sum = history.attention_accumulated.values[i];
    sum = std::min(1.0F, sum + read.values[i]);
  }
  for (const ReadToken& token : tokens) {
    const auto detail = static_cast<float>(std::min(1.0, std::exp2(-token.level)));
    under(token.box, history.seen, false, [&](size_t i) {
      if (token.level <= kFineLevel) history.seen.values[i] = 1;
      history.detail.values[i] = std::max(history.detail.values[i], detail);
    });
  }
  history.attention_previous = read;
  ++history.passes;
  history.uncertainty = pass.uncertainty;
  history.answer = pass.reply.text;
  pass.attention = read;
  measure_focus(pass, tokens);
}

double exploration(const PassRules& rules, double uncertainty) {
  return rules.explore * (uncertainty > 0.7 ? 1 : uncertainty > 0.4 ? 0.6 : 0.1);
}

Map temper(const Map& relevance, const Map& interest, const History& history, Manner manner,
           double explore, const PassRules& rules, uint64_t seed) {
  Map out = relevance;
  const auto at = [](const Map& map, size_t i) { return map.empty() ? 0.0F : map.values[i]; };
  const Map gaze = history.gaze.empty() ? Map{} : resample(history.gaze, out.rows, out.cols);
  if (manner == Manner::first || manner == Manner::wider) {
    for (size_t i = 0; i < out.size(); ++i) out.values[i] = std::max(out.values[i], at(gaze, i));
    return out;
  }
  const Map curious = interest.empty() ? Map{} : resample(interest, out.rows, out.cols);
  const auto apart = static_cast<float>(rules.apart);
  const auto vain = static_cast<float>(rules.inhibition * history.uncertainty);
  const auto lift = static_cast<float>(explore);
  for (size_t i = 0; i < out.size(); ++i) {
    float& r = out.values[i];
    if (manner == Manner::closer) {
      const float attention = std::max({at(history.attention_previous, i),
                                        0.5F * at(history.attention_accumulated, i), at(gaze, i)});
      r *= apart + (1 - apart) * attention;
      continue;
    }
    r *= 1 - vain * at(history.attention_accumulated, i);
    const float worth = at(curious, i) * (0.99F + 0.01F * grain(seed, i));
    r = std::clamp(r + lift * (1 - at(history.seen, i)) * worth * (1 - r), 0.0F, 1.0F);
  }
  return out;
}

std::optional<Manner> manner_after(const Pass& pass, const PassRules& rules) {
  if (pass.gathered < 0 || pass.uncertainty > rules.lost) return Manner::elsewhere;
  if (pass.gathered >= rules.gathered) return Manner::closer;
  if (rules.wander) return Manner::elsewhere;
  return std::nullopt;
}

PassPolicy::Features features_of(const Pass& pass, bool first) {
  return {1,
          logit(pass.reply.likelihood) / 4,
          logit(1 - pass.uncertainty) / 4,
          std::max(0.0, pass.gathered),
          pass.detail / 4,
          static_cast<double>(pass.reply.probabilities.size()) / 16,
          first ? 0.0 : 1.0};
}

double chance(const PassPolicy::Features& model, const PassPolicy::Features& features) {
  double z = 0;
  for (int i = 0; i < PassPolicy::kFeatures; ++i) z += model[i] * features[i];
  return 1 / (1 + std::exp(-z));
}

}  // namespace arrcoc::asking
