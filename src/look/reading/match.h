// How well a word on the page matches a word of the question.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace arrcoc::reading {

// Lower case, without punctuation at both ends.
std::string plain(std::string_view text);

bool is_number(std::string_view plain);  // digits, with . , - / : between them, % or currency

// Edit distance in which letters that OCR confuses (0/o, 1/l/i, 5/s, 8/b, 2/z, 6/g, c/e, u/v ...)
// cost a third of another error. Stops early above `limit` and returns something larger then.
float ocr_distance(std::string_view a, std::string_view b, float limit);

// The word without a plural or a verb's ending.
std::string stem(std::string_view word);

// 1 for the same word, less for a plural, a misread letter, the same stem; 0 for different words.
// Both are plain. Numbers match only themselves (and a year its last two digits: 2015, '15).
float similarity(std::string_view asked, std::string_view read);

// One word of the question with everything that may stand for it on a page.
struct Term {
  std::string word;
  std::vector<std::string_view> synonyms;
  float weight = 1;  // how much it says about where to look
};

// Similarity to the term's word, or to a synonym at a discount.
float match(const Term& term, std::string_view read);

// The synonyms of a word: other members of its groups.
std::vector<std::string_view> synonyms_of(std::string_view word);

}  // namespace arrcoc::reading
