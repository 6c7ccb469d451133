// The quadtree against exhaustive search, against the tree-knapsack optimum, and by its settings.
#include <gtest/gtest.h>

#include <cstdio>
#include <map>
#include <set>

#include "allocate/curves.h"
#include "allocate/falloff.h"
#include "allocate/tree.h"
#include "support.h"

namespace arrcoc::allocating {
namespace {

// What the tests know about gains, written from the definition and not from the code: relevance by
// visiting every finest cell of an aligned map.
class Worth {
 public:
  Worth(const Map& map, const Geometry& geometry, const AllocateOptions& options, bool promote)
      : map_(map), geometry_(geometry), options_(options), promote_(promote) {
    best_ = static_cast<int>(std::max_element(map.values.begin(), map.values.end()) -
                             map.values.begin());
  }

  double operator()(const Cell& cell) const {
    const int scale = 1 << (cell.level - geometry_.finest);
    double peak = 0;
    double mass = 0;
    bool top = false;
    for (int r = cell.row * scale; r < std::min(map_.rows, (cell.row + 1) * scale); ++r) {
      for (int c = cell.col * scale; c < std::min(map_.cols, (cell.col + 1) * scale); ++c) {
        const double side = static_cast<double>(Geometry::side(geometry_.finest));
        const double real = std::min(side, geometry_.width - c * side) *
                            std::min(side, geometry_.height - r * side) / (side * side);
        peak = std::max<double>(peak, map_.at(r, c));
        mass += map_.at(r, c) * real;
        top |= r * map_.cols + c == best_;
      }
    }
    const double weight = cell.level >= 2   ? 1
                          : cell.level == 1 ? options_.finest_weight
                                            : options_.enlarge_weight;
    if (options_.gain == SplitGain::mass) return mass * weight;
    return promote_ && top ? peak : peak * weight;
  }

