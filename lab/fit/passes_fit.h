// Learning from logged passes when another look pays (PassPolicy).
#pragma once

#include <map>

#include "lab/measure/measure.h"

namespace arrcoc::fitting {

// One look at one question.
struct LoggedLook {
  PassPolicy::Features features{};
  bool right = false;
  int64_t tokens = 0;
  double confidence = 0, gathered = -1, uncertainty = 1;
};
// A question with its first look and every manner of a second one.
struct LoggedPasses {
  LoggedLook first;
  std::map<Manner, LoggedLook> again;  // closer, wider, elsewhere
};

// Asks every question three times, each with another manner of a second look. budget: of a single
// look. done: hears how many questions have been asked.
std::vector<LoggedPasses> log_passes(const Asker& asker, const measuring::GroupSource& source,
                                     const std::string& budget,
                                     const std::function<void(int)>& done);

// Logistic regressions; a further pass must then be worth so much that all passes together cost
// what single looks would. Error{bad_argument} without any passes.
PassPolicy fit_passes(const std::vector<LoggedPasses>& logged);

// What at most three passes would have come to, means over questions.
struct PassOutcome {
  double right = 0, tokens = 0, passes = 0;
};
PassOutcome single_look(const std::vector<LoggedPasses>& logged);  // with all of the budget
PassOutcome first_look(const std::vector<LoggedPasses>& logged);
PassOutcome by_rules(const std::vector<LoggedPasses>& logged, const PassRules& rules);
PassOutcome by_policy(const std::vector<LoggedPasses>& logged, const PassPolicy& policy);

}  // namespace arrcoc::fitting
