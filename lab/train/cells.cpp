#include "lab/train/cells.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <cmath>

#include "lab/train/outcome.h"

namespace arrcoc::training {
namespace {

constexpr int kMostReadingCells = 96;
constexpr float kWithoutRelevance = 0.15F;  // share of questions whose tokens hide their relevance

// Calls choose(question, its dice) for every question.
template <class Choose>
CellLists each_question(const Batch& batch, Dice& dice, const Choose& choose) {
  CellLists cells(batch.size());
  const uint64_t seed = dice.next();
  at::parallel_for(0, static_cast<int64_t>(batch.size()), 8, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      Dice own(seed, static_cast<uint64_t>(i));
      cells[static_cast<size_t>(i)] = choose(i, own);
    }
  });
  return cells;
}

// The cells of the answer; more than fits at full detail (objects, counts): all of it, coarser.
std::vector<Cell> answer_cells(const Ask& ask, const Geometry& geometry) {
  std::vector<Cell> cells = reading_cells(ask, geometry, kMostReadingCells);
  if (static_cast<int>(cells.size()) < kMostReadingCells) return cells;
  const Grid grid = geometry.grid(0);
  std::vector<float> map(static_cast<size_t>(grid.cells()));
  oracle_map(ask, geometry, grid.cols, map.data());
  return quadtree(map.data(), grid.cols, geometry, kMostReadingCells);
}

// own_map: the realizer's, [g,g] cells of the frame; null: it did not look.
std::vector<Cell> full_cells(const Options& options, const Plan& plan, const Sample& sample,
                             const Ask& ask, const float* own_map, int g, Dice& dice) {
  Geometry geometry = sample.native;
  // Real pictures that are small have been enlarged already.
  geometry.finest = dice.chance(sample.real ? 0.5F * options.enlarged : options.enlarged) ? -1 : 0;
  const Grid grid = geometry.grid(0);
  std::vector<float> map(static_cast<size_t>(grid.cells()));
  if (own_map && (dice.chance(plan.own_maps) || ask.answer_boxes.empty())) {
    to_native(own_map, g, sample.geometry, geometry, map.data());
  } else {
    noisy_map(ask, geometry, grid.cols, dice, map.data());
  }
  float finest = 0;
  if (sample.real && dice.chance(0.5F)) {  // as the experts bend maps
    const float power = dice.uniform(0.5F, 1);
    for (float& v : map) v = std::pow(v, power);
    finest = dice.uniform(0.25F, 0.5F);
  }
  const int budget = !sample.real                      ? plan.budget
                     : sample.canvas == options.canvas ? plan.page_budget
                                                       : plan.photo_budget;
  std::vector<Cell> cells = quadtree(map.data(), grid.cols, geometry, budget, finest);
  if (dice.chance(kWithoutRelevance))
    for (Cell& cell : cells) cell.relevance = 0;
  return cells;
}

}  // namespace

CellLists cells_for(const Options& options, const Plan& plan, const Batch& batch,
                    const at::Tensor& maps, Dice& dice) {
  const int g = batch.grid;
  return each_question(batch, dice, [&](int64_t i, Dice& own) {
    const Sample& sample = batch.pool->sample(batch.slot_of[static_cast<size_t>(i)]);
    const Ask& ask = *batch.asks[static_cast<size_t>(i)];
    if (plan.mode == Plan::reading && !ask.answer_boxes.empty())
      return answer_cells(ask, sample.native);
    if (plan.mode == Plan::dense) return dense_cells(sample.native);
    const float* own_map = maps.defined() ? maps.data_ptr<float>() + i * g * g : nullptr;
    return full_cells(options, plan, sample, ask, own_map, g, own);
  });
}

CellLists drawn_cells(const Options& options, const Plan& plan, const Batch& batch,
                      const at::Tensor& maps, Dice& dice, at::Tensor& scores) {
  scores = at::zeros_like(maps);
  const int g = batch.grid;
  return each_question(batch, dice, [&](int64_t i, Dice& own) {
    const Geometry& geometry = batch.pool->sample(batch.slot_of[static_cast<size_t>(i)]).geometry;
    return drawn_quadtree(maps.data_ptr<float>() + i * g * g, g, geometry, plan.budget,
                          options.outcome_temperature, own, scores.data_ptr<float>() + i * g * g)
        .cells;
  });
}

}  // namespace arrcoc::training
