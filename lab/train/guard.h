// The guard of a run that began with weights: are the new ones better on real pictures held aside?
#pragma once

#include <string>
#include <vector>

#include "lab/train/real/measure.h"
#include "lab/train/train.h"

namespace arrcoc::training {

// Both have the same questions in the same order. kept_old says that the new weights lose: a gain
// below zero. No gain and no loss keeps the new ones.
Verdict verdict_of(const std::vector<real::Result>& before, const std::vector<real::Result>& after);

// The weights of one folder as they are in another, with what was fitted for them
// (calibration.json, policies.json, film.json, kinds.json): shards first, the index last, then
// shards that no index names go.
void copy_weights(const std::string& from, const std::string& to);
// Only what was fitted, where it is not there yet: the new weights are used in the same way.
void copy_fitted(const std::string& from, const std::string& to);

}  // namespace arrcoc::training
