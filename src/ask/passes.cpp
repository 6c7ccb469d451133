#include "ask/passes.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "arrcoc/error.h"

namespace arrcoc::asking {

namespace {

constexpr int kFineLevel = 1;    // seen finely: leaves of this level or below
constexpr float kBeside = 0.7F;  // attention that the cells beside a read one get

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
Map from_focus(const Allocation& allocation, const Map& shape, const std::vector<float>& focus) {
  Map read = like(shape, 0);
  const std::vector<Box> boxes = allocating::token_boxes(allocation);
  const size_t n = std::min(focus.size(), boxes.size());
  float most = 1e-9F;
  for (size_t i = 0; i < n; ++i) most = std::max(most, focus[i]);
  for (size_t i = 0; i < n; ++i)
    under(boxes[i], read, true,
          [&](size_t cell) { read.values[cell] = std::max(read.values[cell], focus[i] / most); });
  Map out = read;
  for (int r = 0; r < out.rows; ++r)
    for (int c = 0; c < out.cols; ++c)
      for (int d : {-1, 1})
        if (c + d >= 0 && c + d < out.cols)
          out.at(r, c) = std::max(out.at(r, c), kBeside * read.at(r, c + d));
  return out;
}

Map read_from(const Pass& pass, const Map& attention) {
  const Allocation& allocation = pass.allocation;
  if (!pass.reply.focus.empty()) return from_focus(allocation, pass.relevance, pass.reply.focus);
  Map out = like(pass.relevance, 0);
  if (!attention.empty()) {
    out.values = resample(attention, out.rows, out.cols).values;
    return out;
  }
  float most = 1e-6F;
  for (const Leaf& leaf : allocation.leaves) most = std::max(most, leaf.relevance);
  for (const Leaf& leaf : allocation.leaves)
    if (leaf.level <= kFineLevel)
      under(allocating::box_of(allocation.geometry, leaf), out, false, [&](size_t i) {
        out.values[i] = 0.5F + 0.5F * std::clamp(leaf.relevance / most, 0.0F, 1.0F);
      });
  return out;
}

void measure_focus(Pass& pass) {
  const std::vector<float>& focus = pass.reply.focus;
  const size_t n = std::min(focus.size(), pass.allocation.leaves.size());
  double sum = 0, levels = 0;
  for (size_t i = 0; i < n; ++i) {
    sum += static_cast<double>(focus[i]);
    levels += static_cast<double>(focus[i]) * pass.allocation.leaves[i].level;
  }
  if (!(sum > 0)) return;
  pass.gathered = gathered({focus.begin(), focus.begin() + static_cast<std::ptrdiff_t>(n)});
  pass.detail = levels / sum;
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

void remember(Pass& pass, const Map& attention, History& history) {
  const Map read = read_from(pass, attention);
  if (history.seen.empty()) {
    history.seen = like(pass.relevance, 0);
    history.attention_accumulated = like(pass.relevance, 0);
  }
  for (size_t i = 0; i < history.seen.size(); ++i) {
    float& sum = history.attention_accumulated.values[i];
    sum = std::min(1.0F, sum + read.values[i]);
  }
  for (const Leaf& leaf : pass.allocation.leaves)
    if (leaf.level <= kFineLevel)
      under(allocating::box_of(pass.allocation.geometry, leaf), history.seen, false,
            [&](size_t i) { history.seen.values[i] = 1; });
  history.attention_previous = read;
  ++history.passes;
  history.uncertainty = pass.uncertainty;
  pass.attention = read;
  measure_focus(pass);
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
