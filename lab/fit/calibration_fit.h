// Fitting a Calibration to what the model does on held-out scenes.
#pragma once

#include "lab/measure/measure.h"

namespace arrcoc::answering {

inline constexpr int kFitBudgets[] = {64, 96, 128, 180, 256, 400};

// One question at every budget of kFitBudgets.
struct Trial {
  std::string complexity;
  Query query;
  std::shared_ptr<const tiny::Opinion> opinion;
  std::vector<double> likelihood;
  std::vector<bool> right;
};

struct Targets {
  double mean_tokens = 172;    // at most; the bar is 180
  double simple_share = 0.45;  // of the complex questions' mean, at most; the bar is a half
};

struct Fit {
  Calibration calibration;
  int questions = 0;
  double mean_tokens = 0, simple = 0, complex = 0;  // mean tokens
  double exact_match = 0, exact_match_180 = 0;      // expected with these budgets; all at 180
  double error_before = 0, error_after = 0;         // expected calibration error, 10 bins
  bool met = false;                                 // both targets
};

std::vector<Trial> try_budgets(const Answerer& answerer, const GroupSource& source,
                               const std::function<void(int)>& done);
Fit fit(const std::vector<Trial>& trials, uint64_t weights, const Targets& targets = {});

}  // namespace arrcoc::answering
