#include <gtest/gtest.h>

#include "arrcoc/error.h"
#include "lab/fit/calibration_fit.h"

namespace arrcoc::fitting {
namespace {

// Two kinds of questions; the harder need 256 tokens. Half of all confident answers are wrong.
std::vector<Trial> trials() {
  std::vector<Trial> out;
  for (int i = 0; i < 120; ++i) {
    const bool hard = i % 3 == 0;
    Trial t;
    t.complexity = hard ? Complexity::complex : Complexity::simple;
    t.query = parse_query("what is it?");
    t.expected = hard ? 0.55 : 0.05;
    for (const int budget : kFitBudgets) {
      t.right.push_back(i % 2 == 0 && budget >= (hard ? 256 : 64));
      t.likelihood.push_back(0.95);
    }
    out.push_back(t);
  }
  return out;
}

TEST(CalibrationFit, GivesHardQuestionsTheTokensThatTheyNeedWithinTheTargets) {
  const CalibrationFit found = fit_calibration(trials(), 7);
  EXPECT_TRUE(found.met);
  EXPECT_LE(found.mean_tokens, Targets{}.mean_tokens);
  EXPECT_LE(found.simple, Targets{}.simple_share * found.complex);
  EXPECT_GE(found.complex, 230);
  EXPECT_GT(found.exact_match, found.exact_match_180);
  EXPECT_EQ(found.calibration.weights, 7U);
}

TEST(CalibrationFit, MakesConfidenceMeanHowOftenItIsRight) {
  const CalibrationFit found = fit_calibration(trials(), 7);
  EXPECT_NEAR(calibrated(found.calibration, 0.95), 0.5, 0.1);
  EXPECT_LT(found.error_after, 0.1);
  EXPECT_GT(found.error_before, 0.3);
  EXPECT_THROW(fit_calibration({}, 7), Error);
}

}  // namespace
}  // namespace arrcoc::fitting
