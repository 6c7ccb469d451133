// How many tokens in all.
#include "allocate/budgets.h"

#include <gtest/gtest.h>

#include <map>

#include "allocate/curves.h"
#include "allocate/strategies.h"
#include "arrcoc/error.h"
#include "support.h"

namespace arrcoc::allocating {
namespace {

const Geometry kSquare{1024, 1024, 0};

Map flat() { return aligned_map(kSquare, 0.4F); }

Map peaky() {
  Map map = aligned_map(kSquare, 0.05F);
  map.at(20, 30) = 1;
  return map;
}

Map noisy() {
  std::mt19937 random(5);
  Map map = aligned_map(kSquare);
  fill_random(map, random);
  return map;
}

Query question(Complexity complexity, float specificity, AnswerKind answer) {
  Query query;
  query.complexity = complexity;
  query.specificity = specificity;
  query.answer = answer;
  return query;
}

const Query kEasy = question(Complexity::simple, 0.4F, AnswerKind::colour);
const Query kTotal = question(Complexity::simple, 0.8F, AnswerKind::money);
const Query kHard = question(Complexity::complex, 0.9F, AnswerKind::number);
const Query kDescribe = question(Complexity::simple, 0.1F, AnswerKind::any);

int decide(const std::string& rule, const Map& map, const Query& query) {
  return budget(look_of(map), query, rule).tokens;
}

ErrorCode code_of(const std::string& rule) {
  try {
    budget(look_of(flat()), kEasy, rule);
  } catch (const Error& error) {
    return error.code();
  }
  return ErrorCode::io;
}

TEST(Budget, ReadsNumbersLevelsAndRules) {
  const Look look = look_of(flat());
  EXPECT_EQ(budget(look, kEasy, "180").tokens, 180);
  EXPECT_EQ(budget(look, kEasy, "180").tier, "");
  EXPECT_EQ(budget(look, kEasy, "1").tokens, 1);
  EXPECT_EQ(budget(look, kEasy, "65536").tokens, 65536);
  EXPECT_EQ(budget(look, kEasy, "fast").tokens, 64);
  EXPECT_EQ(budget(look, kEasy, "fast").tier, "fast");
  EXPECT_EQ(budget(look, kEasy, "balanced").tokens, 180);
  EXPECT_EQ(budget(look, kEasy, "accurate").tokens, 400);
}

TEST(Budget, RefusesOtherNumbersAndNames) {
  for (const char* bad : {"0", "-5", "65537", "99999999999999999999"}) {
    EXPECT_EQ(code_of(bad), ErrorCode::bad_argument) << bad;
  }
  for (const char* bad : {"", "12x", "1e3", "fastest", " 64"}) {
    EXPECT_EQ(code_of(bad), ErrorCode::not_found) << bad;
  }
}

TEST(Budget, EveryRuleStaysInRangeAndSaysWhy) {
  for (const auto& [name, summary] : registry<BudgetRule>().list()) {
    for (const Map& map : {flat(), peaky(), noisy(), aligned_map(kSquare, 0),
                           aligned_map(kSquare, 1), map_over(kSquare, 1, 1, 1)}) {
      for (const Query& query : {kEasy, kTotal, kHard, kDescribe}) {
        const Budget out = budget(look_of(map), query, name);
        EXPECT_GE(out.tokens, kMinBudget) << name;
        EXPECT_LE(out.tokens, kMaxBudget) << name;
        EXPECT_FALSE(out.tier.empty()) << name;
        EXPECT_FALSE(out.why.empty()) << name;
        EXPECT_EQ(out, budget(look_of(map), query, name));
      }
    }
  }
}

TEST(Budget, AutoFollowsWhatTheNetworkExpects) {
  Look look = look_of(peaky());
  look.need = 0.0F;
  EXPECT_EQ(budget(look, kHard, "auto").tokens, kMinBudget);
  look.need = 1.0F;
  EXPECT_EQ(budget(look, kEasy, "auto").tokens, kMaxBudget);
  EXPECT_EQ(budget(look, kEasy, "learned"), budget(look, kEasy, "auto"));
  look.need = 0.5F;
  EXPECT_EQ(budget(look, kEasy, "auto").tokens, 232);
  // Another range, the same share of it.
  EXPECT_EQ(budget(look, kEasy, "auto:32-200").tokens, 116);
  EXPECT_NE(budget(look, kEasy, "auto").why.find("network"), std::string::npos);
  EXPECT_EQ(budget(look_of(peaky()), kEasy, "auto").why.find("network"), std::string::npos);
  for (const char* bad : {"auto:", "auto:5", "auto:9-3", "auto:0-10", "auto:1-99999", "auto:1-2x"})
    EXPECT_EQ(code_of(bad), ErrorCode::bad_argument) << bad;
  EXPECT_EQ(code_of("automatic"), ErrorCode::not_found);
}

TEST(Tiers, HardQuestionsNeverGetFewerThan160Tokens) {
  for (const char* rule : {"tiers", "auto"}) {
    for (const Map& map : {flat(), peaky(), noisy()}) {
      for (float specificity : {0.0F, 0.5F, 1.0F}) {
        for (AnswerKind kind : {AnswerKind::any, AnswerKind::money, AnswerKind::colour}) {
          EXPECT_GE(decide(rule, map, question(Complexity::complex, specificity, kind)), 160);
        }
      }
      EXPECT_GE(decide(rule, map, kTotal), 160)
          << "small print is hard, however short the question";
    }
  }
}

TEST(Tiers, RiseWithTheQuestion) {
  EXPECT_EQ(decide("tiers", flat(), kEasy), 64);
  EXPECT_EQ(decide("tiers", flat(), kDescribe), 128);
  EXPECT_EQ(decide("tiers", flat(), kTotal), 256);
  EXPECT_EQ(decide("tiers", flat(), question(Complexity::medium, 0.8F, AnswerKind::date)), 384);
  EXPECT_EQ(decide("tiers", flat(), kHard), 400);
}

TEST(Entropy, TellsPeakyFromFlatMaps) {
  EXPECT_EQ(decide("entropy", flat(), kEasy), 400);
  EXPECT_LE(decide("entropy", peaky(), kEasy), 80);
  const int noise = decide("entropy", noisy(), kEasy);
  EXPECT_GT(noise, decide("entropy", peaky(), kEasy) + 100);
  EXPECT_LT(noise, 360);
}

TEST(Entropy, WithoutATemperatureEveryMapLooksFlat) {
  // Why the rule has one: at temperature 1 a needle and an even map differ by less than 1 %.
  EXPECT_GT(normalised_entropy(peaky(), 1), 0.99);
  EXPECT_LT(normalised_entropy(peaky(), kEntropyTemperature), 0.05);
  EXPECT_EQ(make_entropy_rule(100)->decide(look_of(peaky()), kEasy).tokens, 400);
  EXPECT_THROW(make_entropy_rule(0), Error);
}

TEST(Expected, IsTheMeanOfTheTiersUnderTheSoftmax) {
  EXPECT_EQ(expected_budget({0, 0, 0, 0, 0}).tokens, 246) << "(64+128+256+384+400)/5 = 246.4";
  EXPECT_EQ(expected_budget({50, 0, 0, 0, 0}).tokens, 64);
  EXPECT_EQ(expected_budget({0, 0, 0, 0, 50}).tokens, 400);
  const auto ln3 = static_cast<float>(std::log(3.0));
  EXPECT_EQ(expected_budget({-90, ln3, 0, -90, -90}).tokens, 160) << "3/4 of 128, 1/4 of 256";
  EXPECT_EQ(expected_budget({1e30F, 0, 0, 0, 0}).tokens, 64) << "large logits do not overflow";
  EXPECT_THROW(expected_budget({NAN, 0, 0, 0, 0}), Error);
}

TEST(Expected, TheLikeliestTierIsTheArgmax) {
  EXPECT_EQ(likeliest_budget({0, 1, 3, 2, 0}).tokens, 256);
  EXPECT_EQ(likeliest_budget({0, 1, 3, 2, 9}).tokens, 400);
  EXPECT_THROW(likeliest_budget({INFINITY, 0, 0, 0, 0}), Error);
}

TEST(Expected, RisesWithQuestionAndMap) {
  EXPECT_LT(decide("expected", peaky(), kEasy), decide("expected", peaky(), kTotal));
  EXPECT_LT(decide("expected", peaky(), kTotal), decide("expected", peaky(), kHard));
  EXPECT_LT(decide("expected", peaky(), kTotal), decide("expected", flat(), kTotal));
  EXPECT_GE(decide("expected", peaky(), kHard), 160);
}

TEST(Auto, MixesQuestionAndMap) {
  EXPECT_EQ(decide("auto", flat(), kEasy), (64 + 400) / 2);
  EXPECT_LE(decide("auto", peaky(), kEasy), 80);
  EXPECT_GT(decide("auto", peaky(), kHard), 160);
}

TEST(Curves, FollowTheirFormulas) {
  EXPECT_EQ(along(Curve::linear, 0.3), 0.3);
  EXPECT_NEAR(along(Curve::exponential, 0.3), 0.09, 1e-12);
  EXPECT_NEAR(along(Curve::power, 0.3), std::pow(0.3, 2.5), 1e-12);
  EXPECT_NEAR(along(Curve::power, 0.3, 100), std::pow(0.3, 4.5), 1e-12);
  EXPECT_NEAR(along(Curve::power, 0.3, -100), std::pow(0.3, 0.5), 1e-12);
  EXPECT_NEAR(along(Curve::sigmoid, 0.5), 0.5, 1e-12);
  EXPECT_NEAR(along(Curve::sigmoid, 0.7), 1 / (1 + std::exp(-2.0)), 1e-12);
  EXPECT_EQ(along(Curve::linear, -1), 0);
  EXPECT_EQ(along(Curve::linear, 2), 1);
  EXPECT_THROW(parse_enum<Curve>("cubic"), Error);
  for (const auto& [curve, name] : EnumNames<Curve>::kNames) {
    for (int i = 1; i <= 20; ++i)
      EXPECT_GT(along(curve, i / 20.0), along(curve, (i - 1) / 20.0)) << name;
  }
  EXPECT_EQ(tokens_at(0), 64);
  EXPECT_EQ(tokens_at(0.5), 232);
  EXPECT_EQ(tokens_at(1), 400);
}

TEST(Curves, EveryLevelOfDetailIsReachedByItsShareOfTheRange) {
  // Rounding to the nearest tier would give 400 less than 1 % of the range.
  std::map<int, int> reached;
  for (int i = 0; i < 1000; ++i) ++reached[tier_at((i + 0.5) / 1000)];
  ASSERT_EQ(reached.size(), kTiers.size());
  for (int tier : kTiers) EXPECT_NEAR(reached[tier], 200, 1) << tier;
  EXPECT_EQ(tier_at(0.85), 400);
  EXPECT_EQ(tier_at(1), 400);
  EXPECT_EQ(tier_at(0), 64);
}

TEST(Curves, RulesFollowTheMeanRelevance) {
  const Map half = aligned_map(kSquare, 0.5F);
  EXPECT_EQ(decide("linear", half, kEasy), 232);
  EXPECT_EQ(decide("exponential", half, kEasy), 148);
  EXPECT_EQ(decide("sigmoid", half, kEasy), 232);
  EXPECT_EQ(decide("power", half, kEasy), tokens_at(std::pow(0.5, 2.5)));
  EXPECT_EQ(decide("lod", half, kEasy), 256);
  EXPECT_EQ(decide("lod", aligned_map(kSquare, 0.85F), kEasy), 400);
}

}  // namespace
}  // namespace arrcoc::allocating
