// The adaptive balancer: a small policy turns the question and the maps' statistics into weights,
// and anchor questions into tensions. Its numbers are set by hand; `learned` has fitted ones.
#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "look/balance/balancers.h"
#include "look/balance/policy.h"

namespace arrcoc::balancing {

namespace {

// A coupling map that varies earns weight, one that is flat loses it; a vague question leaves more
// to salience.
constexpr Policy kPolicy{
    {0.2F, 0.2F, -0.9F},
    {{//  spec  vague  compl reads | info: mean max std | salience       | coupling
      {-0.5F, 0.2F, 0.0F, 0.4F, 0, 0, 1.0F, 0, 0, 0, 0, 0, -1.0F},
      {-0.5F, 0.6F, 0.0F, -0.8F, 0, 0, 0, 0, 0, 1.0F, 0, 0, -1.0F},
      {1.2F, -0.8F, 0.0F, 0.3F, 0, 0, 0, 0, 0, 0, -0.5F, 1.0F, 5.0F}}}};

class Adaptive : public Balancer {
 public:
  Relevance balance(const Knowledge& k, const Query& query,
                    const BalanceOptions& options) const override {
    Relevance out;
    out.weights = weights_by(kPolicy, describe(k, query), options.sigmoid_weights);
    out.tensions = tensions_for(query);
    // compress leans on information, particularize on the question.
    Weights w = out.weights;
    w.information *= 0.5F + out.tensions.compress;
    w.coupling *= 1.5F - out.tensions.compress;
    const Map raw = min_max(mix(k, w));
    // focus < 1 adds what lies far from the best; exploit < 1 lifts what does not stand out.
    const Map diversity = spatial_diversity(raw);
    out.map = raw;
    for (size_t i = 0; i < raw.size(); ++i) {
      out.map.values[i] += (1 - out.tensions.focus) * 0.3F * diversity.values[i] +
                           (1 - out.tensions.exploit) * 0.1F * (1 - k.salience.values[i]);
    }
    out.map = min_max(out.map);
    return out;
  }
};

// Concept words around the three anchor questions.
struct Anchor {
  Tensions tensions;
  std::array<std::string_view, 18> words;
};
constexpr std::array<Anchor, 3> kAnchors{{
    {{.15F, .60F, .85F},  // "tiny formula"
     {"tiny", "small", "formula", "equation", "read", "exact", "number", "digit", "value", "price",
      "total", "date", "text", "written", "label", "code", "fine", "print"}},
    {{.80F, .35F, .25F},  // "describe the scene"
     {"describe", "scene", "overall", "picture", "image", "about", "summary", "summarize",
      "happening", "general", "overview", "caption", "photo", "setting", "mood", "place", "kind",
      "going"}},
    {{.50F, .15F, .40F},  // "find anomalies"
     {"find", "anomalies", "anomaly", "unusual", "wrong", "odd", "different", "defect", "defects",
      "hidden", "spot", "search", "strange", "missing", "error", "errors", "suspicious", "where"}},
}};
constexpr Tensions kNeutral{.40F, .60F, .60F};

}  // namespace

Tensions tensions_for(const Query& query) {
  // Softmax over how many concept words of each anchor occur; the neutral point holds the rest.
  std::array<float, 4> weight{};
  float sum = 0;
  for (size_t a = 0; a < kAnchors.size(); ++a) {
    int hits = 0;
    for (const std::string& word : query.words) {
      hits += std::find(kAnchors[a].words.begin(), kAnchors[a].words.end(), word) !=
              kAnchors[a].words.end();
    }
    weight[a] = std::exp(3.0F * static_cast<float>(std::min(hits, 3))) - 1.0F;
    sum += weight[a];
  }
  weight[3] = 1.0F;
  sum += weight[3];
  Tensions out{0, 0, 0};
  for (size_t a = 0; a < 4; ++a) {
    const Tensions& t = a < 3 ? kAnchors[a].tensions : kNeutral;
    out.compress += t.compress * weight[a] / sum;
    out.exploit += t.exploit * weight[a] / sum;
    out.focus += t.focus * weight[a] / sum;
  }
  return out;
}

std::unique_ptr<Balancer> make_adaptive() { return std::make_unique<Adaptive>(); }

}  // namespace arrcoc::balancing
