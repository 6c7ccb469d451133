// The whole picture without a choice, several pictures under one budget, and views.
#include <gtest/gtest.h>

#include "arrcoc/error.h"
#include "support.h"

namespace arrcoc::allocating {
namespace {

TEST(Whole, NativeIsEveryPatchWhateverTheBudget) {
  const Geometry g{400, 300, 0};
  const Allocation out = run("native", map_over(g, 4, 4), g, 80);
  EXPECT_EQ(out.tokens(), 25 * 19);
  EXPECT_EQ(out.budget.tokens, 25 * 19);
  for (const Leaf& leaf : out.leaves) EXPECT_EQ(leaf.level, 0);
}

TEST(Whole, ResizeIsOneViewThatFits) {
  const Geometry g{640, 320, 0};
  const Allocation out = run("resize", map_over(g, 4, 4), g, 100);
  ASSERT_EQ(out.crops.size(), 1U);
  EXPECT_EQ(out.crops[0].box, (Box{0, 0, 640, 320}));
  EXPECT_NEAR(static_cast<double>(out.crops[0].width) / out.crops[0].height, 2.0, 0.05);
  EXPECT_GT(out.tokens(), 80);  // as much of the budget as whole patches allow
  EXPECT_EQ((Geometry{out.crops[0].width, out.crops[0].height, 0}.native_tokens()), out.tokens());
  const Geometry small{64, 64, 0};  // is not enlarged
  EXPECT_EQ(run("resize", map_over(small, 4, 4), small, 100).tokens(), 16);
}

TEST(Together, OneBudgetIsSharedWithALeastEach) {
  const Geometry g{1024, 1024, 0};
  Map hot = map_over(g, 64, 64, 0.01F);
  const Relevance cold = relevance_of(hot);
  for (int i = 0; i < 40; ++i) hot.values[static_cast<size_t>(600 + i * 3)] = 1;
  const auto shares = allocate_together({relevance_of(hot), cold}, {g, g}, tokens(180), 24);
  EXPECT_LE(shares[0].tokens() + shares[1].tokens(), 180);
  EXPECT_GE(shares[0].tokens() + shares[1].tokens(), 176);
  EXPECT_GE(shares[1].tokens(), 24);
  EXPECT_GT(shares[0].tokens(), 2 * shares[1].tokens());
  for (const Allocation& a : shares) {  // every pixel of every picture is seen
    double area = 0;
    for (const Leaf& l : a.leaves) area += box_of(g, l).area();
    EXPECT_DOUBLE_EQ(area, 1024.0 * 1024.0);
  }
  EXPECT_THROW(allocate_together({relevance_of(hot), cold}, {g, g}, tokens(1), 24), Error);
  EXPECT_THROW(allocate_together({}, {}, tokens(9), 24), Error);
}

// A model that pays one token for 28x28 pixels, at least four a picture.
int64_t view_tokens(int width, int height) {
  return std::max<int64_t>(4, int64_t{(width + 27) / 28} * ((height + 27) / 28));
}

AllocateOptions for_views() {
  AllocateOptions options;
  options.token_pixels = 28;
  return options;
}

TEST(Views, SeveralPicturesShareByRelevance) {
  const Geometry g{1120, 1120, 0}, small{112, 84, 0};  // 1,600 and 12 tokens as they are
  Map hot = map_over(g, 40, 40, 0.01F);
  const Relevance cold = relevance_of(hot);
  for (int i = 0; i < 40; ++i) hot.values[static_cast<size_t>(400 + i * 3)] = 1;
  const auto shares = allocate_views_together({relevance_of(hot), cold}, {g, g}, tokens(300), 16,
                                              for_views(), view_tokens);
  EXPECT_LE(shares[0].tokens() + shares[1].tokens(), 300);
  EXPECT_GT(shares[0].tokens(), 2 * shares[1].tokens());
  EXPECT_GE(shares[1].tokens(), 12);
  // What a small picture cannot use goes to the other.
  const auto given = allocate_views_together({cold, relevance_of(map_over(small, 3, 4, 0.9F))},
                                             {g, small}, tokens(300), 16, for_views(), view_tokens);
  EXPECT_EQ(given[1].tokens(), 12);
  EXPECT_GT(given[0].tokens(), 250);
  EXPECT_LE(given[0].tokens(), 288);
  // A floor is paid before relevance counts.
  const auto dear = [](int width, int height) {
    return std::max<int64_t>(100, view_tokens(width, height));
  };
  const auto floors = allocate_views_together({relevance_of(hot), cold}, {g, g}, tokens(300), 16,
                                              for_views(), dear);
  EXPECT_GE(floors[1].tokens(), 100);
  EXPECT_LE(floors[0].tokens() + floors[1].tokens(), 300);
  EXPECT_THROW(
      allocate_views_together({cold, cold}, {g, g}, tokens(1), 16, for_views(), view_tokens),
      Error);
}

// A closer look may enlarge although the picture fits as it is.
TEST(Views, AreEnlargedOnlyWhereThatIsAllowed) {
  Geometry g{280, 280, 0};  // 100 tokens
  Map map = map_over(g, 10, 10, 0.05F);
  map.at(2, 2) = 1;
  const auto plain = allocate_views(relevance_of(map), g, tokens(150), for_views(), view_tokens);
  ASSERT_EQ(plain.crops.size(), 1U);
  g.finest = -1;
  const auto closer = allocate_views(relevance_of(map), g, tokens(150), for_views(), view_tokens);
  ASSERT_EQ(closer.crops.size(), 2U);
  EXPECT_GT(closer.crops[1].width, closer.crops[1].box.width());
  EXPECT_LE(closer.tokens(), 150);
}

TEST(Views, APictureThatFitsGoesAsItIs) {
  const Geometry g{280, 280, 0};
  const Allocation out =
      allocate_views(relevance_of(map_over(g, 8, 8)), g, tokens(100), for_views(), view_tokens);
  ASSERT_EQ(out.crops.size(), 1U);
  EXPECT_EQ(out.crops[0].width, 280);
  EXPECT_EQ(out.tokens(), 100);
}

TEST(Views, CropsFitByTheModelsOwnCount) {
  const Geometry g{1400, 1000, 0};
  Map map = map_over(g, 50, 70, 0.05F);
  for (int r = 10; r < 14; ++r)
    for (int c = 10; c < 20; ++c) map.at(r, c) = 1;
  for (int budget : {4, 5, 16, 64, 180, 400, 1800}) {
    const Allocation out =
        allocate_views(relevance_of(map), g, tokens(budget), for_views(), view_tokens);
    EXPECT_LE(out.tokens(), budget);
    for (const Crop& crop : out.crops) EXPECT_EQ(crop.tokens, view_tokens(crop.width, crop.height));
    EXPECT_TRUE(out.fallbacks.empty());
    if (budget == 180) EXPECT_GT(out.crops.size(), 1U);
  }
}

TEST(Views, AFloorThatNothingFitsSendsThePictureAndSaysSo) {
  const Geometry g{1400, 1000, 0};
  const auto dear = [](int, int) { return int64_t{576}; };
  const Allocation out =
      allocate_views(relevance_of(map_over(g, 8, 8)), g, tokens(64), for_views(), dear);
  ASSERT_EQ(out.crops.size(), 1U);
  EXPECT_EQ(out.crops[0].width, 1400);
  EXPECT_EQ(out.tokens(), 576);
  ASSERT_EQ(out.fallbacks.size(), 1U);
  EXPECT_TRUE(out.fallbacks[0].ends_with(kAnySize));
}

// Qwen3-VL: 32x32 pixels a token, at least 64 tokens a picture.
int64_t with_floor(int width, int height) {
  double rows = std::nearbyint(height / 32.0), cols = std::nearbyint(width / 32.0);
  if (rows * cols < 64) {
    const double beta = std::sqrt(65536.0 / width / height);
    rows = std::ceil(height * beta / 32);
    cols = std::ceil(width * beta / 32);
  }
  return static_cast<int64_t>(rows * cols);
}

// A picture with three spots under a rule.
Allocation spotted(const Geometry& g, int budget, int token_pixels,
                   const std::function<int64_t(int, int)>& rule) {
  Map map = map_over(g, 12, 16, 0.05F);
  map.at(3, 4) = 1;
  map.at(9, 12) = 0.8F;
  map.at(10, 2) = 0.7F;
  AllocateOptions options;
  options.token_pixels = token_pixels;
  return allocate_views(relevance_of(map), g, tokens(budget), options, rule);
}

TEST(Views, AFloorLeavesFewerCropsAndTheRestIsUsed) {
  const Geometry g{2048, 1536, 0};
  const std::pair<int, size_t> views[] = {{64, 1}, {128, 2}, {180, 2}, {256, 3}, {400, 4}};
  for (const auto& [budget, count] : views) {
    const Allocation out = spotted(g, budget, 32, with_floor);
    EXPECT_EQ(out.crops.size(), count) << budget;
    EXPECT_LE(out.tokens(), budget);
    EXPECT_GT(out.tokens(), 0.9 * budget);
    EXPECT_TRUE(out.fallbacks.empty());
    for (size_t i = 1; i < out.crops.size(); ++i) EXPECT_GE(out.crops[i].box.width(), 256);
  }
}

TEST(Views, AFloorOverTheBudgetGivesTheLargestViewAtThatPrice) {
  const Allocation out = spotted({2048, 1536, 0}, 20, 32, with_floor);
  ASSERT_EQ(out.crops.size(), 1U);
  EXPECT_EQ(out.tokens(), 64);
  EXPECT_EQ(out.budget.tokens, 64);
  EXPECT_GE(out.crops[0].width * out.crops[0].height, 240 * 240);
  ASSERT_EQ(out.fallbacks.size(), 1U);
  EXPECT_TRUE(out.fallbacks[0].ends_with(kLeastSize));
  // Ollama's 1024: three views would be dearer than the picture.
  const auto ollama = [](int w, int h) { return std::max<int64_t>(1024, with_floor(w, h)); };
  EXPECT_EQ(spotted({1024, 1040, 0}, 180, 32, ollama).tokens(), 1024);
  EXPECT_EQ(spotted({900, 700, 0}, 180, 32, ollama).crops[0].width, 900) << "as it is";
}

TEST(Views, AStripIsSqueezedRatherThanPaidFor) {
  const Allocation out = spotted({8000, 41, 0}, 70, 32, with_floor);
  ASSERT_EQ(out.crops.size(), 1U);
  EXPECT_LE(out.tokens(), 70);
  EXPECT_LE(out.crops[0].height, 41);
}

// 258 a tile of 512; what is not near a square takes more tiles however small it is.
int64_t by_tiles(int width, int height) {
  const double ratio = static_cast<double>(std::max(width, height)) / std::min(width, height);
  const int64_t tiles = int64_t{(width + 511) / 512} * ((height + 511) / 512);
  return 258 * (ratio > 1.2 ? 12 : tiles);
}

TEST(Views, TilesGiveAGlanceAndSquaresAtThePriceOfOne) {
  const Geometry g{2048, 1536, 0};
  const std::pair<int, size_t> views[] = {{300, 1}, {515, 1}, {516, 2}, {800, 3}, {2000, 4}};
  for (const auto& [budget, count] : views) {
    const Allocation out = spotted(g, budget, 0, by_tiles);
    EXPECT_EQ(out.crops.size(), count) << budget;
    EXPECT_LE(out.tokens(), budget);
    for (size_t i = 1; i < out.crops.size(); ++i) {
      EXPECT_EQ(out.crops[i].tokens, 258);
      EXPECT_GE(out.crops[i].width, 480);
      EXPECT_EQ(out.crops[i].box.width(), out.crops[i].box.height());
    }
  }
}

}  // namespace
}  // namespace arrcoc::allocating
