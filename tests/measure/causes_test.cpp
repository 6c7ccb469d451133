#include "lab/measure/causes.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "lab/measure/measure.h"

namespace arrcoc::measuring {
namespace {

// The total of a receipt is 13.50 in its box; the answer is wrong.
Record wrong(const std::string& answer, double recall) {
  Record r;
  r.answered = true;
  r.wanted = "13.50";
  r.answer = answer;
  r.anls = anls(answer, r.wanted);
  r.boxes = 1;
  r.recall = r.lenient = recall;
  return r;
}
const std::vector<Box> kPlace = {{100, 200, 140, 212}};
const std::vector<Text> kTexts = {{{10, 180, 140, 192}, "Subtotal 12.50"},
                                  {{100, 200, 140, 212}, "13.50"},
                                  {{10, 220, 140, 232}, "Cash 20.00"}};

TEST(Causes, AnAnswerWhosePlaceWasSeenCoarselyLookedElsewhere) {
  EXPECT_EQ(cause_of(wrong("13.58", 0.49), kTexts, kPlace), Cause::looked_elsewhere);
  EXPECT_NE(cause_of(wrong("13.58", kSeen), kTexts, kPlace), Cause::looked_elsewhere);
}

TEST(Causes, AnAlternatePlaceThatWasSeenCounts) {
  Record r = wrong("13.58", 0);
  r.lenient = 1;
  EXPECT_EQ(cause_of(r, kTexts, kPlace), Cause::misread);
}

TEST(Causes, OtherLettersInTheRightPlaceAreMisread) {
  EXPECT_EQ(cause_of(wrong("13.58", 1), kTexts, kPlace), Cause::misread);  // close to the answer
  Record there = wrong("77", 1);
  there.box_hit = true;  // far from it, but read in its box
  EXPECT_EQ(cause_of(there, kTexts, kPlace), Cause::misread);
  // Close to what is printed there, not to what is accepted ("rm" is no part of the answer).
  const std::vector<Text> longer = {{{90, 198, 142, 214}, "total due rm 13.50"}};
  EXPECT_EQ(cause_of(wrong("total que rm 13.50", 1), longer, kPlace), Cause::misread);
}

TEST(Causes, AnotherTextOfThePageIsMisunderstoodHoweverCloseItsLettersAre) {
  EXPECT_GT(anls("12.50", "13.50"), 0);
  EXPECT_EQ(cause_of(wrong("12.50", 1), kTexts, kPlace), Cause::misunderstood);
  EXPECT_EQ(cause_of(wrong("cash  20.00", 1), kTexts, kPlace), Cause::misunderstood);
  EXPECT_EQ(cause_of(wrong("2.50", 1), {kTexts[0]}, kPlace), Cause::misread);  // no word of its own
}

TEST(Causes, WithoutTextsWhatWasReadElsewhereIsMisunderstood) {
  EXPECT_EQ(cause_of(wrong("20.00", 1)), Cause::misunderstood);
  EXPECT_EQ(cause_of(wrong("none", 1)), Cause::misunderstood);
  EXPECT_EQ(cause_of(wrong("12.50", 1)), Cause::misread);  // nobody knows of the subtotal
}

TEST(Causes, WhereNoPlaceIsKnownNoneIsGuessed) {
  Record r = wrong("13.58", -1);
  r.boxes = 0;
  EXPECT_EQ(cause_of(r, kTexts, {}), Cause::unknown_place);
  r.wanted = "None";
  EXPECT_EQ(cause_of(r, kTexts, {}), Cause::unanswerable);
}

TEST(Causes, JudgeNamesOneForWrongAnswersOnly) {
  Group group;
  group.picture = make_picture(at::full({3, 64, 64}, 200, at::kByte), "grey");
  Case one;
  one.item.width = one.item.height = 64;
  one.item.answer = "13.50";
  one.item.accepted = {"13.5"};
  Answer answer;
  answer.stop = Stop::passes;
  PictureAnswer& from = answer.pictures.emplace_back();
  from.passes.emplace_back().allocation.geometry = {64, 64};
  answer.text = "13.5";
  EXPECT_FALSE(judge(group, one, answer).cause.has_value());
  answer.text = "13.8";
  EXPECT_EQ(judge(group, one, answer).cause, Cause::unknown_place);
  one.item.answer_boxes = {{0, 0, 16, 16}};  // no token lies on it
  EXPECT_EQ(judge(group, one, answer).cause, Cause::looked_elsewhere);
  one.item.answer.reset();
  EXPECT_FALSE(judge(group, one, answer).cause.has_value());
}

}  // namespace
}  // namespace arrcoc::measuring
