// One step's pictures and questions, drawn from the pool.
#pragma once

#include <vector>

#include "lab/train/pool.h"
#include "lab/train/train.h"

namespace arrcoc::training {

struct Batch {
  const Pool* pool = nullptr;     // that the pictures lie in
  std::vector<int> slots;         // pictures
  std::vector<int> page_of;       // question -> picture of this batch
  std::vector<int> slot_of;       // question -> slot
  std::vector<const Ask*> asks;   // owned by the pool; valid until its slots are refilled
  at::Tensor question;            // [Q,T] int64 symbols
  at::Tensor previous, expected;  // [Q,L] int64; expected is kPad where nothing is asked for
  at::Tensor pages;               // [Q] int64: page_of
  at::Tensor weight;              // [Q] float: what an answer's characters count
  int grid = 0;                   // cells along the canvas, when all pictures have as many
  int each = 0;                   // questions of every picture, when all have as many
  size_t size() const { return asks.size(); }
};

// Labels of the realizer for a batch.
struct PageLabels {
  at::Tensor target;       // [Q,g,g] uint8: 1 evidence, 2 answer, 3 neither right nor wrong
  at::Tensor inside;       // [P,g,g] bool: cells of the picture
  at::Tensor text;         // [P,g,g] uint8, kNotKnown where nobody knows
  at::Tensor cell_index;   // [P,K] int64 into [g*2g]
  at::Tensor cell_labels;  // [P,K,kCellSlots] int64, -1 where nobody knows
  at::Tensor tier;         // [Q] int64
  at::Tensor tensions;     // [Q,3] float
  // With real pictures: 1 for questions whose boxes are to be taken so, [Q] float; and what is to
  // be seen in each 16x32 cell, [P,g,g/2] int64, -1 where nobody knows.
  at::Tensor place, object, loose, names;
};

// What the characters of a question's answer count in the loss.
float answer_weight(const Ask& ask);

// `words` is the share of questions about words alone, of scenes and of real pictures. Of every
// picture `distinct` questions (0: all) are drawn, the others are copies of them: question i is
// that of i % distinct.
struct WordShares {
  float scenes = 0, real = 0;
};
Batch draw(const Pool& pool, const std::vector<int>& slots, int questions, const WordShares& words,
           Dice& dice, int distinct = 0);
// The questions of several batches of one pool, one after the other.
Batch joined(const std::vector<const Batch*>& batches);
// Some questions of a batch; lengths are those of its own longest question and answer. `each` is
// for the caller to set.
Batch part_of(const Batch& batch, const std::vector<size_t>& questions, at::Device device);
// All questions of the pictures, at most `questions` each, none about words alone.
Batch all_of(const Pool& pool, const std::vector<int>& slots, int questions);

PageLabels page_labels(const Pool& pool, const Batch& batch, Dice& dice);

}  // namespace arrcoc::training
