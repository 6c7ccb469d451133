// Words of a page as OCR read them, made ready for words.jsonl.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "lab/train/real/data.h"

namespace arrcoc::training::real {

// The words of lines that somebody wrote down. Where OCR read the same at that place (upper and
// lower case aside): what it read, its box, confidence and characters' places. Elsewhere the word
// as it is written down, spread over its line, too unsure to teach characters. Lines are not known.
std::vector<Word> agreed(const std::vector<Word>& read, const std::vector<Word>& lines);

// [x0,y0,x1,y1,text,confidence,[x of every character],line], as words_in reads it.
nlohmann::json row_of(const Word& word);

}  // namespace arrcoc::training::real
