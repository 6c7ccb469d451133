// Fitting the small policies of looking and allocating on scenes: balancer "learned", allocator
// "experts".
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "arrcoc/bundle.h"

namespace arrcoc::fitting {

struct PolicyOptions {
  int questions = 400;  // three of four are fitted on, the others measured on
  uint64_t seed = 1;
  int steps = 400;  // of the gradient descent for weights and gate
  // Scorers of the tie to the question, or "network".
  std::vector<std::string> couplings = {"lexical", kNetwork};
};

// Share of the boxes (answer and evidence) under leaves of at most 32 pixels, on questions that
// were not fitted on.
struct PolicyRow {
  std::string coupling, what;  // what: balancing, allocation
  double at_100 = 0, at_180 = 0;
  int questions = 0;
};

struct PolicyReport {
  std::string json;  // {"balancer": ..., "experts": ..., "measured": [...]}: policies.json
  std::vector<PolicyRow> rows;
};

// network: who couples as "network"; may be null where options.couplings does not name it. `done`
// hears how many of how many questions have been looked at. Deterministic from the seed.
PolicyReport fit_policies(const PolicyOptions& options, std::shared_ptr<const Looker> network,
                          const std::function<void(int, int)>& done = {});

}  // namespace arrcoc::fitting
