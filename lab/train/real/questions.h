// Reading questions from the words of a page: find, after, below, whole lines, values beside their
// labels, cells of tables, dates, numbers, titles, who writes to whom. The answers are what is
// written, lower case; only phrases that occur once on the page are asked about.
#pragma once

#include <vector>

#include "lab/train/real/data.h"
#include "lab/train/sample.h"

namespace arrcoc::training::real {

// At most `most` questions about a page of this size. words: arranged, in pixels of the page.
std::vector<Ask> reading_asks(const std::vector<Word>& words, int width, int height, int most,
                              Dice& dice);

}  // namespace arrcoc::training::real
