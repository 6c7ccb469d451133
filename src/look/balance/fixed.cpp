// Balancers without a policy: sums, products and the two static forms of opponent processing.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "look/balance/balancers.h"

namespace arrcoc::balancing {

Map mix(const Knowledge& k, const Weights& w) {
  Map out = like(k.coupling, 0.0F);
  const std::pair<const Map*, float> parts[] = {
      {&k.information, w.information}, {&k.salience, w.salience}, {&k.coupling, w.coupling}};
  for (const auto& [map, weight] : parts) {
    if (weight == 0) continue;
    for (size_t i = 0; i < out.size(); ++i) out.values[i] += weight * map->values[i];
  }
  return out;
}

namespace {

// A mix is stretched to [0,1]. One map alone is passed on as it is: the network's values are
// probabilities, and the model that reads the tokens was trained with them.
class Fixed : public Balancer {
 public:
  Reads reads(const BalanceOptions& options) const override {
    const Weights w = weight_preset(options.preset);
    return {w.information > 0, w.salience > 0, w.coupling > 0};
  }
  Relevance balance(const Knowledge& k, const Query&,
                    const BalanceOptions& options) const override {
    Relevance out;
    out.weights = weight_preset(options.preset);
    const Weights& w = out.weights;
    out.map = mix(k, w);
    if (std::max({w.information, w.salience, w.coupling}) < 1) out.map = min_max(out.map);
    return out;
  }
};

class Multiplicative : public Balancer {
 public:
  Relevance balance(const Knowledge& k, const Query&,
                    const BalanceOptions& options) const override {
    Relevance out;
    out.weights = weight_preset(options.preset);
    const Weights& w = out.weights;
    constexpr float kFloor = 0.05F;  // one zero must not wipe out the other two
    out.map = like(k.information, 0.0F);
    for (size_t i = 0; i < out.map.size(); ++i) {
      out.map.values[i] = std::pow(kFloor + k.information.values[i], w.information) *
                          std::pow(kFloor + k.salience.values[i], w.salience) *
                          std::pow(kFloor + k.coupling.values[i], w.coupling);
    }
    out.map = min_max(out.map);
    return out;
  }
};

// 0.6 query + 0.4 nearness to a hotspot (a bump of about a tenth of the picture around each).
class Importance : public Balancer {
 public:
  Reads reads(const BalanceOptions&) const override { return {false, true, true}; }
  Relevance balance(const Knowledge& k, const Query&, const BalanceOptions&) const override {
    Relevance out;
    out.weights = {0, 0.4F, 0.6F};
    out.map = like(k.coupling, 0.0F);
    const float reach = 0.1F * std::max(out.map.cell_width * static_cast<float>(out.map.cols),
                                        out.map.cell_height * static_cast<float>(out.map.rows));
    for (int r = 0; r < out.map.rows; ++r) {
      for (int c = 0; c < out.map.cols; ++c) {
        const float x = (static_cast<float>(c) + 0.5F) * out.map.cell_width;
        const float y = (static_cast<float>(r) + 0.5F) * out.map.cell_height;
        float hot = 0;
        for (const Hotspot& h : k.hotspots) {
          const float d2 = (x - h.x) * (x - h.x) + (y - h.y) * (y - h.y);
          hot = std::max(hot, h.strength * std::exp(-d2 / (2 * reach * reach)));
        }
        out.map.at(r, c) = 0.6F * k.coupling.at(r, c) + 0.4F * hot;
      }
    }
    out.map = min_max(out.map);
    return out;
  }
};

// Off the midpoint on purpose: at exploit = 0.5 the second tension is constant.
constexpr Tensions kStatic{0.35F, 0.65F, 0.6F};

// T1 = a info + (1-a) query; T2 = b salience + (1-b)(1-salience);
// T3 = c raw + (1-c)(raw + 0.3 diversity); 0.4 T1 + 0.3 T2 + 0.3 T3, min-max.
class Opponent : public Balancer {
 public:
  Relevance balance(const Knowledge& k, const Query&,
                    const BalanceOptions& options) const override {
    Relevance out;
    out.weights = weight_preset(options.preset);
    out.tensions = kStatic;
    const Map raw = mix(k, out.weights);
    const Map diversity = spatial_diversity(raw);
    const auto [a, b, c] = std::tuple(kStatic.compress, kStatic.exploit, kStatic.focus);
    out.map = like(raw, 0.0F);
    for (size_t i = 0; i < raw.size(); ++i) {
      const float s = k.salience.values[i];
      const float t1 = a * k.information.values[i] + (1 - a) * k.coupling.values[i];
      const float t2 = b * s + (1 - b) * (1 - s);
      const float t3 = raw.values[i] + (1 - c) * 0.3F * diversity.values[i];
      out.map.values[i] = 0.4F * t1 + 0.3F * t2 + 0.3F * t3;
    }
    out.map = min_max(out.map);
    return out;
  }
};

float sigmoid(float v) { return 1.0F / (1.0F + std::exp(-v)); }
float logit(float p) { return std::log(p / (1 - p)); }

// raw x sigmoid(compress); the top int(N sigmoid(exploit)) x 1.2, the rest x 0.8; softmax with
// temperature 1 / (sigmoid(focus) + 0.1); min-max.
class OpponentSoftmax : public Balancer {
 public:
  Relevance balance(const Knowledge& k, const Query&,
                    const BalanceOptions& options) const override {
    Relevance out;
    out.weights = weight_preset(options.preset);
    out.tensions = kStatic;
    Map raw = mix(k, out.weights);
    const auto n = static_cast<int>(raw.size());
    std::vector<int> order(n);
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](int a, int b) { return raw.values[a] > raw.values[b]; });
    const float gain = sigmoid(logit(kStatic.compress));
    const int top = static_cast<int>(static_cast<float>(n) * sigmoid(logit(kStatic.exploit)));
    for (int i = 0; i < n; ++i) raw.values[order[i]] *= gain * (i < top ? 1.2F : 0.8F);
    const float temperature = 1.0F / (sigmoid(logit(kStatic.focus)) + 0.1F);
    const float peak = maximum(raw);
    float sum = 0;
    for (float& v : raw.values) sum += v = std::exp((v - peak) / temperature);
    for (float& v : raw.values) v /= sum;
    out.map = min_max(raw);
    return out;
  }
};

}  // namespace

std::unique_ptr<Balancer> make_fixed() { return std::make_unique<Fixed>(); }
std::unique_ptr<Balancer> make_multiplicative() { return std::make_unique<Multiplicative>(); }
std::unique_ptr<Balancer> make_importance() { return std::make_unique<Importance>(); }
std::unique_ptr<Balancer> make_opponent() { return std::make_unique<Opponent>(); }
std::unique_ptr<Balancer> make_opponent_softmax() { return std::make_unique<OpponentSoftmax>(); }

}  // namespace arrcoc::balancing