 private:
  const Map& map_;
  const Geometry& geometry_;
  const AllocateOptions& options_;
  bool promote_;
  int best_ = 0;
};

// Sum of gains over the cells that an allocation has split.
double worth_of(const Allocation& allocation, int root, const Worth& worth) {
  std::set<std::tuple<int, int, int>> split;
  for (const Leaf& leaf : allocation.leaves) {
    Cell cell{leaf.level, leaf.row, leaf.col};
    while (cell.level < root) {
      cell = Cell{cell.level + 1, cell.row / 2, cell.col / 2};
      split.insert({cell.level, cell.row, cell.col});
    }
  }
  double sum = 0;
  for (const auto& [level, row, col] : split) sum += worth(Cell{level, row, col});
  return sum;
}

// All trees under a cell that fit, as cost -> best worth.
using Options = std::map<int, double>;

void join(Options& all, const Options& more, int spare) {
  Options sums;
  for (const auto& [cost_a, worth_a] : all) {
    for (const auto& [cost_b, worth_b] : more) {
      if (cost_a + cost_b > spare) break;
      double& best = sums.try_emplace(cost_a + cost_b, 0).first->second;
      best = std::max(best, worth_a + worth_b);
    }
  }
  all = std::move(sums);
}

// Tree knapsack: exact for any costs and gains.
Options knapsack(const Forest& forest, const Cell& cell, const Worth& worth, int spare) {
  Options out{{0, 0.0}};
  const Children below = forest.children(cell);
  if (below.count == 0 || below.count - 1 > spare) return out;
  Options split{{below.count - 1, worth(cell)}};
  for (int i = 0; i < below.count; ++i)
    join(split, knapsack(forest, below.cells[i], worth, spare), spare);
  for (const auto& [cost, value] : split) {
    double& best = out.try_emplace(cost, value).first->second;
    best = std::max(best, value);
  }
  return out;
}

double optimum(const Forest& forest, int budget, const Worth& worth) {
  const int spare = budget - static_cast<int>(forest.roots().size());
  Options all{{0, 0.0}};
  for (const Cell& root : forest.roots()) join(all, knapsack(forest, root, worth, spare), spare);
  double best = 0;
  for (const auto& [cost, value] : all) best = std::max(best, value);
  return best;
}

// Exhaustive: lists every single tree, one by one.
void list_trees(const Forest& forest, std::vector<Cell> open, int cost, double value,
                const Worth& worth, int spare, double& best) {
  if (cost > spare) return;
  if (open.empty()) {
    best = std::max(best, value);
    return;
  }
  const Cell cell = open.back();
  open.pop_back();
  list_trees(forest, open, cost, value, worth, spare, best);  // leave it whole
  const Children below = forest.children(cell);
  if (below.count == 0) return;
  open.insert(open.end(), below.cells.begin(), below.cells.begin() + below.count);
  list_trees(forest, open, cost + below.count - 1, value + worth(cell), worth, spare, best);
}

TEST(Quadtree, EqualsExhaustiveSearchWhereAllSplitsCostTheSame) {
  std::mt19937 random(21);
  const Geometry geometry{128, 128, 0};  // 8x8 cells: every split has four children
  for (int round = 0; round < 12; ++round) {
    AllocateOptions options;
    options.finest_weight = round % 3 == 0 ? 1.0F : round % 3 == 1 ? 0.5F : 0.1F;
    options.enlarge_weight = 0.1F;
    Map map = aligned_map(geometry);
    fill_random(map, random);
    for (int budget : {4, 7, 10, 15, 16, 19, 22, 28, 40}) {
      const Forest forest(geometry, geometry.root_level(budget));
      // With weights below 1 the path to the highest cell counts in full, as documented.
      const Worth worth(map, geometry, options, true);
      double best = 0;
      const auto roots = forest.roots();
      list_trees(forest, roots, 0, 0, worth, budget - static_cast<int>(roots.size()), best);
      const double got =
          worth_of(run("quadtree", map, geometry, budget, options), forest.root(), worth);
      ASSERT_NEAR(got, best, 1e-5) << "budget " << budget << " round " << round;
      ASSERT_NEAR(optimum(forest, budget, worth), best, 1e-5) << "the knapsack itself is exact";
    }
  }
}

TEST(Quadtree, EqualsExhaustiveSearchOnThePlainSumWithEqualWeights) {
  std::mt19937 random(22);
  const Geometry geometry{128, 64, 0};
  AllocateOptions options;
  options.finest_weight = 1;
  for (int round = 0; round < 20; ++round) {
    Map map = aligned_map(geometry);
    fill_random(map, random);
    for (int budget : {2, 5, 8, 11, 14, 20, 26}) {
      const Forest forest(geometry, geometry.root_level(budget));
      if (forest.root() == 3) continue;  // one root of two children: not all splits cost the same
      const Worth worth(map, geometry, options, false);
      double best = 0;
      const auto roots = forest.roots();
      list_trees(forest, roots, 0, 0, worth, budget - static_cast<int>(roots.size()), best);
      ASSERT_NEAR(worth_of(run("quadtree", map, geometry, budget, options), forest.root(), worth),
                  best, 1e-5);
    }
  }
}

// Mean and largest shortfall against the optimum, as shares of it.
struct Gap {
  double mean = 0;
  double worst = 0;
};

struct Sizes {
  int least;
  int span;
  std::vector<int> budgets;
  int rounds;
  bool bumps;
};
const Sizes kInside{256, 1, {16, 20, 33, 64, 90}, 60, false};  // 256x256: no borders
const Sizes kTiny{100, 200, {16, 20, 33, 64, 90}, 60, false};  // borders everywhere
const Sizes kUsual{700, 400, {64, 128, 180, 256, 400}, 12, true};

// Noise in which few cells stand out.
Map spots(const Geometry& geometry, std::mt19937& random) {
  Map map = aligned_map(geometry);
  fill_random(map, random);
  for (float& value : map.values) value = value * value * value;
  return map;
}

// Four smooth hills over a little noise, like the maps of real questions.
Map bumps(const Geometry& geometry, std::mt19937& random) {
  Map map = aligned_map(geometry);
  fill_random(map, random);
  for (float& value : map.values) value *= 0.1F;
  for (int i = 0; i < 4; ++i) {
    const int row = static_cast<int>(random() % static_cast<uint32_t>(map.rows));
    const int col = static_cast<int>(random() % static_cast<uint32_t>(map.cols));
    const double width = 1.0 + static_cast<double>(random() % 6);
    for (int r = 0; r < map.rows; ++r) {
      for (int c = 0; c < map.cols; ++c) {
        const double distance = std::hypot(r - row, c - col) / width;
        map.at(r, c) += static_cast<float>((0.9 - 0.1 * i) * std::exp(-0.5 * distance * distance));
      }
    }
  }
  return map;
}

Gap measure_gap(const AllocateOptions& options, const Sizes& sizes, uint32_t seed) {
  std::mt19937 random(seed);
  Gap gap;
  int count = 0;
  for (int round = 0; round < sizes.rounds; ++round) {
    const auto side = [&] {
      return sizes.least + static_cast<int>(random() % static_cast<uint32_t>(sizes.span));
    };
    const Geometry geometry{side(), side(), 0};
    const Map map = sizes.bumps ? bumps(geometry, random) : spots(geometry, random);
    for (int budget : sizes.budgets) {
      const Forest forest(geometry, geometry.root_level(budget));
      const Worth worth(map, geometry, options, false);
      const double best = optimum(forest, budget, worth);
      const Allocation out = run("quadtree", map, geometry, budget, options);
      const double short_by = 1 - worth_of(out, forest.root(), worth) / best;
      EXPECT_GE(short_by, -1e-6) << "nothing beats the optimum";
      gap.mean += short_by;
      gap.worst = std::max(gap.worst, short_by);
      ++count;
    }
  }
  gap.mean /= count;
  return gap;
}

Gap report(const char* what, const Gap& gap) {
  char text[96];
  std::snprintf(text, sizeof text, "mean %.4f worst %.4f", gap.mean, gap.worst);
  testing::Test::RecordProperty(what, text);
  std::printf("[ gap to the tree knapsack ] %s: %s\n", what, text);
  return gap;
}

TEST(Quadtree, ReportsTheGapToTheTreeKnapsack) {
  AllocateOptions peak;
  const Gap inside = report("peak_inside", measure_gap(peak, kInside, 31));
  EXPECT_LT(inside.mean, 0.1) << "only the path to the highest cell departs from the optimum";
  // A split of cost 3 keeps at most three of cost 1 and no larger gain from being made, so the
  // largest gain first never falls below a third of the optimum.
  const Gap border = report("peak_borders", measure_gap(peak, kTiny, 32));
  EXPECT_LT(border.worst, 2.0 / 3);
  const Gap usual = report("peak_usual_sizes", measure_gap(peak, kUsual, 35));
  EXPECT_LT(usual.worst, 2.0 / 3);
  AllocateOptions even = peak;
  even.finest_weight = 1;
  EXPECT_LT(report("peak_equal_weights_borders", measure_gap(even, kTiny, 32)).worst, 2.0 / 3);
  AllocateOptions mass = peak;
  mass.gain = SplitGain::mass;
  EXPECT_LT(report("mass_borders", measure_gap(mass, kTiny, 33)).worst, 2.0 / 3);
  // The optimum of trees without the one-level rule, which a balanced tree can only approach.
  AllocateOptions balanced = peak;
  balanced.balanced = true;
  const Gap tied = report("peak_balanced_borders", measure_gap(balanced, kTiny, 34));
  EXPECT_LT(tied.mean, 0.5);
}

bool differ_by_one_level_at_most(const Allocation& allocation) {
  for (const Leaf& a : allocation.leaves) {
    const Box p = box_of(allocation.geometry, a);
    for (const Leaf& b : allocation.leaves) {
      const Box q = box_of(allocation.geometry, b);
      const bool beside = (p.x1 == q.x0 && p.y0 < q.y1 && q.y0 < p.y1) ||
                          (p.y1 == q.y0 && p.x0 < q.x1 && q.x0 < p.x1);
      if (beside && std::abs(a.level - b.level) > 1) return false;
    }
  }
  return true;
}

TEST(Quadtree, BalancedNeighboursDifferByAtMostOneLevel) {
  std::mt19937 random(41);
  AllocateOptions options;
  options.balanced = true;
  int needed = 0;
  for (int round = 0; round < 150; ++round) {
    const int most = 1 << (4 + random() % 8);
    const Geometry geometry{1 + static_cast<int>(random() % most),
                            1 + static_cast<int>(random() % most), round % 5 == 0 ? -1 : 0};
    Map map = map_over(geometry, 1 + static_cast<int>(random() % 40),
                       1 + static_cast<int>(random() % 40));
    for (int i = 0; i < 3; ++i) map.values[random() % map.size()] = 1;
    const int budget = 1 + static_cast<int>(random() % 300);
    options.gain = round % 2 == 0 ? SplitGain::peak : SplitGain::mass;
    ASSERT_TRUE(differ_by_one_level_at_most(run("quadtree", map, geometry, budget, options)))
        << geometry.width << "x" << geometry.height << " budget " << budget;
    AllocateOptions loose = options;
    loose.balanced = false;
    if (!differ_by_one_level_at_most(run("quadtree", map, geometry, budget, loose))) ++needed;
  }
  EXPECT_GT(needed, 20) << "the cases must be such that the rule matters";
}

TEST(Quadtree, BalancedSpendsForcedSplitsFromTheBudget) {
  // A needle at the corner between the four roots of level 4 forces its neighbours open.
  const Geometry geometry{512, 512, 0};
  Map map = aligned_map(geometry);
  map.at(15, 15) = 1;
  AllocateOptions options;
  options.balanced = true;
  int reached = 99;
  for (int budget : {4, 13, 19, 25, 31, 40, 64}) {
    const Allocation out = run("quadtree", map, geometry, budget, options);
    EXPECT_LE(out.tokens(), budget);
    reached = std::min(reached, level_at_top(out, map));
  }
  EXPECT_EQ(reached, 0);
}

TEST(Quadtree, ANeedleGetsNativeDetailByPeakAndLosesByMass) {
  const Geometry geometry{1024, 1024, 0};
  Map map = aligned_map(geometry);
  // Flat background on the left, a single sharp cell in the empty right half.
  for (int r = 0; r < 64; ++r) {
    for (int c = 0; c < 32; ++c) map.at(r, c) = 0.3F;
  }
  map.at(40, 50) = 1;
  AllocateOptions options;
  for (int budget : {64, 180}) {
    options.gain = SplitGain::peak;
    EXPECT_EQ(level_at_top(run("quadtree", map, geometry, budget, options), map), 0);
    options.gain = SplitGain::mass;
    EXPECT_GE(level_at_top(run("quadtree", map, geometry, budget, options), map), 2);
  }
}

TEST(Quadtree, TakesFreeSplitsEvenWithoutBudget) {
  // 17 x 17 cells: the corner root of level 4 holds one real cell, which costs one token at any
  // level.
  const Geometry geometry{272, 272, 0};
  const Allocation out = run("quadtree", aligned_map(geometry, 0.5F), geometry, 16);
  EXPECT_TRUE(tiles_exactly(out));
  EXPECT_EQ(leaf_at(out, 271, 271)->level, 0);
}

TEST(Quadtree, SkipsWhatDoesNotFitAndGoesOn) {
  // 3 x 3 cells: the root splits into four (cost 3), of which one costs 3, two cost 1, one is free.
  const Geometry geometry{48, 48, 0};
  Map map = aligned_map(geometry);
  map.at(0, 0) = 1;     // the full quarter: split costs 3
  map.at(0, 2) = 0.5F;  // the right strip: split costs 1
  const Allocation out = run("quadtree", map, geometry, 6);
  EXPECT_EQ(out.tokens(), 6);
  EXPECT_EQ(leaf_at(out, 8, 8)->level, 1) << "three more did not fit";
  EXPECT_EQ(leaf_at(out, 40, 8)->level, 0) << "one more did";
}

TEST(Quadtree, WeightsDecideBetweenOneDeepAndManyBroad) {
  std::mt19937 random(51);
  const Geometry geometry{1024, 1024, 0};
  Map map = aligned_map(geometry);
  fill_random(map, random);
  const auto fine = [&](float weight) {
    AllocateOptions options;
    options.finest_weight = weight;
    options.enlarge_weight = 0;
    int count = 0;
    for (const Leaf& leaf : run("quadtree", map, geometry, 400, options).leaves) {
      count += leaf.level == 0 ? 1 : 0;
    }
    return count;
  };
  EXPECT_GT(fine(1.0F), 2 * fine(0.2F));
}

TEST(Quadtree, OffersTheEnlargedLevelOnlyWhenAsked) {
  Geometry geometry{256, 256, 0};
  Map map = map_over(geometry, 16, 16);
  map.at(5, 5) = 1;
  EXPECT_EQ(level_at_top(run("quadtree", map, geometry, 400), map), 0);
  geometry.finest = -1;
  EXPECT_EQ(level_at_top(run("quadtree", map, geometry, 64), map), -1);
  for (const Leaf& leaf : run("quadtree", map, geometry, 400).leaves) EXPECT_GE(leaf.level, -1);
}

TEST(Quadtree, EqualRelevanceIsSplitEvenlyCoarseFirst) {
  const Geometry geometry{1024, 1024, 0};
  const Allocation even = run("quadtree", aligned_map(geometry, 0.5F), geometry, 180);
  EXPECT_EQ(even.leaves, run("breadth-first", aligned_map(geometry, 0.5F), geometry, 180).leaves);
}

TEST(Quadtree, StartsFromTheRootRule) {
  const Geometry geometry{1024, 1024, 0};
  Map map = aligned_map(geometry);
  map.at(0, 0) = 1;
  int coarsest = 0;
  for (const Leaf& leaf : run("quadtree", map, geometry, 255).leaves) {
    coarsest = std::max(coarsest, leaf.level);
  }
  EXPECT_LE(coarsest, 4);
  for (const Leaf& leaf : run("quadtree", map, geometry, 256).leaves) EXPECT_LE(leaf.level, 3);
}

TEST(Quadtree, ManagesAHundredMegapixelsAndALargeMap) {
  std::mt19937 random(61);
  const Geometry geometry{10000, 10000, -1};
  Map map = map_over(geometry, 700, 700);
  fill_random(map, random);
  map.at(333, 444) = 2;
  const Allocation out = run("quadtree", map, geometry, 400);
  EXPECT_TRUE(tiles_exactly(out));
  EXPECT_LE(out.tokens(), 400);
  EXPECT_GE(out.tokens(), 398);
  EXPECT_EQ(level_at_top(out, map), -1);
}

TEST(Falloff, FollowsSmoothstepOfTheDistance) {
  EXPECT_EQ(smooth_quality(0, 10, 40), 1);
  EXPECT_EQ(smooth_quality(10, 10, 40), 1);
  EXPECT_EQ(smooth_quality(40, 10, 40), 0);
  EXPECT_EQ(smooth_quality(99, 10, 40), 0);
  EXPECT_NEAR(smooth_quality(25, 10, 40), 0.5, 1e-12);
  EXPECT_NEAR(smooth_quality(17.5, 10, 40), 1 - (3 * 0.0625 - 2 * 0.015625), 1e-12);
}

TEST(Falloff, RaisesTheSurroundingsOfHotspotsOnly) {
  const Geometry geometry{1024, 1024, 0};
  Map map = aligned_map(geometry, 0.1F);
  map.at(20, 20) = 0.8F;
  map.at(50, 50) = 0.3F;  // below 0.7 of the largest: no hotspot
  const Map out = with_falloff(map, 160);
  EXPECT_EQ(out.at(20, 20), 0.8F);
  EXPECT_NEAR(out.at(20, 25), 0.8 * smooth_quality(80, 40, 160), 1e-5);
  EXPECT_EQ(out.at(20, 40), 0.1F) << "beyond the reach";
  EXPECT_EQ(out.at(50, 51), 0.1F);
  for (int c = 21; c < 40; ++c) EXPECT_LE(out.at(20, c), out.at(20, c - 1));
}

TEST(Falloff, SpendsDetailAroundTheHotspot) {
  const Geometry geometry{1024, 1024, 0};
  Map map = aligned_map(geometry);
  map.at(32, 32) = 1;
  AllocateOptions options;
  const auto fine_near = [&] {
    int count = 0;
    for (const Leaf& leaf : run("quadtree", map, geometry, 180, options).leaves) {
      const Box box = box_of(geometry, leaf);
      const double distance = std::hypot((box.x0 + box.x1) / 2 - 520, (box.y0 + box.y1) / 2 - 520);
      count += leaf.level <= 1 && distance < 150 ? 1 : 0;
    }
    return count;
  };
  const int sharp = fine_near();
  options.falloff = 200;
  EXPECT_GT(fine_near(), sharp + 10);
}

}  // namespace
}  // namespace arrcoc::allocating
