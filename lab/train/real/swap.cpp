#include "lab/train/real/swap.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "lab/train/real/words.h"

namespace arrcoc::training::real {
namespace {

constexpr float kSwapped = 0.75F;                 // of the answers' words
constexpr float kTaller = 1.18F, kWider = 1.35F;  // at most, of the other
constexpr float kLowest = 5;                      // pixels

struct Area {
  int x0, y0, x1, y1;
};

Area area_of(const Box& box, const Pixels& pixels) {
  return {std::max(0, static_cast<int>(std::floor(box.x0)) - 1),
          std::max(0, static_cast<int>(std::floor(box.y0)) - 1),
          std::min(pixels.width, static_cast<int>(std::ceil(box.x1)) + 1),
          std::min(pixels.height, static_cast<int>(std::ceil(box.y1)) + 1)};
}

Pixels cut(const Pixels& from, const Area& a) {
  Pixels out{a.x1 - a.x0, a.y1 - a.y0, from.channels, {}};
  for (int y = a.y0; y < a.y1; ++y) {
    const uint8_t* row = &from.bytes[(static_cast<size_t>(y) * from.width + a.x0) * from.channels];
    out.bytes.insert(out.bytes.end(), row, row + static_cast<size_t>(out.width) * out.channels);
  }
  return out;
}

// Linear interpolation: sizes differ little.
void paste(Pixels& to, const Area& a, const Pixels& from) {
  const int width = a.x1 - a.x0, height = a.y1 - a.y0, channels = to.channels;
  const auto place = [](int i, int count, int old, float& part) {
    const float at = std::clamp(
        (static_cast<float>(i) + 0.5F) * static_cast<float>(old) / static_cast<float>(count) - 0.5F,
        0.0F, static_cast<float>(old - 1));
    const int first = std::min(static_cast<int>(at), std::max(0, old - 2));
    part = at - static_cast<float>(first);
    return first;
  };
  for (int y = 0; y < height; ++y) {
    float down = 0;
    const int r = place(y, height, from.height, down), below = std::min(r + 1, from.height - 1);
    for (int x = 0; x < width; ++x) {
      float right = 0;
      const int c = place(x, width, from.width, right), next = std::min(c + 1, from.width - 1);
      for (int k = 0; k < channels; ++k) {
        const auto at = [&](int row, int col) {
          return static_cast<float>(
              from.bytes[(static_cast<size_t>(row) * from.width + col) * channels + k]);
        };
        const float above = at(r, c) * (1 - right) + at(r, next) * right;
        const float under = at(below, c) * (1 - right) + at(below, next) * right;
        to.bytes[(static_cast<size_t>(a.y0 + y) * to.width + a.x0 + x) * channels + k] =
            static_cast<uint8_t>(std::lround(above * (1 - down) + under * down));
      }
    }
  }
}

// What a word is, as far as an answer's kind goes: figures, Names or words.
int kind_of(const Word& word) {
  if (digit_share(word.text) > 0.4F) return 2;
  return !word.text.empty() && word.text[0] >= 'A' && word.text[0] <= 'Z' ? 1 : 0;
}

bool alike(const Word& a, const Word& b) {
  const auto near = [](float p, float q, float most) { return p < q * most && q < p * most; };
  return kind_of(a) == kind_of(b) && near(a.box.height(), b.box.height(), kTaller) &&
         near(a.box.width(), b.box.width(), kWider) && letters(a.text) != letters(b.text);
}

// The texts change places, the boxes stay.
void exchange(Word& a, Word& b) {
  const auto moved = [](const Word& word, const Box& to) {
    std::vector<float> out;
    for (float x : word.centres)
      out.push_back(to.x0 + (x - word.box.x0) * to.width() / std::max(1.0F, word.box.width()));
    return out;
  };
  std::vector<float> of_a = moved(b, a.box), of_b = moved(a, b.box);
  std::swap(a.text, b.text);
  std::swap(a.confidence, b.confidence);
  a.centres = std::move(of_a);
  b.centres = std::move(of_b);
}

std::string answer_of(const std::vector<Word>& words, const Run& run) {
  std::string text;
  for (size_t i = run.first; i <= run.last; ++i) text += (i > run.first ? " " : "") + words[i].text;
  text = lower(text);
  constexpr const char* kEdge = " .,:;*-_|'\"";
  const size_t first = text.find_first_not_of(kEdge);
  return first == std::string::npos ? ""
                                    : text.substr(first, text.find_last_not_of(kEdge) - first + 1);
}

void add_words(const std::string& text, std::set<std::string>& out) {
  std::string word;
  for (char c : text + " ") {
    if (c == ' ' || c == '?' || c == '"' || c == '/' || c == '-') {
      if (const std::string plain = letters(word); plain.size() >= 2) out.insert(plain);
      word.clear();
    } else {
      word += c;
    }
  }
}

enum class Place : uint8_t { free, answer, stays };

// One page on which words change places.
class Swap {
 public:
  explicit Swap(Entry& entry)
      : entry_(entry), places_(entry.words.size(), Place::free), runs_(entry.items.size(), {1, 0}) {
    std::set<std::string> asked;
    for (const Item& item : entry.items) add_words(item.question, asked);
    for (size_t i = 0; i < entry.words.size(); ++i) {
      const Word& word = entry.words[i];
      const std::string plain = letters(word.text);
      if (word.confidence < kSure || plain.size() < 2 || asked.count(plain) ||
          word.box.height() < kLowest)
        places_[i] = Place::stays;
    }
    for (size_t k = 0; k < entry.items.size(); ++k) find_answer(k);
  }

