// Which words look like an answer of the wanted kind.
#include <algorithm>
#include <cmath>

#include "base/words.h"
#include "look/reading/score.h"

namespace arrcoc::reading {
namespace {

// data/words/answers.txt
struct Tables {
  WordFile file = word_file("answers");
  WordSet company = file.set("company"), title = file.set("title"), titled = file.set("titled");
  WordSet year = file.set("year"), not_a_noun = file.set("not a noun"), name = file.set("name");
};

const Tables& tables() { return read_once<Tables>(); }

struct PhraseShape {
  float letters = 0;  // share of letters among letters and digits
  float capital = 0;  // mean over words with letters
  bool company = false;
  bool street = false;
  bool person = false;
  float size = 1;  // type size relative to the page's
  float top = 0;   // 1 at the top of the page .. 0 at the bottom
  int words = 0;   // with two letters or more
  int rank = 0;    // from the top, among phrases with letters
};

std::vector<PhraseShape> phrase_shapes(const Page& page) {
  std::vector<PhraseShape> out(page.phrases.size());
  const float height = std::max(1.0F, page.bounds.height());
  std::vector<int> order;
  for (size_t p = 0; p < page.phrases.size(); ++p) {
    const Phrase& phrase = page.phrases[p];
    PhraseShape& shape = out[p];
    int letters = 0;
    int digits = 0;
    for (const int w : phrase.words) {
      const WordShape& word = page.words[w].shape;
      letters += word.letters;
      digits += word.digits;
      if (word.letters >= 2) {
        ++shape.words;
        shape.capital += word.capital;
      }
      shape.company = shape.company || word.company;
      shape.street = shape.street || word.street;
      shape.person = shape.person || word.person;
    }
    if (shape.words > 0) shape.capital /= static_cast<float>(shape.words);
    shape.letters = letters + digits > 0
                        ? static_cast<float>(letters) / static_cast<float>(letters + digits)
                        : 0;
    shape.size = phrase.height / page.height;
    shape.top = 1 - (0.5F * (phrase.box.y0 + phrase.box.y1) - page.bounds.y0) / height;
    if (letters >= 3) order.push_back(static_cast<int>(p));
  }
  std::sort(order.begin(), order.end(), [&](int a, int b) {
    return std::pair(page.phrases[a].box.y0, a) < std::pair(page.phrases[b].box.y0, b);
  });
  for (auto& shape : out) shape.rank = static_cast<int>(order.size());
  for (size_t i = 0; i < order.size(); ++i) out[order[i]].rank = static_cast<int>(i);
  return out;
}

// Per phrase: the share of its words that the question itself uses.
std::vector<float> share_asked(const Page& page, const Found& found) {
  std::vector<float> out(page.phrases.size(), 0);
  for (size_t p = 0; p < page.phrases.size(); ++p) {
    for (const int w : page.phrases[p].words) out[p] += found.matched[w];
    out[p] = std::min(1.0F, out[p] / static_cast<float>(page.phrases[p].words.size()));
  }
  return out;
}

float numeric_prior(const WordShape& shape, const Query& query) {
  switch (query.answer) {
    case AnswerKind::money:
      return std::max({shape.money, 0.35F * shape.number, 0.15F * shape.code});
    case AnswerKind::date: {
      if (has_any(query.words, tables().year))
        return std::max({shape.year, 0.6F * shape.date, 0.25F * shape.number});
      return std::max({shape.date, 0.5F * shape.year, 0.2F * shape.time, 0.2F * shape.code});
    }
    case AnswerKind::time:
      return std::max({shape.time, 0.3F * shape.date, 0.2F * shape.number});
    case AnswerKind::percent: {
      const float odd = shape.year > 0 ? 0.25F : 1.0F;
      return odd *
             std::max(shape.percent > 0.9F ? 1.0F : 1.3F * shape.percent, 0.5F * shape.number);
    }
    case AnswerKind::number:
      return (shape.year > 0 ? 0.5F : 1.0F) *
             std::max({shape.number, shape.code, 0.8F * shape.phone, 0.6F * shape.money});
    case AnswerKind::phone:
      return std::max({shape.phone, 0.5F * shape.code, 0.2F * shape.number});
    default:
      return 0;
  }
}

// A company heads its paper: upper-case words at the top, often with a legal form behind.
float company_prior(const PhraseShape& shape) {
  float value = 0.06F + 0.5F * std::exp(-static_cast<float>(shape.rank) / 4.0F);
  if (shape.company && shape.words >= 2) value += 0.35F * (0.3F + 0.7F * shape.top);
  value += 0.15F * std::clamp(shape.size - 1, 0.0F, 1.0F) * shape.top;
  value *= 0.4F + 0.6F * shape.capital;
  if (shape.street) value *= 0.6F;
  return value * (0.3F + 0.7F * shape.letters);
}

float person_prior(const PhraseShape& shape) {
  float value = shape.person ? 0.9F : 0.45F;
  if (shape.words < 1 || shape.words > 7) value *= 0.5F;
  return value * (0.35F + 0.65F * shape.capital) * (0.3F + 0.7F * shape.letters);
}

// Labels and values have a few words; sentences are rarely answers.
float brief(const PhraseShape& shape) {
  return shape.words <= 5 ? 1.0F : shape.words <= 8 ? 0.7F : 0.4F;
}

float place_prior(const PhraseShape& shape) {
  const float value = shape.street ? 0.9F : 0.5F * brief(shape);
  return value * (0.4F + 0.6F * shape.capital) * (0.5F + 0.5F * shape.letters);
}

// Titles are large and near the top.
float title_prior(const PhraseShape& shape) {
  const float value = 0.15F + 0.45F * std::clamp(shape.size - 0.8F, 0.0F, 1.0F) + 0.35F * shape.top;
  return value * (0.4F + 0.6F * shape.letters) * (shape.words >= 2 ? 1.0F : 0.6F);
}

float text_prior(const PhraseShape& shape) {
  return brief(shape) * (0.35F + 0.35F * shape.letters) * (0.8F + 0.2F * shape.capital);
}

bool wants_title(const Query& query) {
  const Tables& t = tables();
  return has_any(query.words, t.title) ||
         (has_any(query.words, t.name) && has_any(query.words, t.titled));
}

float phrase_prior(const PhraseShape& shape, const Query& query) {
  if (has_any(query.words, tables().company)) return company_prior(shape);
  if (wants_title(query)) return title_prior(shape);
  if (query.answer == AnswerKind::name) return person_prior(shape);
  if (query.answer == AnswerKind::place) return place_prior(shape);
  return text_prior(shape);
}

}  // namespace

bool is_numeric(AnswerKind kind) {
  return kind == AnswerKind::money || kind == AnswerKind::date || kind == AnswerKind::time ||
         kind == AnswerKind::percent || kind == AnswerKind::number || kind == AnswerKind::phone;
}

bool is_choice(const Query& query) {
  for (size_t i = 0; i + 1 < query.words.size(); ++i) {
    if (query.words[i] == "which") return true;
    if (query.words[i] == "what") return !tables().not_a_noun.contains(query.words[i + 1]);
  }
  return false;
}

std::vector<float> kind_prior(const Page& page, const Found& found, const Query& query) {
  std::vector<float> out(page.words.size(), 0);
  const std::vector<float> repeats = share_asked(page, found);
  const bool choice = is_choice(query);
  const std::vector<PhraseShape> phrases = phrase_shapes(page);
  const bool numeric = is_numeric(query.answer);
  for (size_t w = 0; w < page.words.size(); ++w) {
    const Token& word = page.words[w];
    if (numeric) {
      // Misread or handwritten values still deserve something.
      out[w] = std::max(numeric_prior(word.shape, query), 0.1F);
      const bool value = query.answer == AnswerKind::percent || query.answer == AnswerKind::number;
      if (value && phrases[word.phrase].words >= 5) out[w] *= 0.35F;  // a number in a sentence
    } else {
      out[w] = phrase_prior(phrases[word.phrase], query);
      if (choice) out[w] *= 1 - 0.7F * repeats[word.phrase];
    }
    out[w] = std::min(1.0F, out[w]);
  }
  return out;
}

}  // namespace arrcoc::reading
