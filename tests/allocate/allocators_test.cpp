// What makes each allocator what it is.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "allocate/clusters.h"
#include "allocate/curves.h"
#include "allocate/selection.h"
#include "support.h"

namespace arrcoc::allocating {
namespace {

int levels_used(const Allocation& allocation) {
  std::set<int> levels;
  for (const Leaf& leaf : allocation.leaves) levels.insert(leaf.level);
  return static_cast<int>(levels.size());
}

TEST(VarianceSplit, SplitsAtBordersAndLeavesEvenAreasWhole) {
  Map map = aligned_map(kSquare);
  for (int r = 0; r < 64; ++r) {
    for (int c = 0; c < 21; ++c) map.at(r, c) = 1;  // an edge at x = 336
  }
  const Allocation out = run("variance-split", map, kSquare, 180);
  EXPECT_LE(leaf_at(out, 330, 8)->level, 1) << "the first of the edge";
  EXPECT_EQ(leaf_at(out, 10, 10)->level, 4) << "relevant, but even";
  EXPECT_EQ(leaf_at(out, 1000, 1000)->level, 4) << "irrelevant and even";
  AllocateOptions options;
  options.variance_threshold = 0.3F;  // above the largest variance of zeros and ones
  EXPECT_EQ(run("variance-split", map, kSquare, 180, options).tokens(), 16);
}

TEST(BreadthFirst, IgnoresRelevanceAndStaysEven) {
  const Allocation out = run("breadth-first", noise(1), kSquare, 180);
  const Allocation other = run("breadth-first", noise(2), kSquare, 180);
  ASSERT_EQ(out.leaves.size(), other.leaves.size());
  for (size_t i = 0; i < out.leaves.size(); ++i) {
    EXPECT_EQ(out.leaves[i].row, other.leaves[i].row);
    EXPECT_EQ(out.leaves[i].level, other.leaves[i].level);
    EXPECT_TRUE(out.leaves[i].level == 2 || out.leaves[i].level == 3);
  }
  EXPECT_EQ(out.tokens(), 178) << "64 of level 3, 38 of them split";
  EXPECT_EQ(out.leaves.front().level, 2);
  EXPECT_EQ(out.leaves.back().level, 3) << "raster order: the last ones wait";
}

TEST(Uniform, UsesTheFinestLevelThatFits) {
  const Allocation out = run("uniform", noise(3), kSquare, 255);
  EXPECT_EQ(levels_used(out), 1);
  EXPECT_EQ(out.tokens(), 64);
  EXPECT_EQ(run("uniform", noise(3), kSquare, 256).tokens(), 256);
  EXPECT_EQ(run("uniform", noise(3), kSquare, 65536).tokens(), 4096);
  EXPECT_EQ(run("uniform", map_over({1, 65535, 0}, 64, 1), {1, 65535, 0}, 100).tokens(), 64);
}

TEST(Random, DependsOnTheSeedAndNotOnRelevance) {
  AllocateOptions options;
  options.seed = 7;
  const auto first = run("random", noise(4), kSquare, 180, options);
  const auto other_map = run("random", noise(5), kSquare, 180, options);
  EXPECT_EQ(cells(first), cells(other_map));
  options.seed = 8;
  EXPECT_NE(cells(first), cells(run("random", noise(4), kSquare, 180, options)));
  EXPECT_EQ(first.tokens(), 178);
  EXPECT_GE(levels_used(first), 3);
}

TEST(TopK, TakesTheHighestCells) {
  const Map map = noise(6);
  const Allocation out = run("top-k", map, kSquare, 400);
  EXPECT_EQ(out.tokens(), 200) << "K";
  EXPECT_EQ(run("top-k", map, kSquare, 64).tokens(), 64) << "the budget";
  std::vector<float> values = map.values;
  std::sort(values.rbegin(), values.rend());
  for (const Leaf& leaf : out.leaves) EXPECT_GE(leaf.relevance, values[199]);
}

TEST(TopK, ChoosesAtTheResolutionOfTheMap) {
  const Geometry large{10000, 10000, 0};
  std::mt19937 random(7);
  Map map = map_over(large, 64, 64);
  fill_random(map, random);
  for (const Leaf& leaf : run("top-k", map, large, 400).leaves) EXPECT_EQ(leaf.level, 3);
  for (const Leaf& leaf : run("top-k", map_over(kSquare, 2, 2, 1), kSquare, 400).leaves) {
    EXPECT_LE(leaf.level, 1) << "a coarse map still leaves enough cells to choose from";
  }
}

TEST(WindowTopK, PrefersTheSurroundingsOfAGroupToALoneCell) {
  Map map = aligned_map(kSquare);
  for (int c = 10; c < 13; ++c) map.at(10, c) = 1;
  map.at(10, 13) = 0.45F;  // beside the group
  map.at(50, 50) = 0.5F;   // alone
  AllocateOptions options;
  options.top_k = 4;
  const auto plain = cells(run("top-k", map, kSquare, 64, options));
  const auto window = cells(run("window-topk", map, kSquare, 64, options));
  EXPECT_TRUE(plain.count({50, 50}) == 1 && plain.count({10, 13}) == 0);
  EXPECT_TRUE(window.count({50, 50}) == 0 && window.count({10, 13}) == 1);
  map.at(10, 13) = 0.39F;  // the lift is 0.1, no more
  EXPECT_EQ(cells(run("window-topk", map, kSquare, 64, options)), plain);
}

double mean_nearest(const Allocation& allocation) {
  double sum = 0;
  for (const Leaf& a : allocation.leaves) {
    double nearest = 1e9;
    for (const Leaf& b : allocation.leaves) {
      if (a == b) continue;
      nearest = std::min(nearest, std::hypot(a.row - b.row, a.col - b.col));
    }
    sum += nearest;
  }
  return sum / static_cast<double>(allocation.leaves.size());
}

TEST(Diverse, SpreadsOverTwoGroupsAndStaysRelevant) {
  Map map = aligned_map(kSquare, 0.01F);
  for (int r = 0; r < 16; ++r) {
    for (int c = 0; c < 16; ++c) {
      map.at(r, c) = 1;               // 256 cells that all say the same
      map.at(48 + r, 48 + c) = 0.9F;  // 256 slightly weaker ones elsewhere
    }
  }
  const auto in_second = [](const Allocation& out) {
    return std::count_if(out.leaves.begin(), out.leaves.end(),
                         [](const Leaf& leaf) { return leaf.row >= 48 && leaf.col >= 48; });
  };
  const Allocation top = run("top-k", map, kSquare, 64);
  const Allocation diverse = run("diverse", map, kSquare, 64);
  EXPECT_EQ(in_second(top), 0);
  EXPECT_GE(in_second(diverse), 16);
  EXPECT_GT(mean_nearest(diverse), 1.3 * mean_nearest(top));
  double relevance = 0;
  for (const Leaf& leaf : diverse.leaves) relevance += leaf.relevance;
  EXPECT_GT(relevance / 64, 0.5) << "diversity does not buy irrelevance";
}

TEST(Diverse, StartsFromTheHighestAndFillsUpWhenNothingNewIsLeft) {
  Map map = aligned_map(kSquare);
  map.at(3, 4) = 1;
  EXPECT_EQ(run("diverse", map, kSquare, 1).leaves.front(), (Leaf{0, 3, 4, 1.0F}));
  EXPECT_EQ(run("diverse", map, kSquare, 100).tokens(), 100);
}

TEST(Cascade, OpensOnlyTheTenMostRelevantClusters) {
  const Map map = noise(8);
  const Field field(map, kSquare);
  const Selection from = selection(field, kSquare, 273);
  const std::vector<int> label = cluster(from, 50);
  const std::set<int> labels(label.begin(), label.end());
  EXPECT_GE(labels.size(), 40U);
  EXPECT_LE(labels.size(), 60U);
  const Allocation out = run("cascade", map, kSquare, 400);
  EXPECT_EQ(out.tokens(), 273);
  std::map<int, int> used;
  for (const Leaf& leaf : out.leaves) {
    ++used[label[static_cast<size_t>(leaf.row) * 64 + static_cast<size_t>(leaf.col)]];
  }
  EXPECT_LE(used.size(), 10U);
  for (const auto& [which, count] : used) EXPECT_LE(count, 50);
  EXPECT_EQ(run("cascade", map, kSquare, 100).tokens(), 100);
}

TEST(Cascade, FollowsTheQuestion) {
  // The same picture under two questions: relevance alone decides which clusters open.
  Map left = aligned_map(kSquare, 0.1F);
  Map right = left;
  for (int r = 20; r < 40; ++r) {
    for (int c = 5; c < 20; ++c) {
      left.at(r, c) = 0.9F;
      right.at(r, c + 40) = 0.9F;
    }
  }
  const auto share_left = [](const Allocation& out) {
    return static_cast<double>(std::count_if(out.leaves.begin(), out.leaves.end(),
                                             [](const Leaf& leaf) { return leaf.col < 32; })) /
           static_cast<double>(out.leaves.size());
  };
  EXPECT_GT(share_left(run("cascade", left, kSquare, 100)), 0.9);
  EXPECT_LT(share_left(run("cascade", right, kSquare, 100)), 0.1);
}

TEST(Clusters, CoverStripsAndTinyGrids) {
  for (const Geometry& geometry :
       {Geometry{16, 16, 0}, Geometry{16, 6400, 0}, Geometry{48, 32, 0}}) {
    const Field field(aligned_map(geometry, 0.5F), geometry);
    const Selection from = selection(field, geometry, 1);
    const std::vector<int> label = cluster(from, 50);
    EXPECT_EQ(label.size(), static_cast<size_t>(from.grid.cells()));
    const std::set<int> labels(label.begin(), label.end());
    EXPECT_GE(labels.size(), std::min<size_t>(label.size(), 40));
    EXPECT_LE(labels.size(), 60U);
  }
}

TEST(Soft, BecomesTopKAsTheTemperatureFalls) {
  const Map map = noise(9);
  AllocateOptions options;
  options.seed = 3;
  options.temperature = 1e-7F;
  EXPECT_EQ(cells(run("soft", map, kSquare, 128, options)),
            cells(run("top-k", map, kSquare, 128, options)));
}

TEST(Soft, DrawsByTheSoftmaxOfRelevance) {
  // Four cells, one drawn: frequencies must follow exp(r / T).
  const Geometry geometry{32, 32, 0};
  Map map = aligned_map(geometry);
  map.values = {0.0F, 0.1F, 0.2F, 0.3F};
  AllocateOptions options;
  options.temperature = 0.2F;
  std::vector<double> seen(4, 0);
  const int draws = 20000;
  for (int i = 0; i < draws; ++i) {
    options.seed = static_cast<uint64_t>(i);
    const Leaf leaf = run("soft", map, geometry, 1, options).leaves.front();
    seen[static_cast<size_t>(leaf.row * 2 + leaf.col)] += 1.0 / draws;
  }
  double sum = 0;
  for (float value : map.values) sum += std::exp(value / 0.2);
  for (size_t i = 0; i < 4; ++i) EXPECT_NEAR(seen[i], std::exp(map.values[i] / 0.2) / sum, 0.015);
}

TEST(Bands, MapsThreeBandsToCoarseMediumAndFine) {
  // 512 x 512, budget large enough: root level 2 from 256 tokens, then medium is 1 and fine 0.
  const Geometry geometry{512, 512, 0};
  Map map = aligned_map(geometry, 0.1F);
  map.at(0, 0) = 0.29F;
  map.at(0, 16) = 0.3F;
  map.at(16, 0) = 0.69F;
  map.at(16, 16) = 0.7F;
  const Allocation out = run("bands", map, geometry, 400);
  ASSERT_EQ(geometry.root_level(400), 2);
  EXPECT_EQ(leaf_at(out, 8, 8)->level, 2);
  EXPECT_EQ(leaf_at(out, 264, 8)->level, 1);
  EXPECT_EQ(leaf_at(out, 8, 264)->level, 1);
  EXPECT_EQ(leaf_at(out, 264, 264)->level, 0);
  EXPECT_EQ(out.tokens(), 64 + 3 + 3 + 6);
}

TEST(Tiers, MapsFiveTiersToFiveLevelsOfDetail) {
  const Geometry geometry{1024, 1024, 0};
  Map map = aligned_map(geometry);
  const float values[] = {0.1F, 0.3F, 0.5F, 0.7F};
  for (int i = 0; i < 4; ++i) map.at(8, 16 * i + 8) = values[i];
  map.at(40, 8) = 0.9F;
  const Allocation out = run("tiers", map, geometry, 255);
  ASSERT_EQ(geometry.root_level(255), 4);
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(leaf_at(out, 16 * (16 * i + 8) + 8, 8 * 16 + 8)->level, 4 - i) << i;
  }
  EXPECT_EQ(leaf_at(out, 8 * 16 + 8, 40 * 16 + 8)->level, 0);
  // Too small a budget serves the highest tier first.
  EXPECT_EQ(leaf_at(run("tiers", map, geometry, 32), 8 * 16 + 8, 40 * 16 + 8)->level, 0);
}

TEST(Positions, BudgetsBecomeMipLevels) {
  EXPECT_EQ(mip_level(400), 0);
  EXPECT_EQ(mip_level(300), 0);
  EXPECT_EQ(mip_level(299), 1);
  EXPECT_EQ(mip_level(200), 1);
  EXPECT_EQ(mip_level(199), 2);
  EXPECT_EQ(mip_level(100), 2);
  EXPECT_EQ(mip_level(99), 3);
  Map map = aligned_map(kSquare);
  map.at(10, 10) = 1;     // 400 -> level 0
  map.at(10, 40) = 0.5F;  // 232 -> level 1
  map.at(40, 10) = 0.2F;  // 131 -> level 2
  const Allocation out = run("positions", map, kSquare, 180);
  EXPECT_EQ(leaf_at(out, 10 * 16 + 8, 10 * 16 + 8)->level, 0);
  EXPECT_EQ(leaf_at(out, 40 * 16 + 8, 10 * 16 + 8)->level, 1);
  EXPECT_EQ(leaf_at(out, 10 * 16 + 8, 40 * 16 + 8)->level, 2);
  EXPECT_EQ(leaf_at(out, 8, 8)->level, 3) << "nothing relevant: 64 tokens, the coarsest patch";
}

TEST(Positions, NothingIsSeenTwice) {
  const Allocation out = run("positions", noise(10), kSquare, 273);
  std::vector<char> seen(64 * 64, 0);
  for (const Leaf& leaf : out.leaves) {
    const int scale = 1 << leaf.level;
    for (int r = leaf.row * scale; r < (leaf.row + 1) * scale; ++r) {
      for (int c = leaf.col * scale; c < (leaf.col + 1) * scale; ++c) {
        EXPECT_EQ(seen[static_cast<size_t>(r) * 64 + static_cast<size_t>(c)]++, 0);
      }
    }
  }
}

TEST(Positions, BudgetsStayWithinTheirRangeAndTheTotalCap) {
  AllocateOptions options;
  const std::vector<float> scores(300, 1.0F);
  const auto free = position_budgets(scores, options, 1000000);
  EXPECT_EQ(free, std::vector<int>(300, 400));
  const auto shrunk = position_budgets(scores, options, 60000);
  EXPECT_EQ(shrunk, std::vector<int>(300, 200));
  const auto cut = position_budgets(scores, options, 6400);
  EXPECT_EQ(cut, std::vector<int>(100, 64)) << "the last ones get none rather than less than 64";
  options.quantise = true;
  EXPECT_EQ(position_budgets({1.0F, 0.7F, 0.5F, 0.3F, 0.1F}, options, 10000),
            (std::vector<int>{400, 384, 256, 128, 64}));
}

}  // namespace
}  // namespace arrcoc::allocating
