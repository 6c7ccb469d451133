// How people ask: many phrasings per intent, whole sentences, keywords, sloppy typing.
#pragma once

#include <string>

#include "lab/scenes/page.h"

namespace arrcoc::scenes {

// The question for a fact: a template of its intent with the slots filled, then sloppy in a share.
// At most kQuestionLimit bytes.
constexpr size_t kQuestionLimit = 192;
std::string phrase(Random& random, const Ask& ask);

// What the model is to say: blanks trimmed, lower case (but formulas, where case matters).
constexpr size_t kAnswerLimit = 64;
std::string normalise_answer(const std::string& answer, bool keep_case);

// "RM 1,234.50" -> "1,234.50", "43%" -> "43": units are printed around numbers in many ways, and
// the figure is what is asked for.
std::string figure(const std::string& text);

}  // namespace arrcoc::scenes
