// The learned balancer: weights by a policy that was fitted on scenes, the weighted sum as the map.
#include <memory>

#include "base/installed.h"
#include "look/balance/balancers.h"
#include "look/balance/policy.h"

namespace arrcoc::balancing {
namespace {

Installed<Policy> installed;

class Learned : public Balancer {
 public:
  explicit Learned(std::shared_ptr<const Policy> policy) : policy_(std::move(policy)) {}
  Relevance balance(const Knowledge& k, const Query& query,
                    const BalanceOptions& options) const override {
    Relevance out;
    out.tensions = tensions_for(query);
    if (!policy_) {
      out.weights = weight_preset(options.preset);
      out.fallbacks.emplace_back("no learned balancing is installed: weights of preset " +
                                 options.preset);
    } else {
      out.weights = weights_by(*policy_, describe(k, query), options.sigmoid_weights);
    }
    out.map = min_max(mix(k, out.weights));
    return out;
  }

 private:
  std::shared_ptr<const Policy> policy_;
};

}  // namespace

void install_policy(const std::string& json) {
  installed.put(json.empty() ? nullptr : std::make_shared<const Policy>(policy_from_json(json)));
}

std::unique_ptr<Balancer> make_learned() { return std::make_unique<Learned>(installed.get()); }

}  // namespace arrcoc::balancing
