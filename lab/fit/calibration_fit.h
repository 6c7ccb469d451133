// Fitting a Calibration to what the model does on held-out scenes.
#pragma once

#include "arrcoc/bundle.h"
#include "lab/measure/measure.h"

namespace arrcoc::fitting {

inline constexpr int kFitBudgets[] = {64, 96, 128, 180, 256, 400};

// One question at every budget of kFitBudgets.
struct Trial {
  std::optional<Complexity> complexity;  // as its maker says; Query::complexity is what it looks
  Query query;
  double expected = 0;  // e of Calibration: a neutral one gives it as the need
  std::vector<double> likelihood;
  std::vector<bool> right;
};

struct Targets {
  double mean_tokens = 172;    // at most; the bar is 180
  double simple_share = 0.45;  // of the complex questions' mean, at most; the bar is a half
};

struct CalibrationFit {
  Calibration calibration;
  int questions = 0;
  double mean_tokens = 0, simple = 0, complex = 0;  // mean tokens
  double exact_match = 0, exact_match_180 = 0;      // expected with these budgets; all at 180
  double error_before = 0, error_after = 0;         // expected calibration error, 10 bins
  bool met = false;                                 // both targets
};

// asker: of a bundle with a neutral Calibration.
std::vector<Trial> try_budgets(const Asker& asker, const measuring::GroupSource& source,
                               const std::function<void(int)>& done);
CalibrationFit fit_calibration(const std::vector<Trial>& trials, uint64_t weights,
                               const Targets& targets = {});

}  // namespace arrcoc::fitting
