// Words of a page: in reading order, where their characters are, where an answer stands.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lab/scenes/scenes.h"
#include "lab/train/real/data.h"

namespace arrcoc::training::real {

// Lower case within Latin-1; quotes and dashes that Latin-1 lacks become plain ones.
std::string lower(std::string_view text);
std::u32string code_points(std::string_view text);
// Letters and digits alone, lower case: what is compared when answers are looked for.
std::string letters(std::string_view text);
float median(std::vector<float> values);  // the upper one; 0 of none
// Share of digits among letters and digits.
float digit_share(std::string_view text);

// Lines of text without known words: split at spaces, characters spread by their usual widths. How
// sure that is: less than kSure.
std::vector<Word> words_of_lines(const std::vector<Word>& lines);

// The characters of a word whose places are not known, spread over its box by their usual widths.
void spread(Word& word);

// Reading order: by line, then x. Lines that are not known are found by height and distance.
void arrange(std::vector<Word>& words);

// Boxes of some sources reach from the tallest letters to the baseline whatever the word is, those
// of others are those of the ink. The first kind (words with letters below the line are no taller)
// is made the second. words: arranged.
void tighten(std::vector<Word>& words);

// Places [first, last] of words, in reading order, that read as the text.
struct Run {
  size_t first = 0, last = 0;
};
std::vector<Run> runs_of(const std::vector<Word>& words, std::string_view text);
// One box a line.
std::vector<Box> boxes_of(const std::vector<Word>& words, const Run& run);
Box hull(const Box& a, const Box& b);

// Tightens or finds the boxes of an item by the words that read as one of its answers, the main one
// or else the shortest, which becomes the answer that is taught. Where several places do, and none
// was given, all of them become its boxes and box_from "several".
void place_answer(const std::vector<Word>& words, Item& item);

// The characters of a word: centres of their ink, height of the em. None without centres.
std::vector<scenes::Glyph> glyphs_of(const Word& word);
// Height of the em, from the letters that reach highest and lowest.
float em_of(const Word& word);

}  // namespace arrcoc::training::real
