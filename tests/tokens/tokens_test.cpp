#include "arrcoc/tokens.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "arrcoc/error.h"

using namespace arrcoc;

namespace {

Picture noise(int height, int width) {
  at::manual_seed(7);
  return make_picture(at::randint(0, 255, {3, height, width}, at::kByte));
}

}  // namespace

TEST(Tokens, PixelsCentresAndOrder) {
  const Picture picture = noise(100, 200);
  const Pyramid pyramid(picture);
  Allocation a;
  a.geometry = pyramid.geometry();
  a.leaves = {{1, 0, 0, .1F}, {0, 0, 2, .9F}, {0, 1, 3, .5F}};
  TokenSequence t = cutting::cut(pyramid, a);
  ASSERT_EQ(t.size(), 3);
  EXPECT_TRUE(t.pixels[1].equal(picture.rgb.slice(1, 0, 16).slice(2, 32, 48)));
  EXPECT_TRUE(t.pixels[0].equal(pyramid.level(1).slice(1, 0, 16).slice(2, 0, 16)));
  EXPECT_TRUE(t.around[2].equal(picture.rgb.slice(1, 12, 36).slice(2, 44, 68)));
  EXPECT_NEAR(t.centre[2][0].item<float>(), 56.0 / 200, 1e-6);
  EXPECT_NEAR(t.centre[2][1].item<float>(), 24.0 / 100, 1e-6);
  EXPECT_EQ(t.scale[0].item<float>(), 1.0);
  TokenSequence by = cutting::cut(pyramid, a, TokenOrder::relevance);
  EXPECT_TRUE(by.pixels[0].equal(t.pixels[1]));
  EXPECT_NEAR(by.relevance[0].item<float>(), .9F, 1e-6);
}

TEST(Tokens, PackingPadsAndNeverCuts) {
  const Picture picture = noise(64, 64);
  const Pyramid pyramid(picture);
  Allocation a;
  a.geometry = pyramid.geometry();
  a.leaves = {{0, 0, 0, 1}, {0, 0, 1, 1}};
  Allocation b = a;
  b.leaves.pop_back();
  std::vector<TokenSequence> both = {cutting::cut(pyramid, a), cutting::cut(pyramid, b)};
  PackedTokens p = cutting::pack(both);
  EXPECT_EQ(p.pixels.sizes(), (at::IntArrayRef{2, 2, 3, 16, 16}));
  EXPECT_EQ(p.mask.sum().item<int64_t>(), 3);
  EXPECT_EQ(cutting::pack(both, 5).mask.size(1), 5);
  EXPECT_THROW(cutting::pack(both, 1), Error);
}

TEST(Tokens, BucketsKeepPaddingSmall) {
  std::vector<int64_t> lengths = {400, 64, 70, 390, 66, 180};
  auto groups = cutting::bucket(lengths, 800);
  size_t seen = 0;
  for (const auto& group : groups) {
    int64_t longest = 0;
    for (size_t i : group) longest = std::max(longest, lengths[i]);
    EXPECT_LE(longest * static_cast<int64_t>(group.size()), 800);
    seen += group.size();
  }
  EXPECT_EQ(seen, lengths.size());
  EXPECT_EQ(cutting::bucket({5000}, 100).size(), 1u);
  EXPECT_THROW(cutting::bucket({1}, 0), Error);
}

TEST(Tokens, CropsAreCutIntoPatchesWhereTheyLie) {
  const Pyramid pyramid(noise(128, 256));
  Allocation a;
  a.geometry = pyramid.geometry();
  a.crops = {{{0, 0, 256, 128}, 64, 32, 8}, {{128, 64, 192, 128}, 64, 64, 16}};
  const TokenSequence t = cutting::cut(pyramid, a);
  ASSERT_EQ(t.size(), 24);
  EXPECT_NEAR(t.scale[0].item<float>(), 2, 1e-6);  // four pixels become one
  EXPECT_NEAR(t.scale[8].item<float>(), 0, 1e-6);
  EXPECT_NEAR(t.centre[8][0].item<float>(), 136.0 / 256, 1e-6);
  EXPECT_NEAR(t.centre[8][1].item<float>(), 72.0 / 128, 1e-6);
  EXPECT_TRUE(t.pixels[8].equal(pyramid.picture().rgb.slice(1, 64, 80).slice(2, 128, 144)));
  const std::vector<Box> boxes = allocating::token_boxes(a);
  ASSERT_EQ(boxes.size(), 24U);
  EXPECT_EQ(boxes[0], (Box{0, 0, 64, 64}));
  EXPECT_EQ(boxes[8], (Box{128, 64, 144, 80}));
}

TEST(PatchCache, GivesWhatCuttingAfreshGives) {
  const Pyramid pyramid(noise(128, 128));
  Allocation first, second;
  first.geometry = second.geometry = pyramid.geometry();
  first.leaves = {{1, 0, 0, .1F}, {0, 0, 4, .9F}, {0, 1, 5, .5F}};
  second.leaves = {{0, 0, 0, .3F}, {0, 0, 4, .7F}, {0, 1, 5, .2F}};
  cutting::PatchCache cache(pyramid);
  int reused = -1;
  cache.cut(first, reused);
  EXPECT_EQ(reused, 0);
  const TokenSequence again = cache.cut(second, reused), afresh = cutting::cut(pyramid, second);
  EXPECT_EQ(reused, 2);
  EXPECT_TRUE(at::equal(afresh.pixels, again.pixels));
  EXPECT_TRUE(at::equal(afresh.around, again.around));
  EXPECT_TRUE(at::equal(afresh.centre, again.centre));
  EXPECT_TRUE(at::equal(afresh.scale, again.scale));
  EXPECT_TRUE(at::equal(afresh.relevance, again.relevance));
}
