// Looking again: how sure an answer is, what a pass leaves behind, and how the next one looks.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "arrcoc/ask.h"

namespace arrcoc::asking {

// 1 - geometric mean of the probabilities; 1 without any. Error{numeric} outside [0,1].
double uncertainty(const std::vector<float>& probabilities);

// Share of the focus on the four tokens that were read most; -1 when the model cannot tell.
double gathered(const std::vector<float>& focus);
// What of each share is above an even one.
std::vector<float> above_even(std::vector<float> focus);

// Share of words that two answers have in common (Dice's coefficient, lower case, in any order); of
// answers without words: 1 for equal ones.
double agreement(const std::string& a, const std::string& b);

// A token as it was read.
struct ReadToken {
  Box box;               // pixels of the allocation
  double level = 0;      // 0: the finest that this picture offers at its own size
  float relevance = -1;  // of its leaf; -1: there is none
};
// The tokens of the allocation, or those that the model says (Reply::places, in pixels of a picture
// of that size).
std::vector<ReadToken> tokens_of(const Pass& pass, int width, int height);

// Adds what a pass saw and read to the history, on the grid of its map, and fills pass.attention,
// gathered and detail. A model that does not say where it read has read what it was shown finely,
// half for being shown, half by relevance. most: the largest share of all pictures that were read
// together; 0: of this one.
void remember(Pass& pass, const std::vector<ReadToken>& tokens, History& history, float most = 0);

// Strength of exploring after a pass of that uncertainty: see PassRules::explore.
double exploration(const PassRules& rules, double uncertainty);

// The next map, by Manner:
//   first, wider  relevance as it is
//   closer        relevance x (apart + (1 - apart) x attention)
//   elsewhere     relevance x (1 - inhibition x uncertainty x accumulated attention); then cells
//                 never seen finely are lifted by explore x interest, with a seeded grain of 1 % so
//                 that equal cells are not taken in raster order
// interest: query-free, any grid; may be empty.
Map temper(const Map& relevance, const Map& interest, const History& history, Manner manner,
           double explore, const PassRules& rules, uint64_t seed);

// How to look after a pass that was not sure; none: not at all.
std::optional<Manner> manner_after(const Pass& pass, const PassRules& rules);

// Features of a pass for a PassPolicy, and the probability that a model of them gives.
PassPolicy::Features features_of(const Pass& pass, bool first);
double chance(const PassPolicy::Features& model, const PassPolicy::Features& features);

// Where the answer was read: the token that the writer looked at most and what lies around it, in
// pixels of the allocation. focus: one share a token. None when nothing was looked at.
std::optional<Box> answer_box(const std::vector<ReadToken>& tokens,
                              const std::vector<float>& focus);

}  // namespace arrcoc::asking
