#include <gtest/gtest.h>

#include <random>

#include "arrcoc/error.h"
#include "ask/passes.h"
#include "lab/fit/passes_fit.h"

namespace arrcoc::fitting {
namespace {

// A closer look helps where attention was gathered and the answer was unlikely.
std::vector<LoggedPasses> logged() {
  std::mt19937 random(5);
  std::vector<LoggedPasses> out;
  for (int i = 0; i < 400; ++i) {
    const double likely = (random() % 1000) / 500.0 - 1, gathered = (random() % 1000) / 1000.0;
    LoggedPasses l;
    l.first = {{1, likely, likely, gathered, 0.2, 0.3, 0}, likely > 0, 90, 0.3, gathered, 0.5};
    const bool right = gathered > 0.5;
    l.again[Manner::closer] = {
        {1, right ? 1.0 : -1.0, 0, gathered, 0, 0.3, 1}, right, 60, 0.5, gathered, 0.5};
    l.again[Manner::wider] = {{1, -1, -1, gathered, 0.2, 0.3, 1}, false, 100, 0.2, gathered, 0.5};
    l.again[Manner::elsewhere] = {
        {1, -1, -1, gathered, 0.2, 0.3, 1}, false, 60, 0.1, gathered, 0.5};
    out.push_back(l);
  }
  return out;
}

TEST(PassesFit, LearnsWhenAnotherLookPays) {
  const PassPolicy policy = fit_passes(logged());
  const auto closer = [&](double likely, double gathered) {
    return asking::chance(policy.closer, {1, likely, likely, gathered, 0.2, 0.3, 0});
  };
  EXPECT_GT(closer(-0.8, 0.9), 0.5);
  EXPECT_LT(closer(-0.8, 0.1), 0.3);
  EXPECT_LT(closer(0.8, 0.9), 0.2);
  EXPECT_THROW(fit_passes({}), Error);
}

TEST(PassesFit, SaysWhatPassesWouldHaveComeTo) {
  const auto all = logged();
  const PassOutcome single = single_look(all), first = first_look(all);
  EXPECT_DOUBLE_EQ(single.tokens, 100);
  EXPECT_DOUBLE_EQ(first.tokens, 90);
  EXPECT_DOUBLE_EQ(first.passes, 1);
  PassRules rules = policy("passes").passes;
  const PassOutcome ruled = by_rules(all, rules);
  EXPECT_GT(ruled.passes, 1.5);  // nobody is sure, and most answers were gathered in one place
  EXPECT_LT(ruled.passes, 2);
  rules.confident = 0;
  EXPECT_DOUBLE_EQ(by_rules(all, rules).passes, 1);
  const PassPolicy policy = fit_passes(all);
  const PassOutcome learned = by_policy(all, policy);
  EXPECT_GT(learned.right, first.right);
  EXPECT_LE(learned.tokens, single.tokens);  // a further look must be worth its tokens
}

}  // namespace
}  // namespace arrcoc::fitting
