#include "lab/train/outcome.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>

#include "models/tiny/realizer.h"

namespace arrcoc::training {
namespace {

constexpr int kGrid = 32;

std::vector<float> bumpy_map(uint64_t seed) {
  Dice dice(seed);
  std::vector<float> map(kGrid * kGrid);
  for (float& cell : map) cell = 0.05F + 0.9F * std::pow(dice.uniform(), 6.0F);
  return map;
}

Geometry picture(int width, int height) {
  Geometry geometry;
  geometry.width = width;
  geometry.height = height;
  return geometry;
}

TEST(DrawnQuadtree, CoversThePictureOnceWithinTheBudget) {
  for (int budget : {4, 30, 64, 180, 2000}) {
    const Geometry geometry = picture(500, 260);
    Dice dice(static_cast<uint64_t>(budget));
    std::vector<float> score(kGrid * kGrid, 0);
    const DrawnTree tree =
        drawn_quadtree(bumpy_map(1).data(), kGrid, geometry, budget, 0.5F, dice, score.data());
    EXPECT_LE(static_cast<int>(tree.cells.size()), std::max(budget, 4));
    const Grid grid = geometry.grid(0);
    std::vector<int> seen(static_cast<size_t>(grid.cells()), 0);
    for (const Cell& cell : tree.cells)
      for (int r = cell.row << cell.level; r < std::min((cell.row + 1) << cell.level, grid.rows);
           ++r)
        for (int c = cell.col << cell.level; c < std::min((cell.col + 1) << cell.level, grid.cols);
             ++c)
          ++seen[static_cast<size_t>(r * grid.cols + c)];
    EXPECT_TRUE(std::all_of(seen.begin(), seen.end(), [](int n) { return n == 1; })) << budget;
  }
}

TEST(DrawnQuadtree, WithoutTemperatureIsTheGreedyTree) {
  const Geometry geometry = picture(512, 512);
  const std::vector<float> map = bumpy_map(2);
  Dice dice(1);
  std::vector<float> score(map.size(), 0);
  const auto places = [](const std::vector<Cell>& cells) {
    std::set<std::tuple<int, int, int>> out;
    for (const Cell& c : cells) out.insert({c.level, c.row, c.col});
    return out;
  };
  const auto drawn =
      drawn_quadtree(map.data(), kGrid, geometry, 180, 1e-4F, dice, score.data()).cells;
  EXPECT_EQ(places(drawn), places(quadtree(map.data(), kGrid, geometry, 180)));
}

TEST(DrawnQuadtree, ScoreIsTheDerivativeOfTheLogProbability) {
  const Geometry geometry = picture(512, 512);
  const std::vector<float> map = bumpy_map(3);
  const auto draw = [&](const std::vector<float>& from, float* score) {
    Dice dice(7);
    return drawn_quadtree(from.data(), kGrid, geometry, 120, 0.4F, dice, score).log_probability;
  };
  std::vector<float> score(map.size(), 0), ignored(map.size(), 0);
  draw(map, score.data());
  std::vector<int> order(map.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int>(i);
  std::sort(order.begin(), order.end(),
            [&](int a, int b) { return std::abs(score[a]) > std::abs(score[b]); });
  for (int k = 0; k < 10; ++k) {
    const int cell = order[static_cast<size_t>(k)];
    const float step = 1e-3F;
    std::vector<float> more = map, less = map;
    more[cell] *= std::exp(step);
    less[cell] *= std::exp(-step);
    const double slope = (draw(more, ignored.data()) - draw(less, ignored.data())) / (2 * step);
    EXPECT_NEAR(slope, score[cell], 0.02 * std::abs(score[cell]) + 0.02) << cell;
  }
}

TEST(Rewards, ExactPartialWrong) {
  const int64_t a = 'a' - 30, b = 'b' - 30;
  const at::Tensor expected = at::tensor({a, b, a, int64_t{tiny::kEnd}}, at::kLong).repeat({3, 1});
  at::Tensor written = expected.clone();
  written[1][0] = b;                             // three of four right
  written[2] = at::full({4}, b + 1, at::kLong);  // none right
  const at::Tensor logits = at::one_hot(written, tiny::kSymbols).to(at::kFloat);
  const at::Tensor earned = rewards(logits, expected);
  EXPECT_TRUE(at::allclose(earned, at::tensor({1.0F, 0.5F, -1.0F}))) << earned;
  // Nothing asked for: all draws are alike.
  const at::Tensor nothing = at::full({2, 4}, int64_t{tiny::kPad}, at::kLong);
  EXPECT_EQ(rewards(logits.narrow(0, 0, 2), nothing).std().item<float>(), 0);
}

// The gradient alone, without any box, finds the cell that pays.
TEST(OutcomeLoss, LearnsWhereTheRewardLies) {
  const Geometry geometry = picture(512, 512);
  const int row = 21, col = 9, copies = 4;
  at::Tensor logits = at::zeros({1, kGrid, kGrid}).requires_grad_(true);
  Dice dice(5);
  const auto pays = [&](const std::vector<Cell>& cells) {
    return std::any_of(cells.begin(), cells.end(),
                       [&](const Cell& c) { return c.level == 0 && c.row == row && c.col == col; });
  };
  double first = 0, last = 0;
  for (int step = 0; step < 400; ++step) {
    const at::Tensor map = tiny::relevance_of(logits.detach()).contiguous();
    at::Tensor scores = at::zeros({copies, kGrid, kGrid}), earned = at::empty({copies});
    for (int k = 0; k < copies; ++k) {
      const DrawnTree tree = drawn_quadtree(map.data_ptr<float>(), kGrid, geometry, 64, 0.5F, dice,
                                            scores.data_ptr<float>() + k * kGrid * kGrid);
      earned[k] = pays(tree.cells) ? 1.0F : -1.0F;
    }
    (step < 50 ? first : last) += step < 50 || step >= 350 ? earned.mean().item<float>() / 50 : 0;
    outcome_loss(logits, scores, earned, 1, copies).backward();
    const at::NoGradGuard no_grad;
    logits.detach().sub_(logits.grad(), 1.0);
    logits.mutable_grad() = at::Tensor();
  }
  EXPECT_LT(first, 0);
  EXPECT_GT(last, 0.8);
}

}  // namespace
}  // namespace arrcoc::training
