// What a policy's name means: who says where relevance is, and who spreads the tokens.
#pragma once

#include "arrcoc/answering.h"

namespace arrcoc::answering {

enum class Source {
  network,   // the bundled realizer's map
  evidence,  // the known boxes (oracle)
  nothing,   // no relevance at all
  pipeline,  // a policy of arrcoc::policies()
  native,    // every patch of level 0
  resize,    // the picture shrunk to the budget
  slices,    // an overview and slices of the picture, each shrunk to its share of the budget
  reducer,   // every patch of level 0, most of them taken away inside the encoder
  queries,   // every patch of level 0, seen by learned queries only
};
Source source_of(const std::string& policy);

// What a fixed rule gives whatever was asked for: native all patches, fixed-16x 256 tokens, qformer
// its queries, fixed-tiers a tier by the question's words. "" for policies that keep the budget.
std::string own_budget(const std::string& policy);

// True where the encoder pays for every native patch, so that a question takes seconds.
bool encodes_all(const std::string& policy);

// Tokens of one question, ready to be read.
struct Seen {
  Relevance relevance;
  Allocation allocation;
  TokenSequence tokens;
  std::vector<std::string> fallbacks;
};

// The whole picture at one size that fits the budget: patches of 16x16 pixels after shrinking.
Seen shrink_to(const Pyramid& pyramid, const Budget& budget);
Seen take_all(const Pyramid& pyramid);
// LLaVA-UHD's way: see slices.cpp.
Seen take_slices(const Pyramid& pyramid, const Budget& budget);

// Where the answer was read: the leaf that the writer looked at most and what lies around it.
// focus [leaves]. None when nothing was looked at.
std::optional<Box> answer_box(const Allocation& allocation, const std::vector<float>& focus);

}  // namespace arrcoc::answering
