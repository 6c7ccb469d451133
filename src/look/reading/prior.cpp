// Which words look like an answer of the wanted kind.
#include <algorithm>
#include <cmath>
#include <initializer_list>

#include "look/reading/score.h"

namespace arrcoc::reading {
namespace {

bool asks(const Query& query, std::initializer_list<const char*> words) {
  return std::any_of(query.words.begin(), query.words.end(), [&](const std::string& word) {
    return std::any_of(words.begin(), words.end(), [&](const char* w) { return word == w; });
  });
}

struct PhraseLook {
  float letters = 0;  // share of letters among letters and digits
  float capital = 0;  // mean over words with letters
  bool legal = false;
  bool street = false;
  bool person = false;
  float size = 1;  // type size relative to the page's
  float top = 0;   // 1 at the top of the page .. 0 at the bottom
  int words = 0;   // with two letters or more
  int rank = 0;    // from the top, among phrases with letters
};

std::vector<PhraseLook> look_at_phrases(const Page& page) {
  std::vector<PhraseLook> out(page.phrases.size());
  const float height = std::max(1.0F, page.bounds.height());
  std::vector<int> order;
  for (size_t p = 0; p < page.phrases.size(); ++p) {
    const Phrase& phrase = page.phrases[p];
    PhraseLook& look = out[p];
    int letters = 0;
    int digits = 0;
    for (const int w : phrase.words) {
      const Look& word = page.words[w].look;
      letters += word.letters;
      digits += word.digits;
      if (word.letters >= 2) {
        ++look.words;
        look.capital += word.capital;
      }
      look.legal = look.legal || word.legal;
      look.street = look.street || word.street;
      look.person = look.person || word.person;
    }
    if (look.words > 0) look.capital /= static_cast<float>(look.words);
    look.letters = letters + digits > 0
                       ? static_cast<float>(letters) / static_cast<float>(letters + digits)
                       : 0;
    look.size = phrase.height / page.height;
    look.top = 1 - (0.5F * (phrase.box.y0 + phrase.box.y1) - page.bounds.y0) / height;
    if (letters >= 3) order.push_back(static_cast<int>(p));
  }
  std::sort(order.begin(), order.end(), [&](int a, int b) {
    return std::pair(page.phrases[a].box.y0, a) < std::pair(page.phrases[b].box.y0, b);
  });
  for (auto& look : out) look.rank = static_cast<int>(order.size());
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

float numeric_prior(const Look& look, const Query& query) {
  switch (query.answer) {
    case AnswerKind::money:
      return std::max({look.money, 0.35F * look.number, 0.15F * look.code});
    case AnswerKind::date: {
      if (asks(query, {"year"}))
        return std::max({look.year, 0.6F * look.date, 0.25F * look.number});
      return std::max({look.date, 0.5F * look.year, 0.2F * look.time, 0.2F * look.code});
    }
    case AnswerKind::time:
      return std::max({look.time, 0.3F * look.date, 0.2F * look.number});
    case AnswerKind::percent: {
      const float odd = look.year > 0 ? 0.25F : 1.0F;
      return odd * std::max(look.percent > 0.9F ? 1.0F : 1.3F * look.percent, 0.5F * look.number);
    }
    case AnswerKind::number:
      return (look.year > 0 ? 0.5F : 1.0F) *
             std::max({look.number, look.code, 0.8F * look.phone, 0.6F * look.money});
    case AnswerKind::phone:
      return std::max({look.phone, 0.5F * look.code, 0.2F * look.number});
    default:
      return 0;
  }
}

// A company heads its paper: upper-case words at the top, often with a legal form behind.
float company_prior(const PhraseLook& look) {
  float value = 0.06F + 0.5F * std::exp(-static_cast<float>(look.rank) / 4.0F);
  if (look.legal && look.words >= 2) value += 0.35F * (0.3F + 0.7F * look.top);
  value += 0.15F * std::clamp(look.size - 1, 0.0F, 1.0F) * look.top;
  value *= 0.4F + 0.6F * look.capital;
  if (look.street) value *= 0.6F;
  return value * (0.3F + 0.7F * look.letters);
}

float person_prior(const PhraseLook& look) {
  float value = look.person ? 0.9F : 0.45F;
  if (look.words < 1 || look.words > 7) value *= 0.5F;
  return value * (0.35F + 0.65F * look.capital) * (0.3F + 0.7F * look.letters);
}

// Labels and values have a few words; sentences are rarely answers.
float brief(const PhraseLook& look) {
  return look.words <= 5 ? 1.0F : look.words <= 8 ? 0.7F : 0.4F;
}

float place_prior(const PhraseLook& look) {
  const float value = look.street ? 0.9F : 0.5F * brief(look);
  return value * (0.4F + 0.6F * look.capital) * (0.5F + 0.5F * look.letters);
}

// Titles are large and near the top.
float title_prior(const PhraseLook& look) {
  const float value = 0.15F + 0.45F * std::clamp(look.size - 0.8F, 0.0F, 1.0F) + 0.35F * look.top;
  return value * (0.4F + 0.6F * look.letters) * (look.words >= 2 ? 1.0F : 0.6F);
}

float text_prior(const PhraseLook& look) {
  return brief(look) * (0.35F + 0.35F * look.letters) * (0.8F + 0.2F * look.capital);
}

bool wants_company(const Query& query) {
  return asks(query, {"company", "vendor", "store", "shop", "merchant", "seller", "supplier",
                      "restaurant", "business", "firm", "organization", "organisation", "brand"});
}

bool wants_title(const Query& query) {
  return asks(query, {"title", "heading", "headline", "header", "caption"}) ||
         (asks(query, {"name"}) && asks(query, {"form", "document", "report", "table", "graph"}));
}

float phrase_prior(const PhraseLook& look, const Query& query) {
  if (wants_company(query)) return company_prior(look);
  if (wants_title(query)) return title_prior(look);
  if (query.answer == AnswerKind::name) return person_prior(look);
  if (query.answer == AnswerKind::place) return place_prior(look);
  return text_prior(look);
}

}  // namespace

bool is_numeric(AnswerKind kind) {
  return kind == AnswerKind::money || kind == AnswerKind::date || kind == AnswerKind::time ||
         kind == AnswerKind::percent || kind == AnswerKind::number || kind == AnswerKind::phone;
}

bool is_choice(const Query& query) {
  static constexpr const char* kNotNouns[] = {"is",  "are",  "was",  "were", "do",   "does",
                                              "did", "the",  "a",    "an",   "of",   "in",
                                              "has", "have", "will", "can",  "would"};
  for (size_t i = 0; i + 1 < query.words.size(); ++i) {
    if (query.words[i] == "which") return true;
    if (query.words[i] != "what") continue;
    return std::none_of(std::begin(kNotNouns), std::end(kNotNouns),
                        [&](const char* word) { return query.words[i + 1] == word; });
  }
  return false;
}

std::vector<float> kind_prior(const Page& page, const Found& found, const Query& query) {
  std::vector<float> out(page.words.size(), 0);
  const std::vector<float> repeats = share_asked(page, found);
  const bool choice = is_choice(query);
  const std::vector<PhraseLook> phrases = look_at_phrases(page);
  const bool numeric = is_numeric(query.answer);
  for (size_t w = 0; w < page.words.size(); ++w) {
    const Token& word = page.words[w];
    if (numeric) {
      // Misread or handwritten values still deserve something.
      out[w] = std::max(numeric_prior(word.look, query), 0.1F);
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
