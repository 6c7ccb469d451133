// arrcoc clips --answers: questions over time, beside what one frame alone answers.
#pragma once

#include "lab/measure/film_answers.h"

namespace arrcoc::cli {

struct ClipsAnswers {
  int count = 0;
  uint64_t seed = 0;  // 0: suite:time
  bool json = false;
  std::string rows;    // write every question to this file, one a line
  std::string intent;  // ask only these; "": all
};
void clips_answers(const ClipsAnswers& args, const Asker& asker,
                   const measuring::FilmAsking& asking);

}  // namespace arrcoc::cli
