// Which cells of its picture each question of a step is shown.
#pragma once

#include <vector>

#include "lab/train/batch.h"
#include "lab/train/plan.h"

namespace arrcoc::training {

using CellLists = std::vector<std::vector<Cell>>;  // one a question

// By the plan: those of the answer, all, or a quadtree over a noisy oracle's map or the realizer's
// own. maps [Q,g,g] on the CPU; undefined: not looked at.
CellLists cells_for(const Options& options, const Plan& plan, const Batch& batch,
                    const at::Tensor& maps, Dice& dice);

// Outcome steps: every copy of a question draws splits of its own, and differs in nothing else.
// scores [Q,g,g] becomes what outcome_loss wants.
CellLists drawn_cells(const Options& options, const Plan& plan, const Batch& batch,
                      const at::Tensor& maps, Dice& dice, at::Tensor& scores);

}  // namespace arrcoc::training
