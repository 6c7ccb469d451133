// Drift of what passes the stages, and whether budgets fitted.
#include "serve/drift.h"

#include <cmath>
#include <limits>
#include <random>
#include <thread>

#include "support.h"

namespace arrcoc::serving::test {
namespace {

void feed(DriftWindow& window, int count, double mean, double deviation, uint32_t seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal(mean, deviation);
  for (int i = 0; i < count; ++i) window.add(normal(random));
}

TEST(DriftTest, TheSameNeverRaisesAnAlarm) {
  for (uint32_t seed = 1; seed <= 50; ++seed)
    for (const size_t size : {0, 2, 10, 30, 64, 256}) {
      DriftWindow window(size);
      std::mt19937 random(seed);
      std::normal_distribution<double> normal(5, 2);
      for (int i = 0; i < 5000; ++i) {
        window.add(normal(random));
        ASSERT_FALSE(window.alarm()) << size << ", value " << i << ": " << window.index();
      }
      const size_t kept = std::max<size_t>(1, size);
      EXPECT_EQ(window.reference().size(), kept);
      EXPECT_EQ(window.recent().size(), kept) << "memory is bounded";
    }
}

TEST(DriftTest, LeavesOutWhatIsNoNumber) {
  DriftWindow window(4);
  window.add(std::nan(""));
  window.add(std::numeric_limits<double>::infinity());
  EXPECT_TRUE(window.reference().empty());
}

TEST(DriftTest, BetweenTheBoundsNothingFlips) {
  // 0, 1 by turns; then so many ones in ten. Index: 0.17 at 7 in ten.
  const auto feed_share = [](DriftWindow& window, int ones) {
    for (int i = 0; i < 250; ++i) window.add(i % 10 < ones ? 1 : 0);
  };
  DriftWindow window(250);
  feed_share(window, 5);
  feed_share(window, 7);
  EXPECT_GT(window.index(), 0.1);
  EXPECT_FALSE(window.alarm()) << window.index();
  feed_share(window, 9);
  EXPECT_TRUE(window.alarm()) << window.index();
  feed_share(window, 7);
  EXPECT_TRUE(window.alarm()) << "still as far as what raised none";
  feed_share(window, 5);
  EXPECT_FALSE(window.alarm());
}

TEST(DriftTest, AShiftOrAnotherSpreadRaisesItAndItsEndLowersIt) {
  for (const auto& [mean, deviation] : {std::pair{7.0, 2.0}, {3.0, 2.0}, {5.0, 6.0}}) {
    DriftWindow window(256);
    feed(window, 512, 5, 2, 1);
    EXPECT_FALSE(window.alarm());
    feed(window, 256, mean, deviation, 2);
    EXPECT_TRUE(window.alarm()) << mean << " " << deviation << ": " << window.index();
    feed(window, 256, 5, 2, 3);
    EXPECT_FALSE(window.alarm()) << window.index();
  }
}

TEST(DriftTest, WhatNeverVariedMayMoveEitherWay) {
  for (const double other : {179.0, 181.0}) {
    DriftWindow window(64);
    for (int i = 0; i < 128; ++i) window.add(180);
    EXPECT_FALSE(window.alarm());
    EXPECT_NEAR(window.index(), 0, 1e-9);
    for (int i = 0; i < 64; ++i) window.add(other);
    EXPECT_TRUE(window.alarm()) << other;
  }
}

const std::string kTokens = R"(stage="allocating",statistic="tokens")";

// One look at one picture; focus: tokens that all attention is on, of 100.
Answer answer_of(int64_t tokens, int budget = 180, int focus = 100) {
  Answer out;
  out.tokens = tokens;
  out.confidence = 0.9;
  out.text = "33.10";
  PictureAnswer& picture = out.pictures.emplace_back();
  picture.width = 1000, picture.height = 500;
  picture.native_tokens = out.native_tokens = 4096;
  picture.budget.tokens = budget;
  picture.look.relevance.map = {1, 2, 1, 1, {0.2F, 0.6F}};
  picture.passes.emplace_back().reply.focus.assign(100, 0.0F);
  picture.passes[0].allocation.leaves = {{0, 0, 0, 1}, {3, 0, 0, 0}};
  for (int i = 0; i < focus; ++i) picture.passes[0].reply.focus[static_cast<size_t>(i)] = 1;
  return out;
}

TEST(DriftTest, GaugesAndOneLineForEveryFlip) {
  Metrics metrics;
  std::vector<std::string> lines;
  StageWatch watch(
      metrics, [&](const std::string& line) { lines.push_back(line); }, 30);
  for (int i = 0; i < 90; ++i) watch.add(answer_of(120 + i % 3), true);
  EXPECT_EQ(metrics.value("arrcoc_drift_alarm", kTokens), 0);
  EXPECT_TRUE(lines.empty());
  for (int i = 0; i < 90; ++i) watch.add(answer_of(300 + i % 3), true);
  EXPECT_EQ(metrics.value("arrcoc_drift_alarm", kTokens), 1);
  EXPECT_GT(metrics.value("arrcoc_drift", kTokens), 0.25);
  EXPECT_NEAR(metrics.value("arrcoc_statistic_mean", kTokens + ",window=\"reference\""), 121, 1e-9);
  EXPECT_NEAR(metrics.value("arrcoc_statistic_mean", kTokens + ",window=\"recent\""), 301, 1e-9);
  EXPECT_NEAR(metrics.value("arrcoc_statistic_variance", kTokens + ",window=\"recent\""), 2.0 / 3,
              1e-9);
  EXPECT_NEAR(metrics.value("arrcoc_statistic_mean",
                            R"(stage="allocating",statistic="level",window="recent")"),
              1.5, 1e-9);
  EXPECT_NEAR(metrics.value("arrcoc_statistic_mean",
                            R"(stage="looking",statistic="relevance_entropy",window="recent")"),
              0.8113, 1e-4);
  EXPECT_EQ(metrics.value("arrcoc_drift_alarm", R"(stage="reading",statistic="confidence")"), 0);
  ASSERT_EQ(lines.size(), 1U);
  const json line = json::parse(lines[0]);
  EXPECT_EQ(line["event"], "drift");
  EXPECT_EQ(line["statistic"], "tokens");
  EXPECT_EQ(line["alarm"], true);
  for (int i = 0; i < 90; ++i) watch.add(answer_of(120 + i % 3), true);
  EXPECT_EQ(metrics.value("arrcoc_drift_alarm", kTokens), 0);
  EXPECT_EQ(lines.size(), 2U);
}

TEST(DriftTest, ThreadsMayAddAtOnce) {
  Metrics metrics;
  StageWatch watch(metrics, {}, 16);
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 50; ++i) watch.add(answer_of(100), false);
    });
  threads.clear();
  EXPECT_EQ(metrics.value("arrcoc_statistic_values", kTokens + ",window=\"recent\""), 16);
  EXPECT_EQ(metrics.text().find("statistic=\"confidence\""), std::string::npos) << "of a proxy";
}

