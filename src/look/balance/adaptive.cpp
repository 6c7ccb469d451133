// The adaptive balancer: a small policy turns the question and the maps' statistics into weights,
// and anchor questions into tensions. Its numbers are set by hand; `learned` has fitted ones.
#include <algorithm>
#include <cmath>
#include <utility>

#include "base/words.h"
#include "look/balance/balancers.h"
#include "look/balance/policy.h"

namespace arrcoc::balancing {

namespace {

// A coupling map that varies earns weight, one that is flat loses it; a vague question leaves more
// to salience.
constexpr BalancePolicy kPolicy{
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
    const Tensions tensions = tensions_for(query);
    out.tensions = tensions;
    // compress leans on information, particularize on the question.
    Weights w = out.weights;
    w.information *= 0.5F + tensions.compress;
    w.coupling *= 1.5F - tensions.compress;
    const Map raw = min_max(mix(k, w));
    // focus < 1 adds what lies far from the best; exploit < 1 lifts what does not stand out.
    const Map diversity = spatial_diversity(raw);
    out.map = raw;
    for (size_t i = 0; i < raw.size(); ++i) {
      out.map.values[i] += (1 - tensions.focus) * 0.3F * diversity.values[i] +
                           (1 - tensions.exploit) * 0.1F * (1 - k.salience.values[i]);
    }
    out.map = min_max(out.map);
    return out;
  }
};

// Tensions at the anchor questions (data/words/tensions.txt), and of questions far from all of
// them.
struct Anchors {
  WordFile file = word_file("tensions");
  std::vector<WordLine> lines = file.lines("anchors", 3);
};
constexpr Tensions kNeutral{.40F, .60F, .60F};

}  // namespace

std::unique_ptr<Balancer> make_adaptive() { return std::make_unique<Adaptive>(); }

Tensions tensions_for(const Query& query) {
  // Softmax over how many concept words of each anchor occur; the neutral point holds the rest.
  float sum = 0;
  std::vector<std::pair<Tensions, float>> weighted;
  const auto add = [&](const Tensions& at, float weight) {
    weighted.emplace_back(at, weight);
    sum += weight;
  };
  for (const WordLine& anchor : read_once<Anchors>().lines) {
    const auto hits = std::count_if(query.words.begin(), query.words.end(), [&](const auto& word) {
      return std::find(anchor.words.begin(), anchor.words.end(), word) != anchor.words.end();
    });
    add({anchor.numbers[0], anchor.numbers[1], anchor.numbers[2]},
        std::exp(3.0F * static_cast<float>(std::min<int64_t>(hits, 3))) - 1.0F);
  }
  add(kNeutral, 1.0F);
  Tensions out{0, 0, 0};
  for (const auto& [t, weight] : weighted) {
    out.compress += t.compress * weight / sum;
    out.exploit += t.exploit * weight / sum;
    out.focus += t.focus * weight / sum;
  }
  return out;
}

}  // namespace arrcoc::balancing
