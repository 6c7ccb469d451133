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
      t.signs.push_back({signs_of("what is it?", "it", {0.95F})});
    }
    out.push_back(t);
  }
  return out;
}

TEST(CalibrationFit, GivesHardQuestionsTheTokensThatTheyNeedWithinTheTargets) {
  const CalibrationFit found = fit_calibration(trials(), {}, 7);
  EXPECT_TRUE(found.met);
  EXPECT_LE(found.mean_tokens, Targets{}.mean_tokens);
  EXPECT_LE(found.simple, Targets{}.simple_share * found.complex);
  EXPECT_GE(found.complex, 230);
  EXPECT_GT(found.exact_match, found.exact_match_180);
  EXPECT_EQ(found.calibration.weights, 7U);
}

TEST(CalibrationFit, MakesConfidenceMeanHowOftenItIsRight) {
  const CalibrationFit found = fit_calibration(trials(), {}, 7);
  EXPECT_NEAR(calibrated(found.calibration, signs_of("what is it?", "it", {0.95F})), 0.5, 0.1);
  ASSERT_EQ(found.confidence.size(), 1U);
  EXPECT_LT(found.confidence[0].error_after, 0.1);
  EXPECT_GT(found.confidence[0].error_before, 0.3);
  EXPECT_THROW(fit_calibration({}, {}, 7), Error);
}

// Folders count as much as all scenes, however small: here their likely answers are all wrong.
TEST(CalibrationFit, RealQuestionsPullConfidenceAndTheThreshold) {
  Trials sure = trials();
  for (Trial& t : sure) t.right.assign(std::size(kFitBudgets), true);
  RealTrials real{"pages", {}};
  for (int i = 0; i < 10; ++i) {
    Trial t;
    t.query = parse_query("what is the sum?");
    t.signs.assign(std::size(kRealBudgets), {signs_of("what is the sum?", "12", {0.95F})});
    t.right.assign(std::size(kRealBudgets), false);
    real.trials.push_back(t);
  }
  const CalibrationFit alone = fit_calibration(sure, {}, 7),
                       both = fit_calibration(sure, {real}, 7);
  const AnswerSigns computed = signs_of("what is the sum?", "12", {0.95F});
  const AnswerSigns plain = signs_of("what is it?", "it", {0.95F});
  EXPECT_GT(calibrated(alone.calibration, computed), 0.9);
  EXPECT_LT(calibrated(both.calibration, computed), 0.1);
  EXPECT_GT(calibrated(both.calibration, plain), 0.9);
  ASSERT_EQ(both.confidence.size(), 2U);
  EXPECT_EQ(both.confidence[1].name, "pages");
  EXPECT_EQ(both.confidence[1].questions, 20);
  EXPECT_EQ(both.confidence[1].sure, 0);
  EXPECT_EQ(both.confidence[0].right_when_sure, 1);
  EXPECT_EQ(both.calibration.scale, alone.calibration.scale);  // budgets come from scenes
}

// Answers that look alike: those read where the question points are right.
TEST(CalibrationFit, LearnsWhatThePlaceSays) {
  RealTrials real{"pages", {}};
  for (int i = 0; i < 60; ++i) {
    Trial t;
    t.query = parse_query("what is it?");
    const bool there = i % 2 == 0;
    t.signs.assign(std::size(kRealBudgets),
                   {signs_of("what is it?", "it", {0.95F}), there ? 2.0 : -2.0});
    t.right.assign(std::size(kRealBudgets), there);
    real.trials.push_back(t);
  }
  const CalibrationFit found = fit_calibration(trials(), {real}, 7);
  const AnswerSigns same = signs_of("what is it?", "it", {0.95F});
  EXPECT_GT(found.place, 0.5);
  EXPECT_GT(tiny::calibrated({found.calibration, found.place}, {same, 2}), 0.8);
  EXPECT_LT(tiny::calibrated({found.calibration, found.place}, {same, -2}), 0.2);
}

// Nearly all is right but one set's middling answers: the threshold rises above them, unless no
// threshold helps that set.
TEST(CalibrationFit, ThresholdSuitsEverySet) {
  Trials sure = trials();
  for (Trial& t : sure) t.right.assign(std::size(kFitBudgets), true);
  std::vector<RealTrials> sets;
  for (const char* name : {"a", "b", "c", "d", "e", "f", "g", "h", "pages"}) {
    RealTrials set{name, {}};
    const bool pages = sets.size() == 8;
    for (int i = 0; i < 60; ++i) {
      Trial t;
      t.query = parse_query("what is it?");
      const bool likely = i % 2 == 0;
      t.signs.assign(std::size(kRealBudgets),
                     {signs_of("what is it?", "it", {likely ? 0.95F : 0.7F})});
      t.right.assign(std::size(kRealBudgets), !pages || likely || i % 3 == 0);
      set.trials.push_back(t);
    }
    sets.push_back(set);
  }
  Targets lax;
  lax.sure_each = 0;
  const CalibrationFit together = fit_calibration(sure, sets, 7, lax);
  EXPECT_LT(together.confidence.back().right_when_sure, 0.75);
  const CalibrationFit each = fit_calibration(sure, sets, 7);
  EXPECT_GT(each.calibration.threshold, together.calibration.threshold);
  EXPECT_EQ(each.confidence.back().right_when_sure, 1);
  for (Trial& t : sets.back().trials) t.right.assign(std::size(kRealBudgets), false);
  const CalibrationFit hopeless = fit_calibration(sure, sets, 7);
  EXPECT_LT(hopeless.calibration.threshold, 0.95);
  EXPECT_GT(hopeless.confidence.front().sure, 0.9);
}

TEST(AnswerSigns, TellWhatQuestionAndAnswerSay) {
  const AnswerSigns s = signs_of("Who is the president?", "President", {0.5F, 0.8F});
  EXPECT_NEAR(s.likelihood, 0.4, 1e-6);
  EXPECT_NEAR(s.least, 0.5, 1e-6);
  EXPECT_EQ(s.repeats, 1);
  EXPECT_EQ(s.computes, 0);
  EXPECT_EQ(s.misfit, 0);
  EXPECT_EQ(signs_of("Who is the president?", "resident", {0.5F}).repeats, 0);
  EXPECT_EQ(signs_of("What is the average of both bars?", "12", {0.5F}).computes, 1);
  EXPECT_EQ(signs_of("What is the date?", "John Smith", {0.5F}).misfit, 1);
  EXPECT_EQ(signs_of("What is the date?", "3 May", {0.5F}).misfit, 0);
  EXPECT_EQ(signs_of("Who signed?", "12", {0.5F}).misfit, 1);
  EXPECT_EQ(signs_of("Who signed?", "Ζωή", {0.5F}).misfit, 0);
  EXPECT_EQ(signs_of("What is the date?", "none", {0.5F}).misfit, 0);
}

}  // namespace
}  // namespace arrcoc::fitting
