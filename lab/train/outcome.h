// Outcome training: splits of the quadtree are drawn instead of taken greedily, the answerer
// answers from what they show, and what comes of it is credited to the splits (policy gradient).
// Several draws of one question are each other's baseline.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "lab/train/tokens.h"

namespace arrcoc::training {

struct DrawnTree {
  std::vector<Cell> cells;
  double log_probability = 0;  // of all its splits
};

// A quadtree whose every split is drawn from a softmax over log gain / temperature of the nodes
// that may be split. score [stride][stride] grows by the derivative of the log probability by the
// log of every cell's relevance.
DrawnTree drawn_quadtree(const float* map, int stride, const Geometry& geometry, int budget,
                         float temperature, Dice& dice, float* score);

// Reward of every answer, from the answerer's logits [Q,L,symbols] after the right beginnings and
// what was expected [Q,L] (kPad: nothing): 1 when greedy writing gives the answer, 0.5 when more
// than half of its characters are right, else -1.
at::Tensor rewards(const at::Tensor& logits, const at::Tensor& expected);

// Surrogate whose gradient by the relevance logits [P*taught,g,g] is that of minus the expected
// reward. scores [P*each,g,g] and rewards [P*each] are of each/taught draws of every question, draw
// k of question t of a picture at t + k * taught.
at::Tensor outcome_loss(const at::Tensor& logits, const at::Tensor& scores,
                        const at::Tensor& rewards, int taught, int each);

}  // namespace arrcoc::training
