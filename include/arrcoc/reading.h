// Reading: words on the page, matched to the question. The matching needs no OCR engine: words can
// come from Tesseract (arrcoc_media), from a PDF's text layer or from a test.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "arrcoc/map.h"
#include "arrcoc/picture.h"
#include "arrcoc/query.h"

namespace arrcoc {

struct Word {
  std::string text;      // UTF-8, as read
  Box box;               // source pixels
  float confidence = 1;  // 0..1
  int line = -1;         // words of one printed line share a number; -1 unknown
  int block = -1;
};

// Something that finds words in a picture.
class WordSource {
 public:
  virtual ~WordSource() = default;
  virtual std::vector<Word> read(const Picture& picture) const = 0;
};

namespace reading {

// One score in [0,1] per word: how likely it is (part of) the answer to the question. Matches
// question words to page words (fuzzy, plurals, a short synonym list), spreads along the row to the
// right and down the column, and weighs by the kind of answer wanted (money, date, number, name
// ...).
std::vector<float> score_words(const std::vector<Word>& words, const Query& query);

// The words' scores painted into a map of the given shape: the largest score of the words over each
// cell, by overlap.
Map paint(const std::vector<Word>& words, const std::vector<float>& scores, const Map& shape);

}  // namespace reading
}  // namespace arrcoc
