// Learning from what people thought of answers: the tier head (how many tokens a question needs) of
// the bundled model, and nothing else.
//
//   auto report = training::learn_from(examples, options);   // examples: of serving::ExampleLog
//   if (report.kept) ...                                      // options.out has the new weights
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "arrcoc/picture.h"

namespace arrcoc::training {

// One rated answer. A good one says that so many tokens were enough, a bad one that they were not.
struct Feedback {
  Picture picture;
  std::string question;
  int64_t tokens = 0;  // that were spent
  int64_t native = 0;  // that there were: a bad answer that saw everything teaches nothing
  bool good = true;
};

// How well a folder of weights does with budgets of its own choice.
struct GuardScore {
  int questions = 0;
  int right = 0;
  double mean_tokens = 0;
};

struct FeedbackOptions {
  std::string weights;  // folder to start from
  std::string out;      // folder to write, may be the same; replaced as a whole or not at all
  int steps = 200;
  double rate = 2e-3;
  double anchor = 0.1;  // weight of KL(old | new): how far the head may stray from what it said
  // The new head is kept when it explains a fifth of the examples, which it did not learn from,
  // better than the old one, and on the guard gives no fewer right answers without more tokens than
  // before or kGuardTokens, whichever is more.
  std::vector<std::string> suites = {"documents", "charts"};
  int guard_questions = 50;                                    // a suite
  std::function<GuardScore(const std::string& folder)> guard;  // instead of the suites
};
inline constexpr double kGuardTokens = 180;
inline constexpr int kLeastFeedback = 20;  // examples that teach something

struct FeedbackReport {
  int good = 0, bad = 0;                       // examples that teach something
  int held_out = 0;                            // of those
  double loss_before = 0, loss_after = 0;      // of the held-out ones, mean
  double tokens_before = 0, tokens_after = 0;  // that the head asks for on them, mean
  GuardScore guard_before, guard_after;
  bool kept = false;
  std::string why;  // one line
};

// Error{bad_argument} for fewer than kLeastFeedback examples that teach something, Error{io} when
// `out` cannot be written. calibration.json goes along with the new weights.
FeedbackReport learn_from(const std::vector<Feedback>& examples, const FeedbackOptions& options);

}  // namespace arrcoc::training
