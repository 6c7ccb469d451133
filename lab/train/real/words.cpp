#include "lab/train/real/words.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/text.h"

namespace arrcoc::training::real {
namespace {

constexpr float kSpread = 50;  // confidence in characters that were only spread over a line

// Quotes, dashes and spaces that Latin-1 lacks become plain ones; what has no place in a symbol at
// all becomes a question mark.
char32_t plain(char32_t c) {
  constexpr std::u32string_view kOdd =
      U"\u2018\u2019\u201A\u2032\u201C\u201D\u201E\u2033\u2010\u2011\u2012\u2013\u2014\u2212"
      U"\u2022\u2009\u202F\u2002\u2003";
  constexpr std::u32string_view kPlain = U"''''\"\"\"\"------\u00B7    ";
  static_assert(kOdd.size() == kPlain.size());
  const size_t at = kOdd.find(c);
  if (at != std::u32string_view::npos) return kPlain[at];
  return c < 0x10000 && c != 0xFFFD ? c : U'?';
}

char32_t lower(char32_t c) {
  const bool capital = (c >= U'A' && c <= U'Z') || (c >= 0xC0 && c <= 0xDE && c != 0xD7);
  return capital ? c + 32 : c;
}

// Top and bottom of a character's ink over the baseline, in ems of an ordinary face.
struct Ink {
  float top, bottom;
};
Ink ink_of(char32_t c) {
  if (c == U'.' || c == U'_') return {0.1F, 0};
  if (c == U',') return {0.1F, -0.14F};
  if (c == U';') return {0.48F, -0.14F};
  if (c == U':') return {0.48F, 0};
  if (c == U'-' || c == U'~' || c == U'=' || c == 0xB7) return {0.33F, 0.22F};
  if (c == U'\'' || c == U'"' || c == U'`' || c == U'*' || c == 0xB0) return {0.72F, 0.46F};
  if (c == U'g' || c == U'p' || c == U'q' || c == U'y') return {0.5F, -0.21F};
  if (c == U'j' || c == U'(' || c == U')' || c == U'[' || c == U']' || c == U'|' || c == U'/')
    return {0.72F, -0.18F};
  if (c == U't') return {0.64F, 0};
  static const std::u32string small = U"aceimnorsuvwxz";
  if (small.find(c) != std::u32string::npos) return {c == U'i' ? 0.7F : 0.5F, 0};
  return {0.72F, 0};
}

// Of all characters; `least` for none.
Ink ink_of(const std::u32string& text, Ink least = {0.05F, 0.4F}) {
  for (char32_t c : text) {
    least.top = std::max(least.top, ink_of(c).top);
    least.bottom = std::min(least.bottom, ink_of(c).bottom);
  }
  return least;
}

struct Extent {
  float em, baseline;
};
Extent extent_of(const Word& word, const std::u32string& text) {
  const auto [top, bottom] = ink_of(text);
  const float em =
      std::min(word.box.height() / std::max(0.1F, top - bottom), 4 * word.box.height());
  return {em, word.box.y1 + bottom * em};
}

float usual_width(char32_t c) {
  static const std::u32string narrow = U"ijl.,:;'|!()[]1Itfr", wide = U"mwMW@%&";
  if (c == U' ') return 0.55F;
  if (narrow.find(c) != std::u32string::npos) return 0.6F;
  if (wide.find(c) != std::u32string::npos) return 1.5F;
  return c >= U'A' && c <= U'Z' ? 1.25F : 1.0F;
}

float usual_width(const std::u32string& text) {
  float total = 0;
  for (char32_t c : text) total += usual_width(c);
  return total;
}

float overlap(float a0, float a1, float b0, float b1) {
  return std::min(a1, b1) - std::max(a0, b0);
}

// Lines from boxes alone: a word joins the line whose last word it stands right of at its height.
void find_lines(std::vector<Word>& words) {
  std::vector<size_t> order(words.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return words[a].box.x0 < words[b].box.x0; });
  struct Line {
    size_t last;
    float top;
  };
  std::vector<Line> lines;
  for (size_t i : order) {
    Word& word = words[i];
    int best = -1;
    float nearest = 1e9F;
    for (size_t l = 0; l < lines.size(); ++l) {
      const Box& last = words[lines[l].last].box;
      const float shared = overlap(last.y0, last.y1, word.box.y0, word.box.y1);
      const float gap = word.box.x0 - last.x1;
      if (shared < 0.5F * std::min(last.height(), word.box.height()) ||
          gap < -0.5F * word.box.height())
        continue;
      if (gap < nearest) nearest = gap, best = static_cast<int>(l);
    }
    if (best < 0) {
      best = static_cast<int>(lines.size());
      lines.push_back({i, word.box.y0});
    }
    lines[static_cast<size_t>(best)].last = i;
    word.line = best;
  }
  std::vector<int> rank(lines.size());
  std::iota(rank.begin(), rank.end(), 0);
  std::stable_sort(rank.begin(), rank.end(), [&](int a, int b) {
    return lines[static_cast<size_t>(a)].top < lines[static_cast<size_t>(b)].top;
  });
  std::vector<int> number(lines.size());
  for (size_t k = 0; k < rank.size(); ++k)
    number[static_cast<size_t>(rank[k])] = static_cast<int>(k);
  for (Word& word : words) word.line = number[static_cast<size_t>(word.line)];
}

float share_inside(const std::vector<Box>& boxes, const std::vector<Box>& of) {
  float inside = 0, total = 0;
  for (const Box& box : boxes) {
    float best = 0;
    for (const Box& other : of) best = std::max(best, intersect(box, other).area());
    inside += best;
    total += box.area();
  }
  return total > 0 ? inside / total : 0;
}

}  // namespace

