#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "lab/measure/evaluation.h"

namespace arrcoc::measuring {
namespace {

Allocation leaves(std::vector<Leaf> list) {
  Allocation out;
  out.geometry = {128, 64, 0};
  out.leaves = std::move(list);
  return out;
}

TEST(TokenDensity, SpreadsEveryTokenOverItsBox) {
  // One token of 64 pixels on the left, one of 16 pixels in the lower right corner.
  const auto d = token_density(leaves({{2, 0, 0, 0}, {0, 3, 7, 0}}), 2, 4);
  EXPECT_NEAR(std::accumulate(d.begin(), d.end(), 0.0), 1, 1e-6);
  for (size_t cell : {0, 1, 4, 5}) EXPECT_NEAR(d[cell], 0.125, 1e-6) << cell;
  EXPECT_NEAR(d[7], 0.5, 1e-6);
  EXPECT_NEAR(d[2], 0, 1e-6);
}

TEST(TokenDensity, TakesCropsToo) {
  Allocation a;
  a.geometry = {128, 64, 0};
  a.crops = {{{0, 0, 128, 64}, 64, 32, 8}, {{64, 0, 128, 64}, 64, 64, 24}};
  const auto d = token_density(a, 1, 2);
  EXPECT_NEAR(d[0], 4.0 / 32, 1e-6);
  EXPECT_NEAR(d[1], 28.0 / 32, 1e-6);
  // Patches of the second are 16 pixels, those of the first 32.
  EXPECT_NEAR(covered(a, {60, 0, 68, 10}, 16), 0.5, 1e-6);
  EXPECT_NEAR(covered(a, {60, 0, 68, 10}, 32), 1, 1e-6);
  EXPECT_GT(lift(a, {{64, 0, 128, 64}}), 1);
}

TEST(Correlation, IsOneOnTheEvidenceAndNoneWhereTokensAreEven) {
  const std::vector<Box> box = {{96, 32, 128, 64}};
  const auto cover = box_cover(box, 128, 64, 2, 4);
  EXPECT_EQ(cover, (std::vector<double>{0, 0, 0, 0, 0, 0, 0, 1}));
  EXPECT_NEAR(correlation(cover, cover), 1, 1e-9);
  EXPECT_NEAR(correlation(std::vector<double>(8, 0.3), cover), 0, 1e-9);
  EXPECT_LT(correlation({1, 1, 1, 1, 1, 1, 1, 0}, cover), -0.99);
}

TEST(KMeans, FindsGroupsThatLieApartAndComesBackTheSame) {
  std::vector<std::vector<double>> points;
  for (int i = 0; i < 30; ++i) {
    const double off = i % 7 * 0.01;
    if (i % 3 == 0) {
      points.push_back({5 + off, 0});
    } else {
      points.push_back({0, off});
    }
  }
  const Clusters a = k_means(points, 2), b = k_means(points, 2);
  EXPECT_EQ(a.of, b.of);
  ASSERT_EQ(a.centres.size(), 2U);
  for (size_t i = 0; i < points.size(); ++i) EXPECT_EQ(a.of[i], i % 3 == 0 ? 1 : 0);
  EXPECT_NEAR(a.centres[1][0], 5.03, 0.02);
  const auto closest = a.nearest(points, 1, 3);
  ASSERT_EQ(closest.size(), 3U);
  for (size_t i : closest) EXPECT_EQ(i % 3, 0U);
  EXPECT_LE(std::abs(points[closest[0]][0] - a.centres[1][0]),
            std::abs(points[closest[2]][0] - a.centres[1][0]));
}

TEST(KMeans, TakesFewerClustersThanPointsAllow) {
  const Clusters same = k_means({{1, 2}, {1, 2}, {1, 2}}, 3);
  EXPECT_EQ(same.centres.size(), 1U);
  EXPECT_EQ(k_means({}, 3).of.size(), 0U);
}

}  // namespace
}  // namespace arrcoc::measuring
