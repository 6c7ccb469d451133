#include <gtest/gtest.h>

#include <algorithm>

#include "arrcoc/error.h"
#include "arrcoc/look.h"
#include "look/balance/balancers.h"

using namespace arrcoc;

namespace {

Map ramp(int rows, int cols, float slope_x, float slope_y) {
  Map map{rows, cols, 16, 16, std::vector<float>(static_cast<size_t>(rows) * cols)};
  for (int r = 0; r < rows; ++r) {
    for (int c = 0; c < cols; ++c) {
      map.at(r, c) = slope_x * static_cast<float>(c) / static_cast<float>(cols) +
                     slope_y * static_cast<float>(r) / static_cast<float>(rows);
    }
  }
  return map;
}

Knowledge knowledge(int rows = 8, int cols = 8) {
  Knowledge k;
  k.information = ramp(rows, cols, 1, 0);
  k.salience = ramp(rows, cols, 0, 1);
  k.coupling = like(k.information, 0.0F);
  k.coupling.at(2, 3) = 1.0F;
  return k;
}

}  // namespace

TEST(Balancing, EveryBalancerGivesAMapInTheUnitRange) {
  const Query query = parse_query("What is the total?");
  for (const auto& [name, summary] : registry<Balancer>().list()) {
    Relevance r = balancing::balance(knowledge(), query, name);
    EXPECT_NEAR(*std::min_element(r.map.values.begin(), r.map.values.end()), 0.0F, 1e-6) << name;
    EXPECT_NEAR(maximum(r.map), 1.0F, 1e-5) << name;
    const bool fitted = name == "learned" || name == "outcome";  // of which none is given here
    EXPECT_EQ(r.fallbacks.empty(), !fitted) << name;
  }
  EXPECT_THROW(balancing::balance(knowledge(), query, "nobody"), Error);
}

TEST(Balancing, FixedIsTheWeightedSum) {
  BalanceOptions options;
  options.preset = "symbolic";
  const Knowledge k = knowledge();
  Relevance r = balancing::balance(k, parse_query("x?"), "fixed", options);
  Map expected = like(k.information, 0);
  for (size_t i = 0; i < expected.size(); ++i) {
    expected.values[i] =
        .3F * k.information.values[i] + .2F * k.salience.values[i] + .5F * k.coupling.values[i];
  }
  expected = min_max(expected);
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_NEAR(r.map.values[i], expected.values[i], 1e-5);
  }
}

TEST(Balancing, OneMapAloneIsPassedOnAsItIs) {
  Knowledge only;
  only.coupling = knowledge().coupling;
  only.coupling.at(0, 0) = 0.25F;
  only.coupling.at(2, 3) = 0.75F;
  BalanceOptions options;
  options.preset = "query";
  const Relevance r = balancing::balance(only, parse_query("x?"), "fixed", options);
  EXPECT_EQ(r.map, only.coupling);
  EXPECT_EQ(r.weights, (Weights{0, 0, 1}));
  EXPECT_FALSE(r.tensions);
  const Balancer::Reads reads = registry<Balancer>().make("fixed")->reads(options);
  EXPECT_TRUE(reads.coupling && !reads.information && !reads.salience);
}

TEST(Balancing, OnlyBalancersThatUseTensionsReportThem) {
  for (const auto& [name, summary] : registry<Balancer>().list()) {
    const bool uses =
        name == "adaptive" || name == "opponent" || name == "opponent-softmax" || name == "outcome";
    const Relevance r = balancing::balance(knowledge(), parse_query("x?"), name);
    EXPECT_EQ(r.tensions.has_value(), uses) << name;
  }
}

TEST(Balancing, MultiplicativeAsksForAllThree) {
  Knowledge k = knowledge();
  for (Map* m : {&k.information, &k.salience, &k.coupling}) *m = like(*m, 0.1F);
  k.information.at(0, 0) = k.salience.at(0, 0) = k.coupling.at(0, 0) = 0.7F;  // good at all
  k.coupling.at(5, 5) = 1.0F;                                                 // excellent at one
  k.salience.at(5, 5) = k.information.at(5, 5) = 0.0F;
  Relevance r = balancing::balance(k, parse_query("x?"), "multiplicative");
  EXPECT_GT(r.map.at(0, 0), 2 * r.map.at(5, 5));
}

TEST(Balancing, StaticTensionsStandOffTheMidpoint) {
  // At exploit = 0.5 salience would drop out of the second tension altogether.
  Relevance r = balancing::balance(knowledge(), parse_query("x?"), "opponent");
  EXPECT_GT(std::abs(r.tensions->exploit - 0.5F), 0.05F);
  Knowledge k = knowledge();
  k.information = like(k.information, 0.5F);
  k.coupling = like(k.coupling, 0.5F);
  r = balancing::balance(k, parse_query("x?"), "opponent");
  EXPECT_GT(r.map.at(7, 4), r.map.at(0, 4) + 0.5F);
}

