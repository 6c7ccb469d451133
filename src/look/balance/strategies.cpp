#include "look/balance/balancers.h"

namespace arrcoc {

template <>
Registry<Balancer>& registry<Balancer>() {
  static Registry<Balancer> balancers = [] {
    using namespace balancing;
    Registry<Balancer> r;
    r.add("adaptive", "weights and tensions chosen from the question and the maps", make_adaptive);
    r.add("learned", "weights by a policy that was fitted on scenes (arrcoc train --policies)",
          make_learned);
    r.add("outcome", "weights and tensions by a network that was trained with answers' rewards",
          [] { return make_outcome(); });
    r.add("opponent", "three fixed tensions: compress, exploit, focus", make_opponent);
    r.add("opponent-softmax", "fixed tensions as gain, rank boost and temperature",
          make_opponent_softmax);
    r.add("fixed", "weighted sum of the three maps; of one map alone, that map as it is",
          make_fixed);
    r.alias("additive", "fixed");
    r.add("multiplicative", "weighted product of the three maps", make_multiplicative);
    r.add("importance", "0.6 coupling + 0.4 hotspots", make_importance);
    return r;
  }();
  return balancers;
}

}  // namespace arrcoc
