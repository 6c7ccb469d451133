// Fitting what kind of text answers a question (models/tiny/kinds.h).
#pragma once

#include "models/tiny/kinds.h"

namespace arrcoc::fitting {

struct AskedAndAnswered {
  std::string question, answer;  // the right one
};

struct KindsOptions {
  int fewest = 30;     // words of fewer questions have no row
  double pull = 3e-4;  // of every number to 0, a question counting as 1 / number of questions
  int steps = 250;
};
// A softmax regression on the questions' words, by Adam over all pairs at once. Error{bad_argument}
// without any.
tiny::KindTable fit_kinds(const std::vector<AskedAndAnswered>& pairs,
                          const KindsOptions& options = {});

}  // namespace arrcoc::fitting
