#include "look/reading/layout.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/text.h"

namespace arrcoc::reading {
namespace {

float median(std::vector<float> values) {
  if (values.empty()) return 1;
  const size_t middle = values.size() / 2;
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(middle),
                   values.end());
  return values[middle];
}

Box unite(const Box& a, const Box& b) {
  return {std::min(a.x0, b.x0), std::min(a.y0, b.y0), std::max(a.x1, b.x1), std::max(a.y1, b.y1)};
}

// Dashes and dots are lower than letters: for linking they stand in a box of a line's height.
Box line_box(const Token& word, float line) {
  Box box = word.box;
  if (box.height() >= 0.5F * line || word.shape.letters + word.shape.digits > 0) return box;
  const float centre = 0.5F * (box.y0 + box.y1);
  return {box.x0, centre - 0.5F * line, box.x1, centre + 0.5F * line};
}

// The word that continues each word to the right, -1 at a phrase's end. Words are visited in
// vertical order so that only neighbours in y are compared.
std::vector<int> successors(const Page& page) {
  const size_t n = page.words.size();
  std::vector<Box> boxes;
  boxes.reserve(n);
  for (const Token& word : page.words) boxes.push_back(line_box(word, page.height));
  std::vector<int> by_top(n);
  std::iota(by_top.begin(), by_top.end(), 0);
  std::sort(by_top.begin(), by_top.end(),
            [&](int a, int b) { return std::pair(boxes[a].y0, a) < std::pair(boxes[b].y0, b); });
  float tallest = 0;
  for (const Box& box : boxes) tallest = std::max(tallest, box.height());
  std::vector<int> next(n, -1);
  std::vector<float> next_gap(n, 0);
  std::vector<int> previous(n, -1);
  std::vector<float> previous_gap(n, 0);
  for (size_t i = 0; i < n; ++i) {
    const int a = by_top[i];
    const Box& left = boxes[a];
    // Everything that begins above this word's lower edge and may still reach it.
    const auto begin = std::lower_bound(by_top.begin(), by_top.end(), left.y0 - tallest,
                                        [&](int w, float y) { return boxes[w].y0 < y; });
    for (auto it = begin; it != by_top.end() && boxes[*it].y0 < left.y1; ++it) {
      const int b = *it;
      const Box& right = boxes[b];
      if (b == a || right.x0 < left.x0 || (right.x0 == left.x0 && b < a)) continue;
      const float small = std::min(left.height(), right.height());
      const float large = std::max(left.height(), right.height());
      const float gap = right.x0 - left.x1;
      if (gap > 1.3F * large || gap > 2.2F * small + 4 || gap < -0.6F * large) continue;
      if (large > 2.6F * small + 3) continue;
      if (overlap(left.y0, left.y1, right.y0, right.y1) < 0.5F) continue;
      if (next[a] < 0 || gap < next_gap[a]) {
        next[a] = b;
        next_gap[a] = gap;
      }
    }
    if (next[a] >= 0) {
      const int b = next[a];
      if (previous[b] < 0 || next_gap[a] < previous_gap[b]) {
        if (previous[b] >= 0) next[previous[b]] = -1;
        previous[b] = a;
        previous_gap[b] = next_gap[a];
      } else {
        next[a] = -1;
      }
    }
  }
  return next;
}

void build_phrases(Page& page) {
  const std::vector<int> next = successors(page);
  std::vector<char> has_previous(page.words.size(), 0);
  for (const int b : next) {
    if (b >= 0) has_previous[b] = 1;
  }
  for (size_t i = 0; i < page.words.size(); ++i) {
    if (has_previous[i] != 0) continue;
    Phrase phrase;
    phrase.box = page.words[i].box;
    std::vector<float> heights;
    for (int w = static_cast<int>(i); w >= 0 && page.words[w].phrase < 0; w = next[w]) {
      page.words[w].phrase = static_cast<int>(page.phrases.size());
      page.words[w].place = static_cast<int>(phrase.words.size());
      phrase.words.push_back(w);
      phrase.box = unite(phrase.box, page.words[w].box);
      heights.push_back(page.words[w].box.height());
    }
    phrase.height = median(heights);
    page.phrases.push_back(std::move(phrase));
  }
}

// Phrases that stand closely above each other, in the same type size and aligned left, right or
// centred, make a block.
void build_blocks(Page& page) {
  const size_t n = page.phrases.size();
  std::vector<int> order(n);
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](int a, int b) {
    return std::pair(page.phrases[a].box.y0, a) < std::pair(page.phrases[b].box.y0, b);
  });
  std::vector<int> last_of_block;
  for (const int p : order) {
    Phrase& phrase = page.phrases[p];
    int found = -1;
    float nearest = 0;
    for (size_t b = 0; b < page.blocks.size(); ++b) {
      const Phrase& above = page.phrases[last_of_block[b]];
      const float height = std::min(phrase.height, above.height);
      const float gap = phrase.box.y0 - above.box.y1;
      if (gap > 0.7F * height || gap < -0.5F * height) continue;
      if (std::max(phrase.height, above.height) > 1.5F * height) continue;
      if (overlap(phrase.box.x0, phrase.box.x1, above.box.x0, above.box.x1) < 0.3F) continue;
      const float left = std::fabs(phrase.box.x0 - above.box.x0);
      const float right = std::fabs(phrase.box.x1 - above.box.x1);
      const float centre =
          0.5F * std::fabs(phrase.box.x0 + phrase.box.x1 - above.box.x0 - above.box.x1);
      const float off = std::min({left, right, centre});
      if (off > 1.5F * height) continue;
      if (found < 0 || off + gap < nearest) {
        found = static_cast<int>(b);
        nearest = off + gap;
      }
    }
    if (found < 0) {
      found = static_cast<int>(page.blocks.size());
      page.blocks.push_back(phrase.box);
      page.block_lines.push_back(0);
      last_of_block.push_back(p);
    }
    phrase.block = found;
    page.blocks[found] = unite(page.blocks[found], phrase.box);
    page.block_lines[found] += 1;
    last_of_block[found] = p;
  }
}

}  // namespace

float overlap(float a0, float a1, float b0, float b1) {
  const float common = std::min(a1, b1) - std::max(a0, b0);
  const float smaller = std::min(a1 - a0, b1 - b0);
  if (common <= 0) return 0;
  return smaller > 0 ? common / smaller : 1.0F;
}

Page lay_out(const std::vector<Word>& words) {
  Page page;
  page.words.reserve(words.size());
  std::vector<float> heights;
  for (const Word& word : words) {
    Token token;
    token.box = word.box;
    token.text = word.text;
    token.parts = text::split_words(word.text);
    token.shape = shape_of(word.text);
    token.confidence = word.confidence;
    page.words.push_back(std::move(token));
    heights.push_back(word.box.height());
    page.bounds = page.words.size() == 1 ? word.box : unite(page.bounds, word.box);
  }
  page.height = std::max(1.0F, median(heights));
  build_phrases(page);
  build_blocks(page);
  for (const Phrase& phrase : page.phrases) {
    std::vector<std::string> texts;
    std::vector<WordShape> shapes;
    for (const int w : phrase.words) {
      texts.push_back(page.words[w].text);
      shapes.push_back(page.words[w].shape);
    }
    join_shapes(texts, shapes);
    for (size_t i = 0; i < phrase.words.size(); ++i) page.words[phrase.words[i]].shape = shapes[i];
  }
  return page;
}

}  // namespace arrcoc::reading
