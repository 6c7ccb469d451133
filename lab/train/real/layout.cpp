#include "lab/train/real/layout.h"

#include <algorithm>

namespace arrcoc::training::real {
namespace {

constexpr float kRead = 40;  // confidence of words that are asked about

float shared_height(const Box& a, const Box& b) {
  return std::min(a.y1, b.y1) - std::max(a.y0, b.y0);
}
float shared_width(const Box& a, const Box& b) {
  return std::min(a.x1, b.x1) - std::max(a.x0, b.x0);
}
bool beside(const Box& a, const Box& b) {
  return shared_height(a, b) >= 0.5F * std::min(a.height(), b.height());
}

}  // namespace

Layout::Layout(const std::vector<Word>& words) : words_(words) {
  std::vector<float> ems;
  for (size_t i = 0; i < words.size(); ++i) {
    const Word& word = words[i];
    const float em = em_of(word);
    ems.push_back(em);
    const bool joined = i > 0 && word.line == words[i - 1].line &&
                        word.box.x0 - words[i - 1].box.x1 <
                            1.1F * std::max(word.box.height(), words[i - 1].box.height());
    if (!joined) {
      segments_.push_back({i, i, word.box, word.text, em, word.confidence >= kRead});
    } else {
      Segment& s = segments_.back();
      s.last = i;
      s.box = hull(s.box, word.box);
      s.text += " " + word.text;
      s.em = std::max(s.em, em);
      s.sure = s.sure && word.confidence >= kRead;
    }
    text_ += " " + lower(word.text);
  }
  text_ += " ";
  em_ = median(std::move(ems));
}

std::string Layout::joined(size_t first, size_t last) const {
  std::string out;
  for (size_t i = first; i <= last; ++i) out += (i > first ? " " : "") + words_[i].text;
  return out;
}

Box Layout::around(size_t first, size_t last) const {
  Box box = words_[first].box;
  for (size_t i = first + 1; i <= last; ++i) box = hull(box, words_[i].box);
  return box;
}

bool Layout::sure(size_t first, size_t last) const {
  for (size_t i = first; i <= last; ++i)
    if (words_[i].confidence < kRead) return false;
  return true;
}

bool Layout::once(const std::string& text) const {
  const size_t at = text_.find(text);
  return at != std::string::npos && text_.find(text, at + 1) == std::string::npos;
}

const Segment* Layout::right_of(const Segment& s) const {
  const Segment* best = nullptr;
  for (const Segment& other : segments_)
    if (&other != &s && other.box.x0 >= s.box.x1 - 2 && beside(s.box, other.box) &&
        (!best || other.box.x0 < best->box.x0))
      best = &other;
  return best;
}

const Segment* Layout::below(const Segment& s) const {
  const Segment* best = nullptr;
  for (const Segment& other : segments_) {
    const float top = other.box.y0;
    if (top < s.box.y1 - 0.3F * s.em || top < s.box.y0 + 0.5F * s.em ||
        top - s.box.y1 > 2.5F * s.em || shared_width(s.box, other.box) <= 0)
      continue;
    if (!best || top < best->box.y0) best = &other;
  }
  return best;
}

const Segment* Layout::row_label(const Segment& s) const {
  const Segment* best = nullptr;
  for (const Segment& other : segments_)
    if (&other != &s && other.box.x1 <= s.box.x0 + 2 && beside(s.box, other.box) &&
        digit_share(other.text) < 0.4F && (!best || other.box.x0 > best->box.x0))
      best = &other;
  return best;
}

const Segment* Layout::heading(const Segment& s, float longest_way, float widest) const {
  const Segment* best = nullptr;
  for (const Segment& other : segments_) {
    if (other.box.y1 > s.box.y0 + 2 || s.box.y0 - other.box.y1 > longest_way ||
        shared_width(s.box, other.box) < 0.5F * std::min(s.box.width(), other.box.width()) ||
        other.box.width() > widest)
      continue;
    const std::string plain = letters(other.text);
    const bool year = plain.size() == 4 && (plain.rfind("19", 0) == 0 || plain.rfind("20", 0) == 0);
    if ((digit_share(other.text) < 0.4F || year) && plain.size() >= 2 &&
        (!best || other.box.y0 > best->box.y0))
      best = &other;
  }
  return best;
}

}  // namespace arrcoc::training::real
