#include <algorithm>
#include <cmath>
#include <numeric>

#include "arrcoc/error.h"
#include "look/balance/balancers.h"

namespace arrcoc {

namespace {

struct Preset {
  const char* name;
  Weights weights;
};
constexpr Preset kPresets[] = {
    {"vervaeke", {0.3F, 0.3F, 0.4F}},  // information, salience, query coupling
    {"symbolic", {0.3F, 0.2F, 0.5F}},  // with the symbolic salience: text, faces
    {"thirds", {1.0F / 3, 1.0F / 3, 1.0F / 3}},
    {"query", {0, 0, 1}},
    {"information", {1, 0, 0}},
    {"salience", {0, 1, 0}},
    {"no-information", {0, 0.43F, 0.57F}},
    {"no-salience", {0.43F, 0, 0.57F}},
    {"no-query", {0.5F, 0.5F, 0}},
};

}  // namespace

Weights weight_preset(const std::string& name) {
  for (const Preset& preset : kPresets) {
    if (name == preset.name) return preset.weights;
  }
  std::string known;
  for (const Preset& preset : kPresets)
    known += std::string(known.empty() ? "" : ", ") + preset.name;
  throw Error(ErrorCode::not_found, "no weight preset '" + name + "'; known: " + known);
}

std::vector<std::string> weight_preset_names() {
  std::vector<std::string> names;
  for (const Preset& preset : kPresets) names.emplace_back(preset.name);
  return names;
}

namespace balancing {

Map spatial_diversity(const Map& raw) {
  Map out = like(raw, 0.0F);
  const int n = static_cast<int>(raw.size());
  if (n == 0) return out;
  const int top = std::max(1, std::min(50, n / 5));
  std::vector<int> order(n);
  std::iota(order.begin(), order.end(), 0);
  // Ties by index keep the result the same everywhere.
  std::partial_sort(order.begin(), order.begin() + top, order.end(), [&](int a, int b) {
    return raw.values[a] != raw.values[b] ? raw.values[a] > raw.values[b] : a < b;
  });
  float largest = 0;
  for (int r = 0; r < raw.rows; ++r) {
    for (int c = 0; c < raw.cols; ++c) {
      int nearest = raw.rows * raw.rows + raw.cols * raw.cols;
      for (int k = 0; k < top; ++k) {
        const int dr = r - order[k] / raw.cols;
        const int dc = c - order[k] % raw.cols;
        nearest = std::min(nearest, dr * dr + dc * dc);
      }
      out.at(r, c) = std::sqrt(static_cast<float>(nearest));
      largest = std::max(largest, out.at(r, c));
    }
  }
  if (largest > 0) {
    for (float& v : out.values) v /= largest;
  }
  return out;
}

namespace {

constexpr float kFlat = 1e-6F;  // a map whose values differ by less says nothing

bool flat(const Map& map) {
  if (map.empty()) return true;  // nobody asked for it
  const auto [low, high] = std::minmax_element(map.values.begin(), map.values.end());
  return *high - *low < kFlat;
}

bool all_flat(const Knowledge& k, const Weights& w) {
  return (w.information == 0 || flat(k.information)) && (w.salience == 0 || flat(k.salience)) &&
         (w.coupling == 0 || flat(k.coupling));
}

// The same everywhere: nothing at all, or noise of one kind all over. The variance alone cannot
// tell: one line of small print on a large page has hardly any, but it is no noise.
bool even(const Map& information) {
  const auto [low, high] =
      std::minmax_element(information.values.begin(), information.values.end());
  return *high < 0.05F || (*low > 0.2F && *high - *low < 0.35F * mean(information));
}

// Only where all maps were wanted: a map that is used alone is believed.
bool is_void(const Knowledge& k, float threshold) {
  if (k.information.empty() || k.salience.empty()) return false;
  return even(k.information) && variance(k.salience) + variance(k.coupling) < threshold;
}

Relevance uniform(const Knowledge& knowledge) {
  Relevance out;
  out.map = like(knowledge.coupling, 0.5F);
  out.weights = {0, 0, 0};
  out.fallbacks.emplace_back("nothing stands out: uniform map");
  return out;
}

}  // namespace

bool coupling_is_flat(const Knowledge& knowledge, const Balancer::Reads& reads) {
  return !reads.information && !reads.salience && flat(knowledge.coupling);
}

Relevance balance(const Knowledge& knowledge, const Query& query, const std::string& balancer,
                  const BalanceOptions& options) {
  return balance(knowledge, query, *registry<Balancer>().make(balancer), balancer, options);
}

Relevance balance(const Knowledge& knowledge, const Query& query, const Balancer& strategy,
                  const std::string& balancer, const BalanceOptions& options) {
  const Map& shape = knowledge.coupling;
  for (const Map* other : {&knowledge.information, &knowledge.salience})
    if (shape.empty() ||
        (!other->empty() && (other->rows != shape.rows || other->cols != shape.cols)))
      throw Error(ErrorCode::bad_argument, "[balance] the three maps must share one shape");
  if (is_void(knowledge, options.void_variance)) return uniform(knowledge);
  BalanceOptions chosen = options;
  std::string fallback;
  // A preset that listens to one map only must not go blind when that map is empty.
  if (all_flat(knowledge, weight_preset(options.preset)) && !knowledge.information.empty() &&
      !knowledge.salience.empty()) {
    chosen.preset = "vervaeke";
    fallback = "the maps of preset '" + options.preset + "' are flat: all three are used";
  }
  Relevance out = strategy.balance(knowledge, query, chosen);
  if (!fallback.empty()) out.fallbacks.push_back(fallback);
  require_finite(out.map, "balancing (" + balancer + ")");
  for (float& v : out.map.values) v = std::clamp(v, 0.0F, 1.0F);
  return out;
}

}  // namespace balancing
}  // namespace arrcoc
