// Means of two sets of weights of one lineage, measured on pictures that were held aside.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "lab/train/real/measure.h"
#include "lab/train/train.h"

namespace arrcoc::training {

struct Mean {
  std::string name;
  double answerer = 0, realizer = 0;  // shares of the other weights
};
// "0/0,0.4/0.6": answerer/realizer. Error{bad_argument} for anything else than shares from 0 to 1.
std::vector<Mean> means_of(const std::string& text);

struct MeansWish {
  std::string other;  // folder of weights; the first ones are options.init
  std::vector<Mean> means = {{"0/0", 0, 0}};
  real::Budgets budgets;
  bool oracle = false;
  bool scenes = false;  // also options.held_out scenes of options.mix, which are said only
};
// The pictures held aside in options.data, at most options.held_real of every set, by each mean, in
// its order. The figures of every mean go to `say`.
std::vector<std::vector<real::Result>> measure_means(
    const Options& options, const MeansWish& wish,
    const std::function<void(const std::string&)>& say);

}  // namespace arrcoc::training