std::u32string code_points(std::string_view s) {
  std::u32string out;
  out.reserve(s.size());
  for (size_t at = 0; at < s.size();) out.push_back(plain(text::next_code_point(s, at)));
  return out;
}

float median(std::vector<float> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

std::string lower(std::string_view text) {
  std::string out;
  for (char32_t c : code_points(text)) text::append_utf8(out, lower(c));
  return out;
}

std::string letters(std::string_view text) {
  std::string out;
  for (char32_t c : code_points(text)) {
    c = lower(c);
    if ((c >= U'a' && c <= U'z') || (c >= U'0' && c <= U'9') || c >= 0xC0)
      text::append_utf8(out, c);
  }
  return out;
}

float digit_share(std::string_view text) {
  const std::string plain = letters(text);
  if (plain.empty()) return 0;
  const auto digits =
      std::count_if(plain.begin(), plain.end(), [](char c) { return c >= '0' && c <= '9'; });
  return static_cast<float>(digits) / static_cast<float>(plain.size());
}

std::vector<Word> words_of_lines(const std::vector<Word>& lines) {
  std::vector<Word> out;
  for (size_t l = 0; l < lines.size(); ++l) {
    const std::u32string text = code_points(lines[l].text);
    const float total = usual_width(text);
    if (total <= 0) continue;
    const Box& box = lines[l].box;
    const float unit = box.width() / total;
    float x = box.x0;
    Word word;
    const auto finish = [&](float end) {
      if (word.text.empty()) return;
      word.box.x1 = end;
      out.push_back(std::move(word));
      word = Word();
    };
    for (char32_t c : text) {
      const float wide = usual_width(c) * unit;
      if (c <= 32) {
        finish(x);
      } else {
        if (word.text.empty()) word = {{x, box.y0, x, box.y1}, "", kSpread, {}, -1};
        text::append_utf8(word.text, c);
        word.centres.push_back(x + wide / 2);
      }
      x += wide;
    }
    finish(box.x1);
  }
  return out;
}

void spread(Word& word) {
  const std::u32string text = code_points(word.text);
  const float total = usual_width(text);
  float x = word.box.x0;
  word.centres.clear();
  for (char32_t c : text) {
    const float wide = usual_width(c) * word.box.width() / std::max(total, 0.1F);
    word.centres.push_back(x + wide / 2);
    x += wide;
  }
}

void arrange(std::vector<Word>& words) {
  std::erase_if(words, [](const Word& w) { return w.text.empty() || w.box.area() <= 0; });
  for (Word& word : words) {
    const std::u32string text = code_points(word.text);
    word.text.clear();
    for (char32_t c : text) text::append_utf8(word.text, c);
  }
  // Words that lie on each other were misread.
  for (size_t i = 0; i < words.size(); ++i)
    for (size_t k = i + 1; k < words.size(); ++k) {
      const float shared = intersect(words[i].box, words[k].box).area();
      if (shared > 0.3F * std::min(words[i].box.area(), words[k].box.area()))
        words[i].confidence = words[k].confidence =
            std::min(30.0F, std::min(words[i].confidence, words[k].confidence));
    }
  const bool known =
      std::all_of(words.begin(), words.end(), [](const Word& w) { return w.line >= 0; });
  if (!known) find_lines(words);
  std::stable_sort(words.begin(), words.end(), [](const Word& a, const Word& b) {
    return a.line != b.line ? a.line < b.line : a.box.x0 < b.box.x0;
  });
}

void tighten(std::vector<Word>& words) {
  // Within a line: how much taller are words that reach below it?
  std::vector<float> ratios;
  for (size_t first = 0; first < words.size();) {
    size_t last = first;
    float deep = 0, plain = 0;
    int deeps = 0, plains = 0;
    for (; last < words.size() && words[last].line == words[first].line; ++last) {
      const std::u32string text = code_points(words[last].text);
      const auto [top, bottom] = ink_of(text, {0, 1});
      if (top < 0.7F || text.size() < 2) continue;
      if (bottom <= -0.2F) deep += words[last].box.height(), ++deeps;
      if (bottom == 0) plain += words[last].box.height(), ++plains;
    }
    if (deeps > 0 && plains > 0)
      ratios.push_back(deep / static_cast<float>(deeps) / (plain / static_cast<float>(plains)));
    first = last;
  }
  if (ratios.size() < 3 || median(ratios) > 1.1F) return;
  constexpr float kTop = 0.75F, kBottom = -0.05F;
  for (Word& word : words) {
    const float em = word.box.height() / (kTop - kBottom), baseline = word.box.y1 + kBottom * em;
    const auto [top, bottom] = ink_of(code_points(word.text));
    word.box.y0 = baseline - top * em;
    word.box.y1 = baseline - bottom * em;
  }
}

std::vector<Run> runs_of(const std::vector<Word>& words, std::string_view text) {
  const std::string wanted = letters(text);
  std::vector<Run> out;
  if (wanted.empty()) return out;
  std::vector<std::string> plain;
  plain.reserve(words.size());
  for (const Word& word : words) plain.push_back(letters(word.text));
  for (size_t i = 0; i < words.size(); ++i) {
    if (plain[i].empty()) continue;
    size_t matched = 0;
    for (size_t k = i; k < words.size() && k < i + 40; ++k) {
      if (wanted.compare(matched, plain[k].size(), plain[k]) != 0 ||
          matched + plain[k].size() > wanted.size())
        break;
      matched += plain[k].size();
      if (matched == wanted.size()) {
        out.push_back({i, k});
        break;
      }
    }
  }
  return out;
}

Box hull(const Box& a, const Box& b) {
  return {std::min(a.x0, b.x0), std::min(a.y0, b.y0), std::max(a.x1, b.x1), std::max(a.y1, b.y1)};
}

std::vector<Box> boxes_of(const std::vector<Word>& words, const Run& run) {
  std::vector<Box> out;
  for (size_t i = run.first; i <= run.last; ++i) {
    if (i > run.first && words[i].line == words[i - 1].line)
      out.back() = hull(out.back(), words[i].box);
    else
      out.push_back(words[i].box);
  }
  return out;
}

void place_answer(const std::vector<Word>& words, Item& item) {
  if (words.empty() || item.answers.empty()) return;
  std::vector<std::string> answers = item.answers;
  std::stable_sort(answers.begin(), answers.end(), [&](const auto& a, const auto& b) {
    const bool main_a = a == item.answer, main_b = b == item.answer;
    return main_a != main_b ? main_a : a.size() < b.size();
  });
  std::vector<std::vector<Box>> places;
  std::string found;
  for (const std::string& answer : answers) {
    // A single letter or digit stands anywhere.
    if (letters(answer).size() < 2 && item.boxes.empty()) continue;
    for (const Run& run : runs_of(words, answer)) places.push_back(boxes_of(words, run));
    if (places.empty()) continue;
    found = answer;
    break;
  }
  if (!item.boxes.empty())
    std::erase_if(places,
                  [&](const auto& boxes) { return share_inside(boxes, item.boxes) < 0.6F; });
  if (places.empty()) return;
  item.answer = found;
  if (places.size() == 1) {
    item.boxes = places.front();
    item.box_from = "words";
  } else if (item.boxes.empty()) {
    for (const auto& boxes : places)
      item.boxes.insert(item.boxes.end(), boxes.begin(), boxes.end());
    item.box_from = "several";
  }
}

float em_of(const Word& word) { return extent_of(word, code_points(word.text)).em; }

std::vector<scenes::Glyph> glyphs_of(const Word& word) {
  const std::u32string text = code_points(word.text);
  std::vector<scenes::Glyph> out;
  if (word.centres.size() != text.size()) return out;
  const Extent extent = extent_of(word, text);
  for (size_t i = 0; i < text.size(); ++i) {
    const Ink ink = ink_of(text[i]);
    out.push_back({text[i], word.centres[i],
                   extent.baseline - 0.5F * (ink.top + ink.bottom) * extent.em, extent.em});
  }
  return out;
}

}  // namespace arrcoc::training::real
