#include "lab/train/vlm/allocator.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>

#include "arrcoc/allocate.h"
#include "lab/train/outcome.h"
#include "models/hf/select.h"

namespace arrcoc::training {
namespace {

at::Tensor normed(const at::Tensor& x) { return at::layer_norm(x, {x.size(-1)}); }

// For every cell the smallest token that its middle lies in.
at::Tensor tokens_of_cells(const hf::Features& features, const Geometry& geometry) {
  const Grid grid = geometry.grid(0);
  const float side = 16;
  const float x = static_cast<float>(features.width) / static_cast<float>(geometry.width);
  const float y = static_cast<float>(features.height) / static_cast<float>(geometry.height);
  std::vector<int64_t> out;
  for (int row = 0; row < grid.rows; ++row)
    for (int col = 0; col < grid.cols; ++col) {
      const float px = std::min((static_cast<float>(col) + 0.5F) * side * x,
                                static_cast<float>(features.width) - 0.5F);
      const float py = std::min((static_cast<float>(row) + 0.5F) * side * y,
                                static_cast<float>(features.height) - 0.5F);
      int64_t best = 0;
      float least = 0;
      for (size_t i = 0; i < features.boxes.size(); ++i) {
        const Box& box = features.boxes[i];
        if (px < box.x0 || px >= box.x1 || py < box.y0 || py >= box.y1) continue;
        if (least > 0 && box.area() >= least) continue;
        least = box.area();
        best = static_cast<int64_t>(i);
      }
      out.push_back(best);
    }
  return at::tensor(out, at::kLong);
}

}  // namespace

at::Tensor adapted(const Named& weights, const at::Tensor& rows) {
  const at::Tensor hidden = at::gelu(at::linear(normed(rows), weights.at("adapter.down")));
  return rows + at::linear(hidden, weights.at("adapter.up"));
}

at::Tensor cell_logits(const Named& weights, const hf::Features& features, const Geometry& geometry,
                       const at::Tensor& question) {
  const at::Tensor seen = at::linear(normed(features.rows), weights.at("allocator.rows"));
  const at::Tensor asked = at::linear(normed(question), weights.at("allocator.question"));
  const at::Tensor each = at::matmul(at::tanh(seen * asked + seen), weights.at("allocator.out"));
  return each.index_select(0, tokens_of_cells(features, geometry));
}

Named first_weights(int64_t rows, int64_t width, uint64_t seed) {
  const auto drawn = [&](const char* name, const std::vector<int64_t>& shape, double scale) {
    return (hf::random_tensor(name, shape, at::kFloat, at::kCPU, seed) * (scale / 0.02))
        .set_requires_grad(true);
  };
  const double scale = 1 / std::sqrt(static_cast<double>(rows));
  return {{"adapter.down", drawn("adapter.down", {width, rows}, scale)},
          {"adapter.up", at::zeros({rows, width}).set_requires_grad(true)},
          {"allocator.rows", drawn("allocator.rows", {width, rows}, scale)},
          {"allocator.question", drawn("allocator.question", {width, rows}, scale)},
          {"allocator.out", at::zeros({width}).set_requires_grad(true)}};
}

Drawn drawn_choice(const hf::Features& features, const Geometry& geometry,
                   const at::Tensor& relevance, int budget, double temperature, Dice& dice) {
  const at::NoGradGuard no_grad;
  const Grid grid = geometry.grid(0);
  const at::Tensor map = relevance.detach().to(at::kFloat).contiguous();
  const auto* values = map.data_ptr<float>();
  Allocation allocation;
  Drawn out;
  if (temperature > 0) {
    out.score = at::zeros({map.numel()}, at::kFloat);
    // Maps of the trainer are squares; only the geometry's cells of them are read.
    const int stride = std::max(grid.rows, grid.cols);
    const at::Tensor square = at::zeros({stride, stride}), score = at::zeros({stride, stride});
    square.narrow(0, 0, grid.rows).narrow(1, 0, grid.cols).copy_(map.view({grid.rows, grid.cols}));
    const DrawnTree tree =
        drawn_quadtree(square.data_ptr<float>(), stride, geometry, budget,
                       static_cast<float>(temperature), dice, score.data_ptr<float>());
    out.score =
        score.narrow(0, 0, grid.rows).narrow(1, 0, grid.cols).reshape({map.numel()}).clone();
    allocation.geometry = geometry;
    allocation.budget.tokens = budget;
    for (const Cell& cell : tree.cells)
      allocation.leaves.push_back({cell.level, cell.row, cell.col, cell.relevance});
  } else {
    Relevance given;
    given.map = {grid.rows, grid.cols, 16, 16, std::vector<float>(values, values + map.numel())};
    Budget tokens;
    tokens.tokens = budget;
    allocation = allocating::allocate(given, geometry, tokens, "quadtree");
  }
  // One token a leaf; a leaf of several places is their mean.
  out.groups = hf::choose(features, allocation, true).groups;
  return out;
}

}  // namespace arrcoc::training
