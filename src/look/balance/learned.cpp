// The learned balancer: weights by a policy that was fitted on scenes, the weighted sum as the map.
#include "look/balance/balancers.h"
#include "look/balance/policy.h"

namespace arrcoc::balancing {
namespace {

class Learned : public Balancer {
 public:
  Relevance balance(const Knowledge& k, const Query& query,
                    const BalanceOptions& options) const override {
    Relevance out;
    if (options.learned) {
      out.weights = weights_by(*options.learned, describe(k, query), options.sigmoid_weights);
    } else {
      out.weights = weight_preset(options.preset);
      out.fallbacks.emplace_back("no learned balancing is there: weights of preset " +
                                 options.preset);
    }
    out.map = min_max(mix(k, out.weights));
    return out;
  }
};

}  // namespace

std::unique_ptr<Balancer> make_learned() { return std::make_unique<Learned>(); }

}  // namespace arrcoc::balancing
