// Fitting a Calibration to what the model does on questions that were held aside.
#pragma once

#include "arrcoc/bundle.h"
#include "lab/measure/measure.h"
#include "models/tiny/kinds.h"
#include "models/tiny/signs.h"

namespace arrcoc::fitting {

inline constexpr int kFitBudgets[] = {64, 96, 128, 180, 256, 400};

// One question at every budget that was tried.
struct Trial {
  std::optional<Complexity> complexity;  // as its maker says; Query::complexity is what it looks
  Query query;
  double expected = 0;  // e of Calibration: a neutral one gives it as the need
  std::vector<tiny::ReadSigns> signs;
  std::vector<bool> right;
};
using Trials = std::vector<Trial>;

struct Targets {
  double mean_tokens = 143;    // at most; suites ask for a little more, and their bar is 150
  double simple_share = 0.45;  // of the complex questions' mean, at most; the bar is a half
  double sure = 0.88;          // share of answers above the threshold that are right, at least
  double sure_each = 0.75;     // the same in every set alone
};

// How confidence fits one set of questions.
struct ConfidenceFit {
  std::string name;
  int questions = 0;
  double right = 0;                          // share
  double error_before = 0, error_after = 0;  // expected calibration error, 10 bins
  double sure = 0, right_when_sure = 0;      // shares
};

struct CalibrationFit {
  Calibration calibration;
  double place = 0, kind = 0;  // tiny::SignWeights
  int questions = 0;
  double mean_tokens = 0, simple = 0, complex = 0;  // mean tokens
  double exact_match = 0, exact_match_180 = 0;      // expected with these budgets; all at 180
  bool met = false;                                 // both targets of tokens
  std::vector<ConfidenceFit> confidence;            // scenes first, then the folders
};

// Questions of one folder of real pictures, at kRealBudgets.
inline constexpr int kRealBudgets[] = {180, 400};
struct RealTrials {
  std::string name;
  Trials trials;
};

// asker: of a bundle with a neutral Calibration; kinds: of its folder, may be null. Questions
// without a known answer are left out.
Trials try_budgets(const Asker& asker, const tiny::KindTable* kinds,
                   const measuring::GroupSource& source, std::span<const int> budgets,
                   const std::function<void(int)>& done);
// Budgets and confidence. Budgets are fitted on scenes, which have questions of every complexity;
// confidence on scenes and folders, each of them with the same weight.
CalibrationFit fit_calibration(const Trials& scenes, const std::vector<RealTrials>& real,
                               uint64_t weights, const Targets& targets = {});

}  // namespace arrcoc::fitting
