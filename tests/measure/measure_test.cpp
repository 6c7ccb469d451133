#include "lab/measure/measure.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "arrcoc/error.h"

namespace arrcoc::measuring {
namespace {

TEST(Measure, APolicyThatOverspendsIsAnErrorThatNamesIt) {
  std::vector<Record> records(3);
  for (Record& r : records) r.tokens = 100;
  EXPECT_NO_THROW(check_budget("greedy", 100, records));
  records[1].tokens = 101;
  try {
    check_budget("greedy", 100, records);
    ADD_FAILURE();
  } catch (const Error& problem) {
    EXPECT_NE(std::string(problem.what()).find("policy greedy spent 101"), std::string::npos);
  }
}

TEST(Measure, TheWorstTenthIsOfPictures) {
  std::vector<Record> records(40);
  for (int i = 0; i < 40; ++i) {
    records[i].group = i / 2;  // 20 pictures; the first two are the worst
    records[i].answered = true;
    records[i].anls = i < 2 ? 0.0 : i < 4 ? 0.5 : 1.0;
  }
  EXPECT_DOUBLE_EQ(summarise(all_of(records)).worst_decile, 0.25);
}

TEST(Measure, ReliabilityIsByTenBinsOfConfidence) {
  std::vector<Record> records(5);
  const double sure[] = {0.05, 0.95, 1.0, 0.95, 0.5};
  for (int i = 0; i < 5; ++i) {
    records[i].answered = i < 4;
    records[i].confidence = sure[i];
    records[i].right = i == 1 || i == 2;
  }
  const Reliability r = reliability(all_of(records));
  EXPECT_EQ(r.answered, 4);
  EXPECT_EQ(r.bins[0].count, 1);
  EXPECT_EQ(r.bins[5].count, 0);  // nobody knows whether that was right
  EXPECT_EQ(r.bins[9].count, 3);
  EXPECT_NEAR(r.bins[9].confidence, 2.9 / 3, 1e-12);
  EXPECT_NEAR(r.bins[9].right, 2.0 / 3, 1e-12);
  EXPECT_NEAR(r.error, (0.05 + 0.9) / 4, 1e-12);  // 1 * .05 + 3 * (2.9 - 2) / 3, of four
  EXPECT_DOUBLE_EQ(r.auroc, 0.875);               // 4 pairs, one of them a tie
}

TEST(Measure, DifferencesArePairedAndCountWhatWasAnswered) {
  std::vector<Record> first(4), second(4);
  for (int i = 0; i < 4; ++i) {
    first[i].group = second[i].group = i;
    first[i].answered = second[i].answered = i < 3;
    first[i].tokens = 100;
    second[i].tokens = 50;
  }
  first[0].right = second[0].right = second[1].right = first[3].right = true;
  const Difference d = compare(all_of(first), all_of(second));
  EXPECT_EQ(d.questions, 3);
  EXPECT_EQ(d.only_second, 1);
  EXPECT_EQ(d.only_first, 0);
  EXPECT_DOUBLE_EQ(d.first_right, 1.0 / 3);
  EXPECT_DOUBLE_EQ(d.second_right, 2.0 / 3);
  EXPECT_NEAR(d.exact_match.mean, 1.0 / 3, 1e-12);
  EXPECT_DOUBLE_EQ(d.second_tokens, 50);
}

// A record of what was looked at only, without a model.
TEST(Measure, AnAnswerThatWasNeverReadIsNotJudged) {
  Group group;
  group.number = 7;
  group.suite = "here";
  group.picture = make_picture(at::full({3, 256, 256}, 200, at::kByte), "grey");
  Case one;
  one.item.width = one.item.height = 256;
  one.item.question = "What is the total?";
  one.item.answer = "12";
  one.item.answer_boxes = {{0, 0, 32, 32}};
  one.complexity = Complexity::complex;
  group.cases = {one};
  AskOptions options = policy("breadth-first");
  options.budget = "64";
  const Record r = measure_looking(Asker(nullptr), group, options).at(0);
  EXPECT_FALSE(r.answered);
  EXPECT_EQ(r.group, 7);
  EXPECT_EQ(r.policy, "breadth-first");
  EXPECT_LE(r.tokens, 64);
  EXPECT_DOUBLE_EQ(r.recall, 0);  // even leaves of 32 pixels: 128 on a longer side of 1024
  EXPECT_DOUBLE_EQ(summarise({&r}).starved, 1);
}

TEST(Measure, TheBestOfAllAcceptedAnswersCountsAndTheMapPoints) {
  Group group;
  Case one;
  one.item.width = one.item.height = 64;
  one.item.answer = "4-24-01";
  one.item.accepted = {"April 24"};
  one.item.answer_boxes = {{0, 32, 32, 64}};
  Answer answer;
  answer.text = "april 24";
  answer.stop = Stop::passes;
  answer.pictures.resize(1);
  answer.pictures[0].look.relevance.map = {2, 2, 32, 32, {0, 0, 1, 0.5F}};
  answer.pictures[0].passes.resize(1);
  answer.pictures[0].passes[0].allocation.geometry = {64, 64, 0};
  Record r = judge(group, one, answer);
  EXPECT_TRUE(r.right);
  EXPECT_TRUE(r.relaxed);
  EXPECT_DOUBLE_EQ(r.anls, 1);
  EXPECT_TRUE(r.pointed);
  answer.text = "4-24-02";
  answer.pictures[0].look.relevance.map.values = {1, 0, 0, 0};
  r = judge(group, one, answer);
  EXPECT_FALSE(r.right);
  EXPECT_NEAR(r.anls, 6.0 / 7, 1e-9);
  EXPECT_FALSE(r.pointed);
  EXPECT_DOUBLE_EQ(summarise({&r}).pointing.mean, 0);
}

TEST(Measure, SuitesAskTheSameEveryTime) {
  ::setenv("ARRCOC_ASSETS", ARRCOC_SOURCE_DIR "/assets", 0);
  const auto take = [] {
    std::vector<std::string> out;
    const auto source = ahead(suite_groups({"charts"}, 6));
    while (const auto group = source())
      for (const Case& one : group->cases) {
        EXPECT_TRUE(one.complexity);
        out.push_back(one.item.question + *one.item.answer);
      }
    return out;
  };
  const auto first = take();
  EXPECT_EQ(first.size(), 6U);
  EXPECT_EQ(first.size(), suite_questions({"charts"}, 6));
  EXPECT_EQ(first, take());
  EXPECT_THROW(suite_groups({"nowhere"}, 6), Error);
}

}  // namespace
}  // namespace arrcoc::measuring
