// The defining property of every reducer, on flows made by hand.
#include "lab/baselines/reducers.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <gtest/gtest.h>

namespace arrcoc {
namespace {

constexpr int64_t kWidth = 8;

// n tokens in a row and t characters; keys, queries and states are drawn from a seed.
struct Case {
  Flow flow;
  LayerSight sight;
};
Case some(int64_t n, int64_t t, int layer = 0, int layers = 7, int64_t seed = 3) {
  at::manual_seed(seed);
  Case out;
  out.flow.states = at::randn({n + t, kWidth});
  out.flow.size = at::ones({n});
  out.flow.centre = at::stack({at::arange(n).mul(16).to(at::kFloat), at::zeros({n})}, 1);
  out.flow.scale = at::zeros({n});
  out.flow.first = at::arange(n, at::kLong);
  out.sight = {layer, layers, at::randn({2, n + t, 4}), at::randn({2, n + t, 4}), n};
  return out;
}

bool kept(const Flow& flow, int64_t first) { return flow.first.eq(first).any().item<bool>(); }

// What may never change: characters stay as they are, patches are all accounted for or gone.
void expect_sound(const Case& before, const Flow& flow, int64_t budget) {
  EXPECT_LE(flow.tokens(), budget);
  const int64_t t = before.flow.states.size(0) - before.flow.tokens();
  ASSERT_EQ(flow.states.size(0), flow.tokens() + t);
  EXPECT_TRUE(at::equal(flow.states.narrow(0, flow.tokens(), t),
                        before.flow.states.narrow(0, before.flow.tokens(), t)));
  EXPECT_TRUE(flow.first.diff().gt(0).all().item<bool>());
}

TEST(Merge, IsAMeanWeightedByPatches) {
  Case c = some(4, 1);
  c.flow.size = at::tensor({1.0F, 3.0F, 1.0F, 1.0F});
  const at::Tensor wanted = (c.flow.states[0] + 3 * c.flow.states[1] + c.flow.states[3]) / 5;
  reducing::merge(c.flow, at::tensor({1, 3}, at::kLong), at::tensor({0, 0}, at::kLong));
  EXPECT_EQ(c.flow.tokens(), 2);
  EXPECT_TRUE(at::allclose(c.flow.states[0], wanted, 1e-5, 1e-6));
  EXPECT_TRUE(at::equal(c.flow.size, at::tensor({5.0F, 1.0F})));
  EXPECT_TRUE(at::equal(c.flow.first, at::tensor({0, 2}, at::kLong)));
  EXPECT_FLOAT_EQ(c.flow.centre[0][0].item<float>(), (0 + 3 * 16 + 48) / 5.0F);
}

TEST(AttentionReceived, IsTheMeanSoftmaxOfTheRows) {
  const Case c = some(5, 3);
  at::Tensor shares =
      at::softmax(at::matmul(c.sight.queries, c.sight.keys.transpose(1, 2)) / 2.0, 2);  // sqrt(4)
  const at::Tensor wanted = shares.narrow(1, 5, 3).narrow(2, 0, 5).mean(at::IntArrayRef{0, 1});
  EXPECT_TRUE(at::allclose(reducing::attention_received(c.sight, 5, 3), wanted, 1e-5, 1e-6));
}

TEST(Tome, MergesTheMostSimilarNeighboursFirstAndKeepsEveryPatchsWeight) {
  const auto tome = registry<Reducer>().make("tome");
  EXPECT_TRUE(tome->proportional());
  Case c = some(10, 2, 0, 1);
  // Tokens 6 and 7 are alike, nobody else.
  c.sight.keys = at::eye(12).unsqueeze(0).clone();
  c.sight.queries = c.sight.keys;
  c.sight.keys[0][7] = c.sight.keys[0][6];
  Flow flow = c.flow;
  tome->inside(c.sight, flow, 9);
  expect_sound(c, flow, 9);
  EXPECT_EQ(flow.tokens(), 9);
  EXPECT_FALSE(kept(flow, 7));
  EXPECT_FLOAT_EQ(flow.size[6].item<float>(), 2);
  EXPECT_TRUE(at::allclose(flow.states[6], (c.flow.states[6] + c.flow.states[7]) / 2));
}

TEST(Tome, TakesTheSameNumberInEveryLayerAndAlwaysReachesTheBudget) {
  const auto tome = registry<Reducer>().make("tome");
  const auto counts = [&](int64_t n, int64_t budget) {
    Case c = some(n, 2);
    std::vector<int64_t> out;
    for (int layer = 0; layer < 7; ++layer) {
      c.sight = some(c.flow.tokens(), 2, layer, 7, layer).sight;
      const int64_t before = c.flow.tokens();
      tome->inside(c.sight, c.flow, budget);
      out.push_back(before - c.flow.tokens());
      EXPECT_FLOAT_EQ(c.flow.size.sum().item<float>(), static_cast<float>(n));
    }
    EXPECT_EQ(c.flow.tokens(), budget);
    return out;
  };
  EXPECT_EQ(counts(130, 60), std::vector<int64_t>(7, 10));
  counts(1000, 9);  // more than constant numbers could merge
  counts(1000, 3);  // more than halving seven times could
}

TEST(FastV, KeepsWhatTheQuestionLooksAtAfterTheSecondLayerOnly) {
  const auto fastv = registry<Reducer>().make("fastv");
  Case c = some(20, 4, 1);
  // Token 3 and 11 answer the characters' queries; token 5 answers the picture's.
  c.sight.queries.narrow(1, 0, 20).fill_(-1);
  c.sight.queries.narrow(1, 20, 4).fill_(1);
  c.sight.keys.zero_();
  for (int64_t k : {3, 11}) c.sight.keys.select(1, k).fill_(4);
  c.sight.keys.select(1, 5).fill_(-4);
  Flow flow = c.flow;
  fastv->after(c.sight, flow, 2);
  expect_sound(c, flow, 2);
  EXPECT_TRUE(kept(flow, 3) && kept(flow, 11));
  for (int layer : {0, 2, 6}) {
    c.sight.layer = layer;
    flow = c.flow;
    fastv->after(c.sight, flow, 2);
    fastv->inside(c.sight, flow, 2);
    EXPECT_EQ(flow.tokens(), 20) << layer;
  }
}

TEST(VisionZip, KeepsWhatThePictureLooksAtAndMergesTheRestByKeys) {
  const auto zip = registry<Reducer>().make("visionzip");
  Case c = some(200, 4, 5);
  c.sight.queries.narrow(1, 0, 200).fill_(1);
  c.sight.queries.narrow(1, 200, 4).fill_(-1);  // the question wants others: it has no say
  c.sight.keys.narrow(1, 0, 200).uniform_(-0.1, 0.1);
  for (int64_t k : {17, 118}) c.sight.keys.select(1, k).fill_(3);
  Flow flow = c.flow;
  zip->after(c.sight, flow, 64);
  expect_sound(c, flow, 64);
  EXPECT_EQ(flow.tokens(), 64);
  EXPECT_FLOAT_EQ(flow.size.sum().item<float>(), 200);   // nothing is lost
  EXPECT_LE(flow.size.gt(1).sum().item<int64_t>(), 10);  // in at most ten contextual tokens
  EXPECT_EQ(flow.size.eq(1).logical_and(flow.first.eq(17)).sum().item<int64_t>(), 1);
  EXPECT_EQ(flow.size.eq(1).logical_and(flow.first.eq(118)).sum().item<int64_t>(), 1);
  c.sight.layer = 6;
  flow = c.flow;
  zip->after(c.sight, flow, 64);
  EXPECT_EQ(flow.tokens(), 200);
}

TEST(CdPruner, PrefersRelevantTokensThatAreUnlikeEachOther) {
  const auto pruner = registry<Reducer>().make("cdpruner");
  Case c = some(6, 2, 6);
  // 0, 1, 2 are relevant; 0 and 1 say the same.
  c.flow.states.narrow(0, 0, 6).copy_(at::eye(6, kWidth));
  c.flow.states[1].copy_(c.flow.states[0]);
  c.sight.queries.fill_(1);
  c.sight.keys.zero_();
  for (int64_t k : {0, 1}) c.sight.keys.select(1, k).fill_(2);
  c.sight.keys.select(1, 2).fill_(1.8);
  Flow flow = c.flow;
  pruner->after(c.sight, flow, 2);
  expect_sound(c, flow, 2);
  EXPECT_TRUE(kept(flow, 2));
  EXPECT_TRUE(kept(flow, 0) != kept(flow, 1));
  // By relevance alone it would have been 0 and 1.
  const at::Tensor asked = reducing::attention_received(c.sight, 6, 2);
  EXPECT_GT(asked[1].item<float>(), asked[2].item<float>());
}

TEST(EveryReducer, LeavesAShortSequenceAlone) {
  for (const auto& [name, summary] : registry<Reducer>().list()) {
    for (int layer = 0; layer < 7; ++layer) {
      Case c = some(30, 3, layer);
      Flow flow = c.flow;
      registry<Reducer>().make(name)->inside(c.sight, flow, 30);
      registry<Reducer>().make(name)->after(c.sight, flow, 30);
      EXPECT_TRUE(at::equal(flow.states, c.flow.states)) << name;
    }
  }
}

// 16x16 patches: four regions of 8x8.
Case square(int64_t looked_at) {
  Case c = some(256, 2, 6, 7);
  const at::Tensor number = at::arange(256);
  c.flow.centre = at::stack({number.remainder(16) * 16 + 8, number.floor_divide(16) * 16 + 8}, 1)
                      .to(at::kFloat);
  c.sight.queries = at::ones({1, 258, 4});
  c.sight.keys = at::zeros({1, 258, 4});
  c.sight.keys[0][looked_at] = 4;
  return c;
}

TEST(FivePaths, TheRegionThatIsLookedAtTakesTheFinestPath) {
  const auto paths = registry<Reducer>().make("five-paths");
  const Case c = square(3 * 16 + 12);  // upper right
  Flow flow = c.flow;
  paths->after(c.sight, flow, 19);  // 3 regions of one token, one of 16
  expect_sound(c, flow, 19);
  EXPECT_EQ(flow.tokens(), 19);
  EXPECT_EQ(flow.size.eq(4).sum().item<int64_t>(), 16);
  EXPECT_EQ(flow.size.eq(64).sum().item<int64_t>(), 3);
  EXPECT_EQ(flow.size.sum().item<float>(), 256);
  // Means of the region's patches: 2x2 of them begin at row 0, column 8.
  const at::Tensor wanted =
      (c.flow.states[8] + c.flow.states[9] + c.flow.states[24] + c.flow.states[25]) / 4;
  const int64_t place = flow.first.eq(8).nonzero()[0].item<int64_t>();
  EXPECT_TRUE(at::allclose(flow.states[place], wanted, 1e-5, 1e-6));
}

TEST(FivePaths, WaitsForTheLastLayerAndKeepsAnyBudget) {
  const auto paths = registry<Reducer>().make("five-paths");
  Case c = square(0);
  for (int64_t budget : {1, 3, 4, 10, 64, 200}) {
    Flow flow = c.flow;
    paths->after(c.sight, flow, budget);
    expect_sound(c, flow, budget);
    EXPECT_EQ(flow.size.sum().item<float>(), 256);
  }
  c.sight.layer = 3;
  Flow flow = c.flow;
  paths->after(c.sight, flow, 10);
  EXPECT_EQ(flow.tokens(), 256);
}

}  // namespace
}  // namespace arrcoc
