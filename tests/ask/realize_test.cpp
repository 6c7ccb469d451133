// The whole sentence, and the failure cases that need no model.
#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include "arrcoc/error.h"
#include "arrcoc/realize.h"
#include "lab/measure/evaluation.h"
#include "sight.h"

using namespace arrcoc;
using namespace arrcoc::test;

namespace {

Picture picture_of(const at::Tensor& rgb) {
  return make_picture((rgb * 255).round().to(at::kByte));
}

// A red block in the upper left and print below it, in proportion to the size.
at::Tensor busy(uint64_t seed, int h = 384, int w = 512) {
  at::Tensor rgb = flat(.7, .72, .68, h, w);
  fill(rgb, h / 10, w / 8, 3 * h / 10, 3 * w / 8, .8, .1, .1);
  scribble(rgb, h / 2, w / 12, 5 * h / 6, 7 * w / 12, .15);
  auto g = at::detail::createCPUGenerator(seed);
  return (rgb + at::randn({3, h, w}, g, at::kFloat) * 0.01).clamp(0, 1);
}

// Tokens per area in the box over tokens per area in the whole picture.
double density(const Allocation& a, const Box& box) { return measuring::lift(a, {box}); }

}  // namespace

TEST(Realize, GivesTokensForEveryPolicyWithinTheBudget) {
  const Picture picture = picture_of(busy(1));
  for (const auto& [name, summary] : policies()) {
    if (name == "full" || name == "reader") continue;   // need media
    if (policy(name).coupling == "realizer") continue;  // needs weights
    for (int budget : {1, 64, 180, 400}) {
      Options options = policy(name);
      options.budget = std::to_string(budget);
      Realization r = realize(picture, "What does the red sign say?", options);
      EXPECT_LE(r.allocation.tokens(), budget) << name;
      EXPECT_GE(r.tokens.size(), 1) << name;
      EXPECT_EQ(r.tokens.size(), static_cast<int64_t>(r.allocation.leaves.size())) << name;
    }
  }
}

TEST(Realize, SameInputSameResultOnOneOrTwoThreads) {
  const Picture picture = picture_of(busy(2));
  const int before = at::get_num_threads();
  at::set_num_threads(1);
  Realization one = realize(picture, "What does the text say?");
  at::set_num_threads(2);
  Realization two = realize(picture, "What does the text say?");
  Realization again = realize(picture, "What does the text say?");
  at::set_num_threads(before);
  EXPECT_EQ(one.allocation.leaves.size(), two.allocation.leaves.size());
  for (size_t i = 0; i < one.allocation.leaves.size(); ++i) {
    const Leaf& a = one.allocation.leaves[i];
    const Leaf& b = two.allocation.leaves[i];
    EXPECT_TRUE(a.level == b.level && a.row == b.row && a.col == b.col);
  }
  for (size_t i = 0; i < one.relevance.map.size(); ++i) {
    EXPECT_NEAR(one.relevance.map.values[i], two.relevance.map.values[i], 5e-5);
  }
  EXPECT_EQ(two.relevance.map, again.relevance.map);
  EXPECT_EQ(two.allocation.leaves, again.allocation.leaves);
  EXPECT_TRUE(two.tokens.pixels.equal(again.tokens.pixels));
}

TEST(Realize, CamouflagedTextBeatsTheRedDistractor) {
  // Grey 0.4 on 0.3, and a saturated red block that draws the eye.
  at::Tensor rgb = flat(.3, .3, .3, 1024, 1024);
  scribble(rgb, 600, 120, 680, 420, .4);
  fill(rgb, 100, 600, 300, 900, .9, .05, .05);
  for (const char* question : {"What does the text say?", "What is written on the wall?"}) {
    Realization r = realize(picture_of(rgb), question);
    const double text = density(r.allocation, Box{120, 600, 420, 680});
    EXPECT_GT(text, 2.0) << question;
    EXPECT_GT(text, 2 * density(r.allocation, Box{600, 100, 900, 300})) << question;
  }
}

TEST(Realize, TinyTextInACornerIsSeenFinely) {
  at::Tensor rgb = flat(.8, .82, .8, 1024, 1024);
  fill(rgb, 300, 300, 700, 700, .2, .5, .3);
  scribble(rgb, 984, 904, 1020, 1020, .2);
  Realization r = realize(picture_of(rgb), "What is the tiny text in the corner?");
  EXPECT_GT(measuring::covered(r.allocation, Box{904, 984, 1015, 1018}, 16), 0.9);
}

TEST(Realize, VoidAndNoiseFallBackToUniformAndSaySo) {
  auto g = at::detail::createCPUGenerator(9);
  for (const at::Tensor& rgb : {flat(.5, .5, .5, 512, 512), flat(0, 0, 0, 300, 200),
                                at::rand({3, 512, 512}, g, at::kFloat)}) {
    Realization r = realize(picture_of(rgb), "What is this?");
    ASSERT_FALSE(r.fallbacks.empty());
    EXPECT_NE(r.fallbacks[0].find("uniform"), std::string::npos);
    int coarsest = -9;
    int finest = 99;
    for (const Leaf& leaf : r.allocation.leaves) {
      coarsest = std::max(coarsest, leaf.level);
      finest = std::min(finest, leaf.level);
    }
    EXPECT_LE(coarsest - finest, 1) << "an even map must give even detail";
  }
}

