// The terms of a confidence: what calibrated() sums and `arrcoc eval --calibrate` fits.
#pragma once

#include <array>
#include <span>
#include <string>

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

// What a confidence is made of: with the answer's own signs the place's and the kind's. And what
// they count.
struct ReadSigns {
  AnswerSigns answer;
  double place = 0;  // place_sign
  double kind = 0;   // kind_sign (kinds.h)
};
struct SignWeights {
  Calibration calibration;
  double place = 0, kind = 0;  // keys of calibration.json, 0 where it has none
};
// Log odds of the mean relevance of what was read: was it read where the question points? focus:
// the attention that each leaf got. 0, which speaks neither for nor against, where nobody can say.
double place_sign(std::span<const float> focus, std::span<const Leaf> leaves);
SignWeights sign_weights_from_json(const std::string& text);  // calibration.json; Error{bad_json}
std::string to_json(const SignWeights& weights);

// In the order of kConfidenceTerms, then the place and the kind.
using ConfidenceValues = std::array<double, std::size(kConfidenceTerms) + 2>;
ConfidenceValues values_of(const SignWeights& weights);
SignWeights weights_of(const Calibration& rest, const ConfidenceValues& values);
ConfidenceValues confidence_values(const ReadSigns& signs);
double calibrated(const SignWeights& weights, const ReadSigns& signs);

}  // namespace arrcoc::tiny
