// A real picture made ready for training.
#pragma once

#include "lab/train/real/data.h"
#include "lab/train/real/picture.h"
#include "lab/train/sample.h"
#include "lab/train/train.h"

namespace arrcoc::training::real {

struct Wish {
  int canvas = 1024;   // the realizer's frame has at most this longer side
  float zoom = 2;      // smaller pictures are enlarged for it, at most so many times
  int tokens = 1024;   // smaller pictures are enlarged to this longer side before tokens are cut
  int longest = 1600;  // the picture itself has at most this one
  int native = 1600;   // pixels along the canvas for it, at least tokens and longest
  int reading = 12;    // questions from words, at most
  bool pinned = false;
  float swapped = 0;  // share of views of pages on which words change places (swap.h)
};
// Pages on the canvas of scenes, photographs on one of half the size, with tokens from the whole.
Wish wish_of(const Options& options, bool photo);

// A drawn view of the picture, aged; every question that is still in it. Its asks and words may
// both be empty. What depends on chance comes from the dice.
Sample training_sample(const Data& data, const Entry& entry, uint64_t ticket, const Wish& wish,
                       Dice& dice);
// The picture as it is, with its own questions; a page that has none, with questions from its
// words.
Sample held_sample(const Data& data, const Entry& entry, uint64_t ticket, const Wish& wish);

}  // namespace arrcoc::training::real
