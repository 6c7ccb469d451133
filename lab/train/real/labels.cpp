#include "lab/train/real/labels.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "lab/train/real/words.h"

namespace arrcoc::training::real {
namespace {

double tenth(float value) { return std::round(10.0 * value) / 10; }

// The places of words on a line are guessed from the usual widths of characters: off by a word of
// their own length, or a few letters, at most.
bool same_place(const Word& read, const Word& written) {
  const Box &a = read.box, &b = written.box;
  const float middle = 0.5F * (a.y0 + a.y1);
  const float off = std::abs(0.5F * (a.x0 + a.x1) - 0.5F * (b.x0 + b.x1));
  return middle > b.y0 && middle < b.y1 && off < std::max(b.width(), 3 * b.height());
}

}  // namespace

std::vector<Word> agreed(const std::vector<Word>& read, const std::vector<Word>& lines) {
  std::vector<Word> out = words_of_lines(lines);
  std::vector<uint8_t> used(read.size(), 0);
  for (Word& word : out) {
    const std::string wanted = lower(word.text);
    size_t best = read.size();
    float nearest = 1e9F;
    for (size_t i = 0; i < read.size(); ++i) {
      if (used[i] || !same_place(read[i], word) || lower(read[i].text) != wanted) continue;
      const float off = std::abs(read[i].box.x0 - word.box.x0);
      if (off < nearest) nearest = off, best = i;
    }
    if (best == read.size()) continue;
    used[best] = 1;
    word = read[best];
    word.line = -1;
  }
  return out;
}

nlohmann::json row_of(const Word& word) {
  nlohmann::json centres = nlohmann::json::array();
  for (float x : word.centres) centres.push_back(tenth(x));
  return {tenth(word.box.x0), tenth(word.box.y0),     tenth(word.box.x1), tenth(word.box.y1),
          word.text,          tenth(word.confidence), std::move(centres), word.line};
}

}  // namespace arrcoc::training::real
