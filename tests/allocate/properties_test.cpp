// What holds for every allocator, every picture, every map and every budget.
#include <gtest/gtest.h>

#include "allocate/tree.h"
#include "arrcoc/error.h"
#include "support.h"

namespace arrcoc::allocating {
namespace {

struct Case {
  Geometry geometry;
  Map map;
  int budget;
  AllocateOptions options;
  std::string text() const {
    return std::to_string(geometry.width) + "x" + std::to_string(geometry.height) + " finest " +
           std::to_string(geometry.finest) + " map " + std::to_string(map.cols) + "x" +
           std::to_string(map.rows) + " budget " + std::to_string(budget);
  }
};

// Sizes that hurt first, then random ones of all magnitudes.
std::vector<Case> cases(int count, uint32_t seed) {
  const std::vector<std::pair<int, int>> hard = {
      {1, 1},   {1, 65535}, {65535, 1},   {16, 16},     {17, 16},     {17, 17},       {15, 33},
      {1, 100}, {640, 479}, {1024, 1024}, {1025, 1025}, {1040, 1040}, {10000, 10000}, {31, 3000}};
  const std::vector<int> budgets = {1, 2, 3, 4, 5, 7, 16, 63, 64, 100, 180, 255, 256, 400, 1000};
  std::mt19937 random(seed);
  std::vector<Case> out;
  for (int i = 0; i < count; ++i) {
    Case each;
    const auto at = static_cast<size_t>(i);
    if (at < hard.size()) {
      each.geometry = {hard[at].first, hard[at].second, 0};
    } else {
      const int top = 1 << (1 + random() % 12);
      each.geometry = {1 + static_cast<int>(random() % top), 1 + static_cast<int>(random() % top),
                       0};
    }
    each.geometry.finest = random() % 4 == 0 ? -1 : 0;
    each.map = map_over(each.geometry, 1 + static_cast<int>(random() % 64),
                        1 + static_cast<int>(random() % 64));
    switch (random() % 4) {
      case 0:
        break;  // all zero
      case 1:
        each.map.values[random() % each.map.size()] = 1;
        break;
      default:
        fill_random(each.map, random);
    }
    each.budget = budgets[random() % budgets.size()];
    each.options.seed = random();
    each.options.gain = random() % 3 == 0 ? SplitGain::mass : SplitGain::peak;
    each.options.balanced = random() % 3 == 0;
    each.options.falloff = random() % 3 == 0 ? 100.0F : 0.0F;
    each.options.curve = EnumNames<Curve>::kNames[random() % 4].first;
    each.options.quantise = random() % 2 == 0;
    each.options.evidence = {Box{0, 0, static_cast<float>(each.geometry.width) / 3,
                                 static_cast<float>(each.geometry.height) / 2}};
    out.push_back(each);
  }
  return out;
}

class EveryAllocator : public testing::TestWithParam<std::string> {};

TEST_P(EveryAllocator, KeepsBudgetLevelsOrderAndCover) {
  const auto allocator = registry<Allocator>().make(GetParam());
  for (const Case& each : cases(160, 11)) {
    SCOPED_TRACE(each.text());
    const Allocation out = run(GetParam(), each.map, each.geometry, each.budget, each.options);
    ASSERT_GE(out.tokens(), 1);
    if (allocator->keeps_budget()) ASSERT_LE(out.tokens(), each.budget);
    ASSERT_EQ(out.allocator, GetParam());
    ASSERT_EQ(out.geometry, each.geometry);
    const Field field(GetParam() == "oracle" ? aligned_map(each.geometry, 1) : each.map,
                      each.geometry);
    for (size_t i = 0; i < out.leaves.size(); ++i) {
      const Leaf& leaf = out.leaves[i];
      ASSERT_TRUE(each.geometry.exists(leaf.level, leaf.row, leaf.col));
      ASSERT_LE(leaf.level, each.geometry.coarsest());
      const Box box = box_of(each.geometry, leaf);
      ASSERT_GT(box.area(), 0);
      if (GetParam() != "oracle" && GetParam() != "native") {
        ASSERT_EQ(leaf.relevance, field.peak(Cell{leaf.level, leaf.row, leaf.col}));
      }
      if (i == 0) continue;
      const Box before = box_of(each.geometry, out.leaves[i - 1]);
      ASSERT_TRUE(before.y0 < box.y0 || (before.y0 == box.y0 && before.x0 < box.x0));
    }
    if (allocator->tiles()) ASSERT_TRUE(tiles_exactly(out));
  }
}

TEST_P(EveryAllocator, GivesTheSameLeavesForTheSameInput) {
  for (const Case& each : cases(40, 12)) {
    SCOPED_TRACE(each.text());
    const Allocation a = run(GetParam(), each.map, each.geometry, each.budget, each.options);
    const Allocation b = run(GetParam(), each.map, each.geometry, each.budget, each.options);
    ASSERT_EQ(a.leaves, b.leaves);
    ASSERT_EQ(a.crops, b.crops);
  }
}

TEST_P(EveryAllocator, SpendsOneTokenOnOnePixel) {
  for (int finest : {0, -1}) {
    const Geometry geometry{1, 1, finest};
    AllocateOptions options;
    options.evidence = {Box{0, 0, 1, 1}};
    for (int budget : {1, 64, 400}) {
      const Allocation out =
          run(GetParam(), map_over(geometry, 1, 1, 0.5F), geometry, budget, options);
      EXPECT_EQ(out.tokens(), 1);
    }
  }
}

std::vector<std::string> names() {
  std::vector<std::string> out;
  for (const auto& [name, summary] : registry<Allocator>().list()) out.push_back(name);
  return out;
}

INSTANTIATE_TEST_SUITE_P(All, EveryAllocator, testing::ValuesIn(names()), [](const auto& info) {
  std::string name = info.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

TEST(Registry, HasEveryAllocatorOfTheDesign) {
  for (const char* name :
       {"quadtree", "variance-split", "breadth-first", "uniform", "random", "top-k", "window-topk",
        "diverse", "cascade", "soft", "tiers", "positions", "bands", "zoom"}) {
    EXPECT_TRUE(registry<Allocator>().has(name)) << name;
  }
}

// Two trees of different budgets, the larger one never coarser at the most relevant place.
void expect_no_detail_lost(const Case& each, const AllocateOptions& options, int to) {
  SCOPED_TRACE(each.text() + (options.balanced ? " balanced" : ""));
  int before = 99;
  for (int budget = 1; budget <= to; ++budget) {
    const Allocation out = run("quadtree", each.map, each.geometry, budget, options);
    const int level = level_at_top(out, each.map);
    ASSERT_LE(level, before) << "from budget " << budget - 1 << " to " << budget;
    before = level;
  }
}

TEST(Quadtree, MoreBudgetNeverLosesDetailWhereRelevanceIsHighest) {
  for (const Case& each : cases(70, 13)) {
    AllocateOptions options;
    options.falloff = each.options.falloff;
    expect_no_detail_lost(each, options, 270);
  }
}

TEST(Quadtree, MoreBudgetNeverLosesDetailInBalancedTrees) {
  for (const Case& each : cases(70, 14)) {
    AllocateOptions options;
    options.balanced = true;
    expect_no_detail_lost(each, options, 270);
  }
}

ErrorCode code_of(const Geometry& geometry, int budget, const AllocateOptions& options,
                  const std::string& allocator = "quadtree") {
  try {
    run(allocator, map_over(Geometry{64, 64, 0}, 2, 2, 1), geometry, budget, options);
  } catch (const Error& error) {
    return error.code();
  }
  return ErrorCode::io;
}

TEST(Allocate, RefusesWhatItCannotDo) {
  const Geometry good{64, 64, 0};
  EXPECT_EQ(code_of(good, 0, {}), ErrorCode::bad_argument);
  EXPECT_EQ(code_of(good, 65537, {}), ErrorCode::bad_argument);
  EXPECT_EQ(code_of(Geometry{0, 64, 0}, 64, {}), ErrorCode::bad_argument);
  EXPECT_EQ(code_of(Geometry{64, 64, -2}, 64, {}), ErrorCode::bad_argument);
  EXPECT_EQ(code_of(good, 64, {}, "no-such"), ErrorCode::not_found);
  const auto with = [&](auto change) {
    AllocateOptions options;
    change(options);
    return code_of(good, 64, options);
  };
  EXPECT_EQ(with([](AllocateOptions& o) { o.finest_weight = 1.5F; }), ErrorCode::bad_argument);
  EXPECT_EQ(with([](AllocateOptions& o) { o.enlarge_weight = 0.6F; }), ErrorCode::bad_argument);
  EXPECT_EQ(with([](AllocateOptions& o) { o.falloff = NAN; }), ErrorCode::bad_argument);
  EXPECT_EQ(with([](AllocateOptions& o) { o.temperature = 0; }), ErrorCode::bad_argument);
  EXPECT_EQ(with([](AllocateOptions& o) { o.top_k = 0; }), ErrorCode::bad_argument);
  EXPECT_EQ(with([](AllocateOptions& o) { o.max_crops = -1; }), ErrorCode::bad_argument);
  EXPECT_EQ(with([](AllocateOptions& o) { o.token_pixels = 0; }), ErrorCode::bad_argument);
}

// Promises more than it keeps.
class Greedy : public Allocator {
 public:
  explicit Greedy(std::vector<Leaf> leaves) : leaves_(std::move(leaves)) {}
  bool tiles() const override { return false; }
  Allocation allocate(const Relevance&, const Geometry& geometry, const Budget& budget,
                      const AllocateOptions&) const override {
    return Allocation{geometry, leaves_, {}, budget, "greedy", {}};
  }

 private:
  std::vector<Leaf> leaves_;
};

TEST(Allocate, CatchesAllocatorsThatBreakTheirPromise) {
  const std::vector<std::vector<Leaf>> broken = {
      {{0, 0, 0, 0}, {0, 0, 1, 0}, {0, 0, 2, 0}},  // three for a budget of two
      {{0, 4, 0, 0}},                              // below a picture of four rows
      {{0, 0, 1, 0}, {0, 0, 0, 0}},                // not in raster order
  };
  for (const auto& leaves : broken) {
    registry<Allocator>().add("test-broken", "", [&] { return std::make_unique<Greedy>(leaves); });
    EXPECT_EQ(code_of(Geometry{64, 64, 0}, 2, {}, "test-broken"), ErrorCode::bad_argument);
  }
}

}  // namespace
}  // namespace arrcoc::allocating
