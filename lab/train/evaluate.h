// Exact match and answer-region recall on a fixed set of held-out scenes.
#pragma once

#include <array>
#include <map>
#include <string>
#include <vector>

#include "lab/train/batch.h"
#include "lab/train/losses.h"

namespace arrcoc::training {

struct Score {
  int questions = 0;
  double exact_realized = 0;  // shares in [0,1]
  double exact_oracle = 0;
  double recall = 0;       // of answer boxes under leaves of at most 32 pixels, realizer's maps
  double page_glyphs = 0;  // characters named right by the realizer's stem
};

struct Evaluation {
  Score all;
  std::map<std::string, Score> kinds;
  double suites_realized = 0, suites_oracle = 0;  // exact match, mean of the four measured kinds
  double mean_tier_tokens = 0;                    // what the tier head asks for
  std::array<double, 3> tokens_by_complexity{};   // the same for simple, medium, complex
  std::array<double, tiny::kTiers> tier_share{};  // how often each tier is asked for
  double distinct = 0;  // mean (1 - cosine) between maps of different questions on one picture
};

// Signs that the realizer no longer depends on the question or the budget head on anything; empty
// when all is well. Few questions (below 20) are no sign of anything.
std::vector<std::string> collapses(const Evaluation& evaluation);

// Relevance of the realizer's logits [Q,g,g] among cells of the picture (inside: [Q,g,g] bool).
at::Tensor visible_relevance(const at::Tensor& logits, const at::Tensor& inside);

// Greedy decoding at `budget` tokens for every question of the pool.
Evaluation evaluate(const tiny::RealizerNet& realizer, const tiny::Tensors& look,
                    const tiny::Answerer& answerer, const tiny::Tensors& write, const Pool& pool,
                    at::ScalarType type, int budget);

}  // namespace arrcoc::training