TEST(Realize, TheMapMovesWithTheQuestion) {
  at::Tensor rgb = busy(3, 1024, 1024);
  fill(rgb, 700, 700, 800, 900, .1, .2, .8);
  const Picture picture = picture_of(rgb);
  Realization red = realize(picture, "What is the red thing?");
  Realization blue = realize(picture, "What is the blue thing?");
  EXPECT_GT(density(red.allocation, Box{128, 102, 384, 307}), 2.0);
  EXPECT_GT(density(blue.allocation, Box{700, 700, 900, 800}), 2.0);
  EXPECT_GT(cosine_distance(red.relevance.map, blue.relevance.map), 0.1);
}

TEST(Realize, LeavesReferToNativePixelsOrToTheCanvas) {
  const Picture picture = picture_of(busy(4, 300, 500));
  Options options;
  Realization native = realize(picture, "the red thing", options);
  EXPECT_EQ(native.allocation.geometry.width, 500);
  options.canvas = 1024;
  Realization canvas = realize(picture, "the red thing", options);
  EXPECT_EQ(canvas.allocation.geometry.width, 1024);
  EXPECT_EQ(canvas.allocation.geometry.height, 614);
  EXPECT_GT(density(canvas.allocation, Box{128, 61, 384, 184}), 2.0);
}

TEST(Realize, ExtremeShapesWork) {
  for (auto [h, w] : {std::pair{1, 1}, {1, 65535}, {65535, 1}, {3, 4000}, {17, 15}}) {
    const Picture picture = make_picture(at::full({3, h, w}, 100, at::kByte));
    for (const char* allocator : {"quadtree", "breadth-first", "uniform"}) {
      Options options;
      options.allocator = allocator;
      Realization r = realize(picture, "what?", options);
      EXPECT_GE(r.tokens.size(), 1);
      EXPECT_LE(r.tokens.size(), 180);
    }
  }
}

TEST(Realize, EnlargedPatchesAreOptIn) {
  const Picture picture = picture_of(busy(5, 128, 128));
  Options options;
  options.budget = "400";
  for (const Leaf& l : realize(picture, "the text", options).allocation.leaves)
    EXPECT_GE(l.level, 0);
  options.enlarge = true;
  Realization r = realize(picture, "the text", options);
  EXPECT_TRUE(std::any_of(r.allocation.leaves.begin(), r.allocation.leaves.end(),
                          [](const Leaf& l) { return l.level == -1; }));
  EXPECT_EQ(r.tokens.pixels.size(0), static_cast<int64_t>(r.allocation.leaves.size()));
}

TEST(Realize, StatisticsAreBehindOneSwitch) {
  const Picture picture = picture_of(busy(6));
  EXPECT_TRUE(realize(picture, "what?").statistics.empty());
  Options options;
  options.statistics = true;
  Realization r = realize(picture, "what?", options);
  ASSERT_GE(r.statistics.size(), 5u);
  EXPECT_EQ(r.statistics[0].stage, "texture");
  EXPECT_EQ(r.statistics[0].shape[0], 13);
  EXPECT_THROW(measure("here", at::full({2}, NAN)), Error);
}

TEST(Tokens, PixelsCentresAndOrder) {
  const Picture picture = picture_of(busy(7, 100, 200));
  const Pyramid pyramid(picture);
  Allocation a;
  a.geometry = pyramid.geometry();
  a.leaves = {{1, 0, 0, .1F}, {0, 0, 2, .9F}, {0, 1, 3, .5F}};
  TokenSequence t = cutting::realize(pyramid, a);
  ASSERT_EQ(t.size(), 3);
  EXPECT_TRUE(t.pixels[1].equal(picture.rgb.slice(1, 0, 16).slice(2, 32, 48)));
  EXPECT_TRUE(t.pixels[0].equal(pyramid.level(1).slice(1, 0, 16).slice(2, 0, 16)));
  EXPECT_TRUE(t.around[2].equal(picture.rgb.slice(1, 12, 36).slice(2, 44, 68)));
  EXPECT_NEAR(t.centre[2][0].item<float>(), 56.0 / 200, 1e-6);
  EXPECT_NEAR(t.centre[2][1].item<float>(), 24.0 / 100, 1e-6);
  EXPECT_EQ(t.scale[0].item<float>(), 1.0);
  TokenSequence by = cutting::realize(pyramid, a, TokenOrder::relevance);
  EXPECT_TRUE(by.pixels[0].equal(t.pixels[1]));
  EXPECT_NEAR(by.relevance[0].item<float>(), .9F, 1e-6);
}

TEST(Tokens, PackingPadsAndNeverCuts) {
  const Picture picture = picture_of(busy(8, 64, 64));
  const Pyramid pyramid(picture);
  Allocation a;
  a.geometry = pyramid.geometry();
  a.leaves = {{0, 0, 0, 1}, {0, 0, 1, 1}};
  Allocation b = a;
  b.leaves.pop_back();
  std::vector<TokenSequence> both = {cutting::realize(pyramid, a), cutting::realize(pyramid, b)};
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
