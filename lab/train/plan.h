// What a step of training does.
#pragma once

#include "lab/train/dice.h"
#include "lab/train/train.h"

namespace arrcoc::training {

// What one step does, decided by how far training has come.
struct Plan {
  enum Mode { reading, full, dense } mode = reading;
  int budget = 180;
  float own_maps = 0;    // share of questions that are allocated by the realizer's maps
  float rate = 0;        // factor on the peak rates
  bool outcome = false;  // splits are drawn, and credited with what came of them
};

// progress: the share of the whole that is done.
Plan plan_of(const Options& options, double progress, Dice& dice);

}  // namespace arrcoc::training
