// What a step of training does.
#pragma once

#include "lab/train/dice.h"
#include "lab/train/train.h"

namespace arrcoc::training {

// What one step does, decided by how far training has come.
struct Plan {
  enum Mode { reading, full, dense } mode = reading;
  int budget = 180;       // of scenes
  int page_budget = 400;  // of real pages, which need more, and of photographs, which need less
  int photo_budget = 100;
  float own_maps = 0;    // share of questions that are allocated by the realizer's maps
  float rate = 0;        // factor on the peak rates
  bool outcome = false;  // splits are drawn, and credited with what came of them
  bool again = false;    // the map of a second pass is learned, nothing else
  bool realizer_learns = true, answerer_learns = true;
};

// progress: the share of the whole that is done; step: its number.
Plan plan_of(const Options& options, double progress, int64_t step, Dice& dice);

}  // namespace arrcoc::training
