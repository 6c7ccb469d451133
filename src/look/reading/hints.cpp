// Words of the question about place and size, and rows that only look like the answer.
#include <algorithm>
#include <cmath>

#include "base/words.h"
#include "look/reading/score.h"

namespace arrcoc::reading {
namespace {

// data/words/hints.txt
struct Tables {
  WordFile file = word_file("hints");
  WordSet top = file.set("top"), bottom = file.set("bottom");
  WordSet left = file.set("left"), right = file.set("right"), extreme = file.set("extreme");
  WordSet first = file.set("first"), last = file.set("last");
  WordSet largest = file.set("largest"), smallest = file.set("smallest");
  WordSet total = file.set("total"), look_alikes = file.set("look-alikes");
};

const Tables& tables() { return read_once<Tables>(); }

// Where the question says that the answer stands: +1 wants large coordinates, -1 small ones.
struct Direction {
  int x = 0;
  int y = 0;
  bool extreme = false;  // "rightmost": the very last, not just that side
};

Direction direction_of(const Query& query) {
  const Tables& t = tables();
  Direction d;
  if (has_any(query.words, t.top)) d.y = -1;
  if (has_any(query.words, t.bottom)) d.y = 1;
  if (has_any(query.words, t.left)) d.x = -1;
  if (has_any(query.words, t.right)) d.x = 1;
  d.extreme = has_any(query.words, t.extreme);
  if (d.x == 0 && d.y == 0 && has_any(query.words, t.first)) d.y = -1;
  if (d.x == 0 && d.y == 0 && has_any(query.words, t.last)) d.y = 1;
  return d;
}

// 1 at the wanted edge, falling to `least` at the other one.
float towards(int wanted, float position, float least) {
  if (wanted == 0) return 1;
  const float near = wanted > 0 ? position : 1 - position;
  return least + (1 - least) * near;
}

void apply_direction(const Page& page, const Query& query, std::vector<float>& factor) {
  const Direction d = direction_of(query);
  if (d.x == 0 && d.y == 0) return;
  const float least = d.extreme ? 0.15F : 0.35F;
  const float width = std::max(1.0F, page.bounds.width());
  const float height = std::max(1.0F, page.bounds.height());
  for (size_t w = 0; w < page.words.size(); ++w) {
    const Box& box = page.words[w].box;
    const float x = (0.5F * (box.x0 + box.x1) - page.bounds.x0) / width;
    const float y = (0.5F * (box.y0 + box.y1) - page.bounds.y0) / height;
    factor[w] *= towards(d.x, x, least) * towards(d.y, y, least);
  }
}

// +1 for the largest value, -1 for the smallest, 0 when the question does not ask for either.
int superlative_of(const Query& query) {
  if (has_any(query.words, tables().largest)) return 1;
  return has_any(query.words, tables().smallest) ? -1 : 0;
}

bool stands_alone(const Page& page, const Token& word) {
  return page.phrases[word.phrase].words.size() <= 3;
}

// Values that stand alone (labels of bars, cells of tables), from the wanted end of the scale on.
void apply_superlative(const Page& page, const Query& query, std::vector<float>& factor) {
  const int wanted = superlative_of(query);
  if (wanted == 0) return;
  std::vector<double> values;
  for (const Token& word : page.words) {
    if (word.shape.has_value && word.shape.year == 0 && stands_alone(page, word))
      values.push_back(word.shape.value);
  }
  if (values.size() < 2) return;
  std::sort(values.begin(), values.end());
  const bool label = !is_numeric(query.answer);
  std::vector<float> labelled(page.phrases.size(), 0);
  for (size_t w = 0; w < page.words.size(); ++w) {
    const Token& word = page.words[w];
    if (!word.shape.has_value || word.shape.year > 0) continue;
    const auto below = static_cast<double>(
        std::lower_bound(values.begin(), values.end(), word.shape.value) - values.begin());
    const auto above = static_cast<double>(
        values.end() - std::upper_bound(values.begin(), values.end(), word.shape.value));
    const double rank = wanted > 0 ? above : below;
    const auto fits = static_cast<float>(std::exp(-rank / 4.0));
    factor[w] *= 0.25F + 0.75F * fits;
    if (!label || fits < 0.2F || !stands_alone(page, word)) continue;
    // "Which one has the most": the label of the value, left of it or above or below.
    for (size_t p = 0; p < page.phrases.size(); ++p) {
      const float labels =
          across(page.phrases[p].box, word.box, page.height, std::max(1.0F, page.bounds.width()));
      labelled[p] = std::max(labelled[p], fits * labels);
    }
  }
  if (!label) return;
  for (size_t w = 0; w < page.words.size(); ++w)
    factor[w] *= 0.6F + 0.9F * labelled[page.words[w].phrase];
}

// Amounts on these rows are not the total, though they may be as large.
bool is_look_alike(const std::string& word) {
  const WordSet& known = tables().look_alikes;
  return known.contains(word) ||
         (word.size() >= 5 && std::any_of(known.begin(), known.end(), [&](std::string_view other) {
            return similarity(other, word) >= 0.8F;
          }));
}

void avoid_look_alikes(const Page& page, const Query& query, std::vector<float>& factor) {
  if (query.answer != AnswerKind::money || !has_any(query.words, tables().total)) return;
  std::vector<int> alike;
  for (size_t w = 0; w < page.words.size(); ++w) {
    const auto& parts = page.words[w].parts;
    const bool named = std::any_of(parts.begin(), parts.end(), [&](const std::string& part) {
      return is_look_alike(part) &&
             std::find(query.words.begin(), query.words.end(), part) == query.words.end();
    });
    if (named) alike.push_back(static_cast<int>(w));
  }
  for (size_t w = 0; w < page.words.size(); ++w) {
    const Token& word = page.words[w];
    if (word.shape.digits == 0) continue;
    const bool beside = std::any_of(alike.begin(), alike.end(), [&](int a) {
      const Box& label = page.words[a].box;
      const float off = std::fabs(label.y0 + label.y1 - word.box.y0 - word.box.y1) * 0.5F;
      return label.x0 < word.box.x0 && off < 0.5F * std::max(label.height(), word.box.height());
    });
    if (beside) factor[w] *= 0.55F;
  }
}

}  // namespace

std::vector<float> hints(const Page& page, const Query& query) {
  std::vector<float> factor(page.words.size(), 1.0F);
  apply_direction(page, query, factor);
  apply_superlative(page, query, factor);
  avoid_look_alikes(page, query, factor);
  return factor;
}

}  // namespace arrcoc::reading
