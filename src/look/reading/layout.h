// The page as printed: words joined into phrases (table cells, runs of text), phrases into blocks.
// Rebuilt from the boxes alone, since OCR engines number lines poorly on receipts and charts.
#pragma once

#include <string>
#include <vector>

#include "arrcoc/look.h"
#include "look/reading/shape.h"

namespace arrcoc::reading {

struct Token {
  Box box;
  std::string text;                // as read
  std::vector<std::string> parts;  // plain words in it: "Date:12/3/70" -> date, 12/3/70
  WordShape shape;
  float confidence = 1;
  int phrase = -1;
  int place = 0;  // position in its phrase
};

// Words of one line without a wide gap between them, left to right.
struct Phrase {
  std::vector<int> words;
  Box box;
  float height = 0;  // of its letters: median of the words
  int block = -1;
};

struct Page {
  std::vector<Token> words;
  std::vector<Phrase> phrases;
  std::vector<Box> blocks;  // phrases stacked closely: a label or paragraph of several lines
  std::vector<int> block_lines;
  Box bounds;        // of all words
  float height = 1;  // median height of a word
};

Page lay_out(const std::vector<Word>& words);

// Share of the smaller extent that two ranges have in common.
float overlap(float a0, float a1, float b0, float b1);

}  // namespace arrcoc::reading
