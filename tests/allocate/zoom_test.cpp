// A glance and a few rectangles, for models that take ordinary pictures.
#include <gtest/gtest.h>

#include "support.h"

namespace arrcoc::allocating {
namespace {

const Geometry kPage{2048, 3072, 0};

Map with_spots(std::initializer_list<std::pair<int, int>> spots) {
  Map map = map_over(kPage, 48, 32, 0.05F);
  for (const auto& [row, col] : spots) map.at(row, col) = 1;
  return map;
}

TEST(Zoom, CropsLieInsideThePictureAndTheirTokensAddUpWithinTheBudget) {
  std::mt19937 random(71);
  for (int round = 0; round < 200; ++round) {
    const int most = 1 << (1 + random() % 13);
    const Geometry geometry{1 + static_cast<int>(random() % most),
                            1 + static_cast<int>(random() % most), round % 3 == 0 ? -1 : 0};
    Map map = map_over(geometry, 1 + static_cast<int>(random() % 40),
                       1 + static_cast<int>(random() % 40));
    fill_random(map, random);
    for (float& value : map.values) value = std::pow(value, 20.0F);
    AllocateOptions options;
    options.token_pixels = round % 2 == 0 ? 32 : 28;
    options.max_crops = static_cast<int>(random() % 5);
    const int budget = 1 + static_cast<int>(random() % 500);
    const Allocation out = run("zoom", map, geometry, budget, options);
    ASSERT_TRUE(out.leaves.empty());
    ASSERT_GE(out.crops.size(), 1U);
    ASSERT_LE(out.crops.size(), 1U + static_cast<size_t>(options.max_crops));
    EXPECT_EQ(out.crops[0].box,
              (Box{0, 0, static_cast<float>(geometry.width), static_cast<float>(geometry.height)}));
    int sum = 0;
    for (const Crop& crop : out.crops) {
      EXPECT_GE(crop.box.x0, 0);
      EXPECT_GE(crop.box.y0, 0);
      EXPECT_LE(crop.box.x1, geometry.width);
      EXPECT_LE(crop.box.y1, geometry.height);
      EXPECT_GT(crop.box.area(), 0);
      EXPECT_EQ(crop.width % options.token_pixels, 0);
      EXPECT_EQ(crop.height % options.token_pixels, 0);
      EXPECT_EQ(crop.tokens,
                crop.width / options.token_pixels * (crop.height / options.token_pixels));
      EXPECT_GE(crop.tokens, 1);
      sum += crop.tokens;
    }
    EXPECT_EQ(sum, out.tokens());
    EXPECT_LE(sum, budget);
  }
}

TEST(Zoom, ShowsWhatStandsOutLargerThanTheGlance) {
  const Allocation out = run("zoom", with_spots({{10, 5}, {40, 25}}), kPage, 256);
  ASSERT_EQ(out.crops.size(), 3U);
  const double glance = out.crops[0].width / out.crops[0].box.width();
  for (size_t i = 1; i < out.crops.size(); ++i) {
    EXPECT_GT(out.crops[i].width / out.crops[i].box.width(), 1.2 * glance);
    EXPECT_LE(out.crops[i].width, out.crops[i].box.width()) << "never enlarged unasked";
  }
  const auto covers = [&](float x, float y) {
    return std::any_of(out.crops.begin() + 1, out.crops.end(), [&](const Crop& crop) {
      return crop.box.x0 <= x && x < crop.box.x1 && crop.box.y0 <= y && y < crop.box.y1;
    });
  };
  EXPECT_TRUE(covers(5 * 64 + 32, 10 * 64 + 32));
  EXPECT_TRUE(covers(25 * 64 + 32, 40 * 64 + 32));
}

TEST(Zoom, KeepsToTheNumberOfCrops) {
  const Map map = with_spots({{2, 2}, {10, 28}, {20, 5}, {30, 20}, {44, 4}});
  AllocateOptions options;
  EXPECT_EQ(run("zoom", map, kPage, 400, options).crops.size(), 4U);
  options.max_crops = 1;
  EXPECT_EQ(run("zoom", map, kPage, 400, options).crops.size(), 2U);
  options.max_crops = 0;
  EXPECT_EQ(run("zoom", map, kPage, 400, options).crops.size(), 1U);
}

TEST(Zoom, GivesAllToTheGlanceWhenNothingStandsOut) {
  const Allocation out = run("zoom", map_over(kPage, 48, 32, 0.5F), kPage, 256);
  EXPECT_EQ(out.crops.size(), 1U);
  EXPECT_GE(out.tokens(), 200);
  ASSERT_EQ(out.fallbacks.size(), 1U);
  EXPECT_NE(out.fallbacks[0].find("glance"), std::string::npos);
}

TEST(Zoom, ASmallPictureIsShownAsItIs) {
  const Geometry geometry{320, 256, 0};
  Map map = map_over(geometry, 16, 20);
  map.at(3, 3) = 1;
  const Allocation out = run("zoom", map, geometry, 180);
  ASSERT_EQ(out.crops.size(), 1U);
  EXPECT_EQ(out.crops[0].width, 320);
  EXPECT_EQ(out.crops[0].height, 256);
  const Geometry enlarge{320, 256, -1};  // small print may be enlarged: opt-in
  const Allocation twice = run("zoom", map, enlarge, 180);
  ASSERT_EQ(twice.crops.size(), 2U);
  EXPECT_GT(twice.crops[1].width, twice.crops[1].box.width());
}

TEST(Zoom, AStripKeepsWithinTheBudget) {
  const Geometry geometry{65535, 1, 0};
  Map map = map_over(geometry, 1, 64, 0.1F);
  map.at(0, 30) = 1;
  const Allocation out = run("zoom", map, geometry, 100);
  EXPECT_LE(out.tokens(), 100);
  EXPECT_EQ(out.crops[0].height, 32);
}

}  // namespace
}  // namespace arrcoc::allocating
