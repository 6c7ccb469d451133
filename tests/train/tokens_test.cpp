#include "lab/train/tokens.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "arrcoc/allocate.h"

namespace arrcoc::training {
namespace {

constexpr int kStride = 64;

std::vector<float> random_map(uint64_t seed) {
  Dice dice(seed);
  std::vector<float> map(kStride * kStride);
  for (float& v : map) v = 0.2F * dice.uniform();
  for (int blob = 0; blob < 3; ++blob) {
    const int r = dice.below(40), c = dice.below(40);
    for (int i = 0; i < 12; ++i) map[(r + i % 2) * kStride + c + i / 2] = dice.uniform(0.5F, 1);
  }
  return map;
}

std::set<std::tuple<int, int, int>> keys(const std::vector<Cell>& cells) {
  std::set<std::tuple<int, int, int>> out;
  for (const Cell& cell : cells) out.insert({cell.level, cell.row, cell.col});
  return out;
}

TEST(TrainingQuadtree, CoversEveryPixelOnceWithinTheBudget) {
  for (const Geometry geometry :
       {Geometry{1024, 1024, 0}, Geometry{450, 1000, 0}, Geometry{1000, 333, -1}})
    for (int budget : {64, 180, 400}) {
      const auto map = random_map(static_cast<uint64_t>(budget));
      const auto cells = quadtree(map.data(), kStride, geometry, budget);
      EXPECT_LE(static_cast<int>(cells.size()), budget);
      double area = 0;
      for (const Cell& cell : cells) {
        EXPECT_TRUE(geometry.exists(cell.level, cell.row, cell.col));
        const float side = static_cast<float>(Geometry::side(cell.level));
        area +=
            intersect(
                {0, 0, static_cast<float>(geometry.width), static_cast<float>(geometry.height)},
                {cell.col * side, cell.row * side, (cell.col + 1) * side, (cell.row + 1) * side})
                .area();
      }
      EXPECT_NEAR(area, static_cast<double>(geometry.width) * geometry.height, 1.0);
      EXPECT_EQ(keys(cells).size(), cells.size());
    }
}

TEST(TrainingQuadtree, AgreesWithThePipelinesAllocator) {
  const Geometry geometry{1024, 1024, 0};
  for (uint64_t seed = 1; seed <= 8; ++seed) {
    Relevance relevance;
    relevance.map = {kStride, kStride, 16, 16, random_map(seed)};
    const Allocation theirs =
        allocating::allocate(relevance, geometry, Budget{180, "", ""}, "quadtree");
    std::set<std::tuple<int, int, int>> expected;
    for (const Leaf& leaf : theirs.leaves) expected.insert({leaf.level, leaf.row, leaf.col});
    int same = 0;
    const auto ours = keys(quadtree(relevance.map.values.data(), kStride, geometry, 180));
    for (const auto& key : ours) same += expected.count(key) ? 1 : 0;
    // The pipeline's allocator favours the path to the very peak at the last splits.
    EXPECT_GE(same, static_cast<int>(0.9 * static_cast<double>(expected.size()))) << seed;
  }
}

TEST(TrainingQuadtree, SpendsItsFinestCellsOnTheAnswer) {
  Ask ask;
  ask.answer_boxes = {{400, 300, 480, 316}};
  const Geometry geometry{1024, 768, 0};
  std::vector<float> map(kStride * kStride);
  oracle_map(ask, geometry, kStride, map.data());
  EXPECT_FLOAT_EQ(recall(quadtree(map.data(), kStride, geometry, 180), ask), 1.0F);
  std::fill(map.begin(), map.end(), 0.0F);
  map[0] = 1;
  EXPECT_LT(recall(quadtree(map.data(), kStride, geometry, 64), ask), 0.01F);
}

TEST(ReadingCells, AreTheAnswersOwnCellsFirst) {
  Ask ask;
  ask.answer_boxes = {{32, 16, 64, 32}};
  ask.evidence_boxes = {{0, 0, 320, 320}};
  const auto cells = reading_cells(ask, {512, 512, 0}, 10);
  ASSERT_EQ(cells.size(), 10U);
  EXPECT_EQ(std::tuple(cells[0].level, cells[0].row, cells[0].col), std::tuple(0, 1, 2));
  EXPECT_EQ(std::tuple(cells[1].level, cells[1].row, cells[1].col), std::tuple(0, 1, 3));
  EXPECT_EQ(keys(cells).size(), 10U);
}

}  // namespace
}  // namespace arrcoc::training
