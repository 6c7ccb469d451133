// One step's pictures and questions, drawn from the pool.
#pragma once

#include <vector>

#include "lab/train/pool.h"
#include "lab/train/train.h"

namespace arrcoc::training {

struct Batch {
  std::vector<int> slots;         // pictures
  std::vector<int> page_of;       // question -> picture of this batch
  std::vector<int> slot_of;       // question -> slot
  std::vector<const Ask*> asks;   // owned by the pool; valid until its slots are refilled
  at::Tensor question;            // [Q,T] int64 symbols
  at::Tensor previous, expected;  // [Q,L] int64; expected is kPad where nothing is asked for
  at::Tensor pages;               // [Q] int64: page_of
  int each = 0;                   // questions of every picture, when all have as many
  size_t size() const { return asks.size(); }
};

// Labels of the realizer for a batch.
struct PageLabels {
  at::Tensor target;       // [Q,g,g] uint8: 1 evidence, 2 answer
  at::Tensor inside;       // [P,g,g] bool: cells of the picture
  at::Tensor text;         // [P,g,g] uint8
  at::Tensor cell_index;   // [P,K] int64 into [g*2g]
  at::Tensor cell_labels;  // [P,K,kCellSlots] int64
  at::Tensor tier;         // [Q] int64
  at::Tensor tensions;     // [Q,3] float
};

// `words` is the share of questions about words alone. Of every picture `distinct` questions (0:
// all) are drawn, the others are copies of them: question i is that of i % distinct.
Batch draw(const Pool& pool, const std::vector<int>& slots, int questions, float words, Dice& dice,
           int distinct = 0);
// Some questions of a batch; lengths are those of its own longest question and answer. `each` is
// for the caller to set.
Batch part_of(const Batch& batch, const std::vector<size_t>& questions, at::Device device);
// All questions of the pictures, at most `questions` each, none about words alone.
Batch all_of(const Pool& pool, const std::vector<int>& slots, int questions);

PageLabels page_labels(const Pool& pool, const Batch& batch, Dice& dice);

}  // namespace arrcoc::training
