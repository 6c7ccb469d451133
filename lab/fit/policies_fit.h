// Fitting the small policies of the pipeline on scenes: balancer "learned", allocator "experts".
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace arrcoc::training {

struct PolicyOptions {
  int questions = 400;  // three of four are fitted on, the others measured on
  uint64_t seed = 1;
  int steps = 400;  // of the gradient descent for weights and gate
  std::vector<std::string>
      couplings;  // scorers of the tie to the question; empty: lexical, realizer
};

// Share of the boxes (answer and evidence) under leaves of at most 32 pixels, on questions that
// were not fitted on.
struct PolicyRow {
  std::string coupling, what;  // "additive", "adaptive", "learned", ...; "quadtree", "experts"
  double at_100 = 0, at_180 = 0;
  int questions = 0;
};

struct PolicyReport {
  std::string json;  // {"balancer": ..., "experts": ..., "measured": [...]}: policies.json
  std::vector<PolicyRow> rows;
};

// `done` hears how many of how many questions have been looked at. Deterministic from the seed.
PolicyReport fit_policies(const PolicyOptions& options,
                          const std::function<void(int, int)>& done = {});

// Installs both parts of a policies.json (balancing::install_policy, allocating::install_experts).
// Error{bad_json}.
void install_policies(const std::string& json);

}  // namespace arrcoc::training
