// Balancer "outcome": weights and tensions by a small network that was trained with the rewards of
// answers (`arrcoc train --balancer`). It reads the question's words, what kind of answer they want
// and nine statistics of the three maps. With all outputs 0 it is close to the coupling map alone.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "arrcoc/look.h"

namespace arrcoc {

struct BalanceNet {
  static constexpr int kBuckets = 128;  // words are hashed into so many
  static constexpr int kWord = 16;      // width of the question's embedding
  static constexpr int kStated = 24;    // what the question asks for, and the maps' statistics
  static constexpr int kHidden = 32;
  static constexpr int kOutputs = 6;  // three weights, three tensions
  using Outputs = std::array<float, kOutputs>;

  std::vector<float> words;              // [kBuckets][kWord]
  std::vector<float> middle, deviation;  // [kStated]: stated features are (x - middle) / deviation
  std::vector<float> in, in_bias;        // [kHidden][kWord + kStated], [kHidden]
  std::vector<float> out, out_bias;      // [kOutputs][kHidden], [kOutputs]
  bool operator==(const BalanceNet&) const = default;
};
// Error{bad_json} for unknown keys, other shapes and what is not finite.
BalanceNet balance_net_from_json(const std::string& text);
std::string to_json(const BalanceNet& net);  // four digits a number

// A Looker that brings the net that was fitted for its maps; the bundle's network does.
class BringsBalance {
 public:
  virtual ~BringsBalance() = default;
  virtual std::shared_ptr<const BalanceNet> balance_net() const = 0;  // may be null
};

// A Balancer that needs it: make_looker() gives it the net of whoever couples.
class NetBalancer : public Balancer {
 public:
  virtual void use(std::shared_ptr<const BalanceNet> net) = 0;
};

namespace balancing {

struct BalanceFeatures {
  std::vector<int> buckets;                       // of the question's words, each occurrence
  std::array<float, BalanceNet::kStated> stated;  // 15 of the question, then nine of the maps
};
inline constexpr int kOfMaps = 15;  // where the maps' statistics begin
BalanceFeatures balance_features(const Knowledge& knowledge, const Query& query);
BalanceNet::Outputs run(const BalanceNet& net, const BalanceFeatures& features);

struct Stance {
  Weights weights;
  Tensions tensions;
};
// The coupling map alone, as it is: what is left when a part of the balance is taken away.
inline constexpr Stance kNeutral{{0, 0, 1}, {0, 0.5F, 1}};
Stance stance(const BalanceNet::Outputs& outputs);
// (0.4 T1 + 0.3 (T2 - 0.5) + 0.3 T3) / 0.7 in [0,1], raw = the weighted sum:
//   T1 = compress x information + (1 - compress) x raw
//   T2 = exploit x salience + (1 - exploit) x (1 - salience)
//   T3 = raw + (1 - focus) x 0.3 x distance to the nearest of the highest cells
Relevance shaped(const Knowledge& knowledge, const Stance& stance);

}  // namespace balancing
}  // namespace arrcoc
