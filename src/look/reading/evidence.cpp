// The question's words on the page, and the words that they label.
#include <algorithm>
#include <cmath>
#include <map>

#include "base/words.h"
#include "look/reading/score.h"

namespace arrcoc::reading {
namespace {

constexpr int kMostHits = 200;  // of one term: more say nothing new and cost words x hits

// How much a word says about where its answer stands (data/words/label_weights.txt).
float weight_of(const std::string& word) {
  static const auto weights = word_file("label_weights").map("weights", 1);
  const auto known = weights.find(word);
  return known == weights.end() ? 1 : known->second[0];
}

std::vector<Term> terms_of(const Query& query) {
  std::vector<Term> terms;
  for (const std::string& word : query.content) {
    const auto same = [&](const Term& term) { return term.word == word; };
    if (std::none_of(terms.begin(), terms.end(), same))
      terms.push_back({word, synonyms_of(word), weight_of(word)});
  }
  return terms;
}

float best_match(const Term& term, const Token& token) {
  float best = 0;
  for (const std::string& part : token.parts) best = std::max(best, match(term, part));
  return best;
}

// Two question words side by side on the page as in the question are worth more than each alone:
// per phrase, the share of the question's weight that it holds.
std::vector<float> phrase_support(const Page& page, const Found& found) {
  std::vector<std::map<int, float>> best(page.phrases.size());  // by term
  for (const Hit& hit : found.hits) {
    float& strength = best[page.words[hit.word].phrase][hit.term];
    strength = std::max(strength, hit.strength);
  }
  float all = 0;
  for (const Term& term : found.terms) all += term.weight;
  std::vector<float> out(page.phrases.size(), 0);
  for (size_t p = 0; p < best.size(); ++p) {
    for (const auto& [term, strength] : best[p]) out[p] += found.terms[term].weight * strength;
    out[p] = all > 0 ? out[p] / all : 0;
  }
  return out;
}

float relation(const Page& page, int from, int to, bool choice) {
  const Token& label = page.words[from];
  const Token& word = page.words[to];
  const float width = std::max(1.0F, page.bounds.width());
  if (label.phrase == word.phrase) {
    const int steps = word.place - label.place;
    if (choice && page.phrases[word.phrase].words.size() > 5) return 0.1F;
    if (steps > 0) return 1.0F - 0.02F * static_cast<float>(std::min(steps, 15));
    return 0.55F;
  }
  const Phrase& phrase = page.phrases[label.phrase];
  float best = across(label.box, word.box, page.height, width);
  // A label of a few words stands for its whole cell, and one of a few lines for its whole block.
  if (phrase.words.size() <= 6)
    best = std::max(best, across(phrase.box, word.box, page.height, width));
  const int lines = page.block_lines[phrase.block];
  if (lines >= 2 && lines <= 4 && page.phrases[word.phrase].block != phrase.block)
    best = std::max(best, 0.85F * across(page.blocks[phrase.block], word.box, page.height, width));
  return best;
}

}  // namespace

float across(const Box& from, const Box& to, float line, float width) {
  const float from_centre = 0.5F * (from.y0 + from.y1);
  const float to_centre = 0.5F * (to.y0 + to.y1);
  const float tolerance = 0.55F * std::max(std::min(from.height(), to.height()), 0.8F * line);
  const bool row = std::fabs(from_centre - to_centre) <= tolerance ||
                   overlap(from.y0, from.y1, to.y0, to.y1) >= 0.7F;
  if (row) {
    const float right = std::max(0.0F, to.x0 - from.x1) / width;
    const float left = std::max(0.0F, from.x0 - to.x1) / width;
    if (to.x0 >= from.x1 - 0.5F * line) return 0.95F - 0.3F * right;
    return 0.45F - 0.2F * left;
  }
  const bool column = overlap(from.x0, from.x1, to.x0, to.x1) >= 0.35F;
  if (!column) return 0;
  const float down = (to.y0 - from.y1) / line;
  if (to_centre > from_centre) return 0.3F + 0.55F * std::exp(-std::max(0.0F, down) / 3.0F);
  const float up = (from.y0 - to.y1) / line;
  return 0.15F + 0.35F * std::exp(-std::max(0.0F, up) / 3.0F);
}

Found find_terms(const Page& page, const Query& query) {
  Found found;
  found.terms = terms_of(query);
  found.matched.assign(page.words.size(), 0);
  for (size_t t = 0; t < found.terms.size(); ++t) {
    Term& term = found.terms[t];
    float mass = 0;
    std::vector<float> alikes(page.words.size());
    for (size_t w = 0; w < page.words.size(); ++w) alikes[w] = best_match(term, page.words[w]);
    // Where the word itself stands on the page, words that merely resemble it are other words.
    const bool exact = *std::max_element(alikes.begin(), alikes.end()) >= 0.95F;
    int hits = 0;
    for (size_t w = 0; w < page.words.size(); ++w) {
      const float alike = exact && alikes[w] < 0.9F ? 0.7F * alikes[w] : alikes[w];
      if (alikes[w] < 0.5F || ++hits > kMostHits) continue;
      const float strength = alike * (0.6F + 0.4F * page.words[w].confidence);
      found.hits.push_back({static_cast<int>(t), static_cast<int>(w), strength});
      found.matched[w] = std::max(found.matched[w], strength * std::min(1.0F, 2 * term.weight));
      mass += alike;
    }
    term.weight /= 1.0F + 0.5F * std::log(std::max(1.0F, mass));
  }
  return found;
}

std::vector<float> label_evidence(const Page& page, const Found& found, const Query& query) {
  const bool choice = is_choice(query);
  const size_t n = page.words.size();
  const std::vector<float> support = phrase_support(page, found);
  const float best_support =
      support.empty() ? 0 : *std::max_element(support.begin(), support.end());
  std::vector<float> total(n, 0);
  std::vector<float> of_term(n);
  float all = 0;
  size_t next = 0;
  for (size_t t = 0; t < found.terms.size(); ++t) {
    std::fill(of_term.begin(), of_term.end(), 0.0F);
    all += found.terms[t].weight;
    for (; next < found.hits.size() && found.hits[next].term == static_cast<int>(t); ++next) {
      const Hit& hit = found.hits[next];
      const float share =
          best_support > 0 ? support[page.words[hit.word].phrase] / best_support : 0;
      const float strength = hit.strength * (0.5F + 0.5F * share);
      for (size_t w = 0; w < n; ++w) {
        if (static_cast<int>(w) == hit.word) continue;
        of_term[w] =
            std::max(of_term[w], strength * relation(page, hit.word, static_cast<int>(w), choice));
      }
    }
    for (size_t w = 0; w < n; ++w) total[w] += found.terms[t].weight * of_term[w];
  }
  if (all > 0) {
    for (float& value : total) value = std::min(1.0F, value / all);
  }
  return total;
}

}  // namespace arrcoc::reading
