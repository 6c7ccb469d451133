// Balancer "outcome" and the network that it reads its weights and tensions from.
#include <gtest/gtest.h>

#include "arrcoc/balance.h"
#include "arrcoc/error.h"
#include "look/balance/balancers.h"

namespace arrcoc {
namespace {

using N = BalanceNet;

Map slope(float left, float right) {
  Map map{8, 8, 16, 16, {}};
  for (int i = 0; i < 64; ++i)
    map.values.push_back(left + (right - left) * static_cast<float>(i % 8) / 7.0F);
  return map;
}

Knowledge knowledge() {
  Knowledge k;
  k.information = slope(0, 1);
  k.salience = slope(0.5F, 0.5F);
  k.coupling = slope(0.9F, 0.1F);
  return k;
}

N net() {
  N out;
  out.words.assign(N::kBuckets * N::kWord, 0);
  out.middle.assign(N::kStated, 0);
  out.deviation.assign(N::kStated, 1);
  out.in.assign(N::kHidden * (N::kWord + N::kStated), 0);
  out.in_bias.assign(N::kHidden, 0);
  out.out.assign(N::kOutputs * N::kHidden, 0);
  out.out_bias.assign(N::kOutputs, 0);
  return out;
}

Relevance balanced(const N& by, const std::string& question = "what is the total?",
                   const std::string& without = "") {
  const auto balancer = balancing::make_outcome(without);
  dynamic_cast<NetBalancer&>(*balancer).use(std::make_shared<const N>(by));
  return balancer->balance(knowledge(), parse_query(question), {});
}

TEST(Outcome, NeutralIsTheCouplingMapItself) {
  const Relevance r = balancing::shaped(knowledge(), balancing::kNeutral);
  for (size_t i = 0; i < r.map.size(); ++i)
    EXPECT_NEAR(r.map.values[i], knowledge().coupling.values[i], 1e-6);
  EXPECT_EQ(r.weights, (Weights{0, 0, 1}));
  const Relevance unfitted = balancing::balance(knowledge(), parse_query("x?"), "outcome");
  EXPECT_EQ(unfitted.map, r.map);
  EXPECT_EQ(unfitted.fallbacks.size(), 1U);
}

TEST(Outcome, BeginsCloseToTheCouplingMap) {
  const Relevance r = balanced(net());
  EXPECT_GT(r.weights.coupling, 0.95F);
  EXPECT_NEAR(r.weights.information + r.weights.salience + r.weights.coupling, 1, 1e-5);
  EXPECT_TRUE(r.fallbacks.empty());
  for (size_t i = 0; i < r.map.size(); ++i)
    EXPECT_NEAR(r.map.values[i], knowledge().coupling.values[i], 0.06);
}

TEST(Outcome, OutputsMoveWeightsAndTensions) {
  N by = net();
  by.out_bias = {10, 0, 0, 0, 0, 0};
  const Relevance information = balanced(by);
  EXPECT_GT(information.weights.information, 0.9F);
  EXPECT_LT(information.map.at(0, 0), information.map.at(0, 7));
  by.out_bias = {0, 0, 0, 8, 0, 0};  // compress leans on information
  const Relevance compressed = balanced(by);
  EXPECT_GT(compressed.tensions->compress, 0.9F);
  EXPECT_GT(compressed.map.at(0, 7), balanced(net()).map.at(0, 7) + 0.2F);
  by.out_bias = {0, 0, 0, 0, 0, -8};  // diversify: what lies far from the best
  EXPECT_GT(balanced(by).map.at(7, 7), balanced(net()).map.at(7, 7) + 0.05F);
}

TEST(Outcome, APartThatIsTakenAwayIsNeutral) {
  N by = net();
  by.out_bias = {10, 0, 0, 8, 0, 0};
  EXPECT_EQ(balanced(by, "x?", "compress").tensions->compress, 0);
  EXPECT_EQ(balanced(by, "x?", "information").weights.information, 0);
  EXPECT_EQ(balanced(by, "x?", "coupling").weights.coupling, 0);
}

TEST(Outcome, QuestionAndMapsMoveTheOutputs) {
  N by = net();
  by.in[N::kWord + balancing::kOfMaps + 6] = 2;  // the coupling map's mean
  by.out[0] = 5;
  const auto with = [&](const Knowledge& k) {
    return balancing::run(by, balancing::balance_features(k, parse_query("x?")));
  };
  Knowledge dark = knowledge();
  dark.coupling = like(dark.coupling, 0);
  EXPECT_GT(with(knowledge())[0], with(dark)[0] + 1);
  by.words.assign(by.words.size(), 0);
  const auto features = balancing::balance_features(knowledge(), parse_query("total?"));
  ASSERT_EQ(features.buckets.size(), 1U);
  by.words[static_cast<size_t>(features.buckets[0]) * N::kWord] = 3;
  by.in[0] = 1;
  EXPECT_NE(balanced(by, "total?").weights, balanced(by, "sky?").weights);
}

TEST(Outcome, JsonKeepsTheNetAndRefusesOthers) {
  N by = net();
  by.out_bias[3] = 0.5F;
  EXPECT_EQ(balance_net_from_json(to_json(by)), by);
  N shorter = by;
  shorter.words.pop_back();
  N flat = by;
  flat.deviation[2] = 0;
  for (const std::string& bad : {std::string("{}"), std::string("[]"), to_json(shorter),
                                 to_json(flat), "{\"more\":1," + to_json(by).substr(1)})
    EXPECT_THROW(balance_net_from_json(bad), Error);
}

}  // namespace
}  // namespace arrcoc