TEST(Balancing, ThePolicyFollowsTheQuestion) {
  const Knowledge k = knowledge();
  Relevance sharp =
      balancing::balance(k, parse_query("What is the invoice number on line 3?"), "adaptive");
  Relevance vague = balancing::balance(k, parse_query("Describe the scene."), "adaptive");
  EXPECT_GT(sharp.weights.coupling, vague.weights.coupling + 0.1F);
  EXPECT_NEAR(sharp.weights.information + sharp.weights.salience + sharp.weights.coupling, 1.0F,
              1e-5);
  BalanceOptions sigmoid;
  sigmoid.sigmoid_weights = true;
  Relevance s = balancing::balance(k, parse_query("Describe the scene."), "adaptive", sigmoid);
  EXPECT_NE(s.weights.information + s.weights.salience + s.weights.coupling, 1.0F);
}

TEST(Balancing, AVagueQuestionIsDiversified) {
  // One strong corner: the vague question must leave more relevance far away from it.
  Knowledge k = knowledge(16, 16);
  k.information = like(k.information, 0.2F);
  k.salience = like(k.salience, 0.2F);
  k.coupling = like(k.coupling, 0.0F);
  for (int r = 0; r < 4; ++r) {
    for (int c = 0; c < 4; ++c) k.information.at(r, c) = k.salience.at(r, c) = 0.9F;
  }
  Relevance vague = balancing::balance(k, parse_query("Describe the scene."), "adaptive");
  Relevance sharp = balancing::balance(k, parse_query("What is the exact price?"), "adaptive");
  EXPECT_GT(vague.map.at(15, 15), 2 * sharp.map.at(15, 15));
}

TEST(Balancing, TensionsMeetTheirAnchors) {
  struct Case {
    const char* question;
    Tensions wanted;
  };
  for (const Case& c : {Case{"tiny formula", {.15F, .60F, .85F}},
                        {"describe the scene", {.80F, .35F, .25F}},
                        {"find anomalies", {.50F, .15F, .40F}}}) {
    Tensions t = balancing::tensions_for(parse_query(c.question));
    EXPECT_NEAR(t.compress, c.wanted.compress, 0.05F) << c.question;
    EXPECT_NEAR(t.exploit, c.wanted.exploit, 0.05F) << c.question;
    EXPECT_NEAR(t.focus, c.wanted.focus, 0.05F) << c.question;
  }
}

TEST(Balancing, DiversityIsTheDistanceToTheBest) {
  Map raw{1, 10, 1, 1, std::vector<float>(10, 0.0F)};
  raw.values[0] = 1;
  raw.values[1] = 0.9F;  // 10 cells: the top two count
  Map d = balancing::spatial_diversity(raw);
  EXPECT_FLOAT_EQ(d.values[0], 0);
  EXPECT_FLOAT_EQ(d.values[1], 0);
  EXPECT_FLOAT_EQ(d.values[9], 1);
  EXPECT_FLOAT_EQ(d.values[5], 0.5F);
}

TEST(Balancing, VoidFallsBackToUniformAndSaysSo) {
  Knowledge k = knowledge();
  k.information = like(k.information, 0.3F);
  k.salience = like(k.salience, 0.0F);
  k.coupling = like(k.coupling, 0.0F);
  Relevance r = balancing::balance(k, parse_query("What is this?"), "adaptive");
  EXPECT_EQ(variance(r.map), 0.0F);
  EXPECT_EQ(r.weights, (Weights{0, 0, 0}));  // none of the maps made it
  ASSERT_EQ(r.fallbacks.size(), 1u);
}

TEST(Balancing, AnEmptyCouplingMapDoesNotBlindTheReaderPolicy) {
  Knowledge k = knowledge();
  k.coupling = like(k.coupling, 0.0F);
  BalanceOptions options;
  options.preset = "query";
  Relevance r = balancing::balance(k, parse_query("What is the total?"), "additive", options);
  EXPECT_GT(variance(r.map), 0.01F);
  ASSERT_EQ(r.fallbacks.size(), 1u);
  EXPECT_NE(r.fallbacks[0].find("flat"), std::string::npos);
}

TEST(Balancing, RefusesMapsOfDifferentShape) {
  Knowledge k = knowledge();
  k.salience = ramp(4, 4, 1, 1);
  EXPECT_THROW(balancing::balance(k, parse_query("x?"), "additive"), Error);
}