  bool may_go(size_t i) const { return places_[i] == Place::answer; }

  void go(size_t i, Pixels& pixels, Dice& dice) {
    std::vector<Word>& words = entry_.words;
    std::vector<size_t> others;
    for (size_t j = 0; j < words.size(); ++j)
      if (places_[j] == Place::free && alike(words[i], words[j])) others.push_back(j);
    if (others.empty()) return;
    const size_t j = others[static_cast<size_t>(dice.below(static_cast<int>(others.size())))];
    const Area a = area_of(words[i].box, pixels), b = area_of(words[j].box, pixels);
    if (a.x1 <= a.x0 || a.y1 <= a.y0 || b.x1 <= b.x0 || b.y1 <= b.y0) return;
    const Pixels of_a = cut(pixels, a), of_b = cut(pixels, b);
    paste(pixels, a, of_b);
    paste(pixels, b, of_a);
    exchange(words[i], words[j]);
    for (const size_t k : {i, j}) {
      places_[k] = Place::stays;
      touched_.push_back(words[k].box);
    }
  }

  // Answers become what stands at their places; false: nothing went anywhere.
  bool finish() {
    if (touched_.empty()) return false;
    std::vector<Item> items;
    for (size_t k = 0; k < entry_.items.size(); ++k) {
      Item& item = entry_.items[k];
      if (runs_[k].first <= runs_[k].last) {
        item.answer = answer_of(entry_.words, runs_[k]);
        item.answers = {item.answer};
      } else if (item.boxes.empty() || touches(item.boxes)) {
        continue;
      }
      if (!item.answer.empty()) items.push_back(std::move(item));
    }
    entry_.items = std::move(items);
    return true;
  }

 private:
  void find_answer(size_t k) {
    const std::vector<Run> found = runs_of(entry_.words, entry_.items[k].answer);
    const bool known = entry_.items[k].box_from == "words" && found.size() == 1;
    if (known) runs_[k] = found.front();
    for (const Run& run : found)
      for (size_t i = run.first; i <= run.last; ++i)
        if (places_[i] != Place::stays) places_[i] = known ? Place::answer : Place::stays;
  }

  bool touches(const std::vector<Box>& boxes) const {
    return std::any_of(boxes.begin(), boxes.end(), [&](const Box& box) {
      return std::any_of(touched_.begin(), touched_.end(),
                         [&](const Box& t) { return intersect(box, t).area() > 0; });
    });
  }

  Entry& entry_;
  std::vector<Place> places_;
  std::vector<Run> runs_;     // of the items' answers; none where first > last
  std::vector<Box> touched_;  // places whose word is another now
};

}  // namespace

bool swap_words(Entry& entry, Pixels& pixels, Dice& dice) {
  Swap swap(entry);
  for (size_t i = 0; i < entry.words.size(); ++i)
    if (swap.may_go(i) && dice.chance(kSwapped)) swap.go(i, pixels, dice);
  return swap.finish();
}

}  // namespace arrcoc::training::real
