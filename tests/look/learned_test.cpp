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

std::string policy(float information, float salience, float coupling) {
  balancing::Policy p;
  p.bias = {information, salience, coupling};
  return balancing::to_json(p);
}

struct Learned : testing::Test {
  void TearDown() override { balancing::install_policy(""); }
};

TEST_F(Learned, WeightsComeFromTheInstalledPolicy) {
  balancing::install_policy(policy(-20, -20, 20));
  const Relevance r = balancing::balance(knowledge(), parse_query("what is the total?"), "learned");
  EXPECT_NEAR(r.weights.coupling, 1, 1e-4);
  EXPECT_GT(r.map.values.front(), r.map.values.back());
  EXPECT_TRUE(r.fallbacks.empty());
  balancing::install_policy(policy(20, -20, -20));
  const Relevance other =
      balancing::balance(knowledge(), parse_query("what is the total?"), "learned");
  EXPECT_LT(other.map.values.front(), other.map.values.back());
}

TEST_F(Learned, WithoutAPolicyItSaysSo) {
  const Relevance r = balancing::balance(knowledge(), parse_query("what is the total?"), "learned");
  ASSERT_EQ(r.fallbacks.size(), 1U);
  EXPECT_EQ(r.weights, weight_preset("vervaeke"));
}

TEST_F(Learned, FeaturesMoveTheWeights) {
  balancing::Policy p;
  p.rows[2][1] = 5;  // vague questions
  balancing::PolicyFeatures plain{}, vague{};
  vague[1] = 1;
  EXPECT_NEAR(balancing::weights_by(p, plain, false).coupling, 1.0F / 3, 1e-5);
  EXPECT_GT(balancing::weights_by(p, vague, false).coupling, 0.9F);
}

TEST_F(Learned, RefusesWhatIsNoPolicy) {
  for (const char* bad : {"{}", "[]", "x", R"({"bias":[1,2],"rows":[]})", R"({"bias":[1,2,"a"]})",
                          R"({"bias":[1,2,3],"rows":[[1],[2],[3]]})"})
    EXPECT_THROW(balancing::install_policy(bad), Error) << bad;
  const auto again = balancing::policy_from_json(policy(1, 2, 3));
  EXPECT_EQ(again.bias, (std::array<float, 3>{1, 2, 3}));
}

}  // namespace
}  // namespace arrcoc