TEST(BudgetFitTest, SaysWhetherTheBudgetWasTooSmallOrTooLarge) {
  EXPECT_EQ(budget_fit(answer_of(180)), Fit::met);
  EXPECT_EQ(budget_fit(answer_of(180, 180, 5)), Fit::over);
  EXPECT_EQ(budget_fit(answer_of(64, kMinBudget, 5)), Fit::met) << "there is no smaller one";
  Answer unsure = answer_of(180, 180, 5);
  unsure.unsure = true;
  EXPECT_EQ(budget_fit(unsure), Fit::under);
  unsure.pictures[0].budget.tokens = kMaxBudget;
  EXPECT_EQ(budget_fit(unsure), Fit::hard);
  unsure.pictures[0].budget.tokens = 200;
  unsure.pictures.push_back(unsure.pictures[0]);
  EXPECT_EQ(budget_fit(unsure), Fit::hard) << "two pictures share what a budget can give";
  Answer again = answer_of(250);
  again.pictures[0].passes.emplace_back();
  EXPECT_EQ(budget_fit(again), Fit::under);
  again.native_tokens = 180;
  EXPECT_EQ(budget_fit(again), Fit::met) << "the picture has no more tokens";
}

// Sum over all lines of /metrics that begin so.
double sum_of(const Running& running, const std::string& begin) {
  const auto reply = running.client().Get("/metrics");
  std::istringstream in(reply ? reply->body : "");
  double out = 0;
  for (std::string line; std::getline(in, line);)
    if (line.rfind(begin, 0) == 0) out += std::stod(line.substr(line.rfind(' ') + 1));
  return out;
}

TEST(BudgetFitTest, AServerTellsBudgetsByComplexity) {
  Running running;
  running.ask(question("What is the total?"));
  json named = question("Which of the items costs more than the others, and why is it so?");
  named["arrcoc"]["budget"] = 100;
  running.ask(named);
  const std::string budgets = "arrcoc_budget_tokens_count{complexity=\"";
  EXPECT_EQ(sum_of(running, budgets + "simple\"}"), 1);
  EXPECT_EQ(sum_of(running, budgets), 2) << "the other is not simple";
  const std::string fits = "arrcoc_budget_fit_total{complexity=\"";
  EXPECT_EQ(sum_of(running, fits + "simple\",rule=\"question\","), 1);
  EXPECT_EQ(sum_of(running, fits + "simple\",rule=\"fixed\","), 0);
  EXPECT_EQ(sum_of(running, fits), 2);
  EXPECT_EQ(running.metric("arrcoc_statistic_values{" + kTokens + ",window=\"reference\"}"), "2");
  EXPECT_EQ(running.metric("arrcoc_drift_alarm{" + kTokens + "}"), "0");
  for (const char* at :
       {R"(stage="seeing",statistic="megapixels")",
        R"(stage="looking",statistic="relevance_entropy")",
        R"(stage="allocating",statistic="level")", R"(stage="reading",statistic="confidence")"})
    EXPECT_GT(std::stod("0" + running.metric("arrcoc_statistic_mean{" + std::string(at) +
                                             ",window=\"reference\"}")),
              0)
        << at;
}

}  // namespace
}  // namespace arrcoc::serving::test
