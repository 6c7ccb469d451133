// The terms of a confidence: what calibrated() sums and `arrcoc eval --calibrate` fits.
#pragma once

#include <array>

#include "arrcoc/bundle.h"

namespace arrcoc::tiny {

struct ConfidenceTerm {
  const char* name;  // in calibration.json
  double Calibration::*weight;
};
inline constexpr ConfidenceTerm kConfidenceTerms[] = {
    {"offset", &Calibration::offset},   {"slope", &Calibration::slope},
    {"least", &Calibration::least},     {"length", &Calibration::length},
    {"repeats", &Calibration::repeats}, {"computes", &Calibration::computes},
    {"misfit", &Calibration::misfit}};
using ConfidenceValues = std::array<double, std::size(kConfidenceTerms)>;

// In the order of kConfidenceTerms.
ConfidenceValues confidence_values(const AnswerSigns& signs);

}  // namespace arrcoc::tiny
