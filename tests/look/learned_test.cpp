#include <gtest/gtest.h>

#include "arrcoc/error.h"
#include "look/balance/policy.h"

namespace arrcoc {
namespace {

Map ramp(bool flipped) {
  Map map;
  map.rows = map.cols = 8;
  map.cell_width = map.cell_height = 16;
  for (int i = 0; i < 64; ++i)
    map.values.push_back(static_cast<float>(flipped ? 63 - i : i) / 63.0F);
  return map;
}

Knowledge knowledge() {
  Knowledge k;
  k.information = ramp(false);
  k.salience = ramp(false);
  k.coupling = ramp(true);
  return k;
}

BalanceOptions with(float information, float salience, float coupling) {
  BalancePolicy policy;
  policy.bias = {information, salience, coupling};
  BalanceOptions out;
  out.learned = std::make_shared<const BalancePolicy>(policy);
  return out;
}

const Query kTotal = parse_query("what is the total?");

TEST(Learned, WeightsComeFromThePolicyThatIsGiven) {
  const Relevance r = balancing::balance(knowledge(), kTotal, "learned", with(-20, -20, 20));
  EXPECT_NEAR(r.weights.coupling, 1, 1e-4);
  EXPECT_GT(r.map.values.front(), r.map.values.back());
  EXPECT_TRUE(r.fallbacks.empty());
  EXPECT_FALSE(r.tensions);  // it has none
  const Relevance other = balancing::balance(knowledge(), kTotal, "learned", with(20, -20, -20));
  EXPECT_LT(other.map.values.front(), other.map.values.back());
}

TEST(Learned, WithoutAPolicyItSaysSo) {
  const Relevance r = balancing::balance(knowledge(), kTotal, "learned");
  ASSERT_EQ(r.fallbacks.size(), 1U);
  EXPECT_EQ(r.weights, weight_preset("vervaeke"));
}

TEST(Learned, FeaturesMoveTheWeights) {
  BalancePolicy p;
  p.rows[2][1] = 5;  // vague questions
  balancing::PolicyFeatures plain{}, vague{};
  vague[1] = 1;
  EXPECT_NEAR(balancing::weights_by(p, plain, false).coupling, 1.0F / 3, 1e-5);
  EXPECT_GT(balancing::weights_by(p, vague, false).coupling, 0.9F);
}

TEST(Learned, RefusesWhatIsNoPolicy) {
  for (const char* bad : {"{}", "[]", "x", R"({"bias":[1,2],"rows":[]})", R"({"bias":[1,2,"a"]})",
                          R"({"bias":[1,2,3],"rows":[[1],[2],[3]]})"})
    EXPECT_THROW(balance_policy_from_json(bad), Error) << bad;
  const BalancePolicy given = *with(1, 2, 3).learned;
  EXPECT_EQ(balance_policy_from_json(to_json(given)), given);
}

}  // namespace
}  // namespace arrcoc
