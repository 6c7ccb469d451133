// Words on the page -> how likely each is the answer; and those scores as a map.
#include "arrcoc/look.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "arrcoc/error.h"
#include "look/reading/score.h"

namespace arrcoc::reading {
namespace {

constexpr float kUnlabelled = 0.25F;  // what a fitting shape is worth without any label
constexpr float kAsked = 0.08F;  // the question's own words on the page: context, rarely the answer
constexpr float kWeakestLabel = 0.05F;  // the strongest label is scaled to 1, but not noise
// Below 1: a long tail, so that a budget that has covered the best candidates goes to the next
// ones rather than to finer detail of the first.
constexpr float kTail = 0.4F;

// A phrase is read as a whole: its words follow its best one closely.
void share_in_phrases(const Page& page, float share, std::vector<float>& scores) {
  for (const Phrase& phrase : page.phrases) {
    float best = 0;
    for (const int w : phrase.words) best = std::max(best, scores[w]);
    for (const int w : phrase.words) scores[w] = std::max(scores[w], share * best);
  }
}

// A value shares only with its neighbours: a currency sign, a unit, the other half of a number
// that was torn apart.
void share_with_neighbours(const Page& page, float share, std::vector<float>& scores) {
  const std::vector<float> own = scores;
  for (const Phrase& phrase : page.phrases) {
    for (size_t i = 0; i < phrase.words.size(); ++i) {
      float& score = scores[phrase.words[i]];
      if (i > 0) score = std::max(score, share * own[phrase.words[i - 1]]);
      if (i + 1 < phrase.words.size()) score = std::max(score, share * own[phrase.words[i + 1]]);
    }
  }
}

}  // namespace

std::vector<float> score_words(const std::vector<Word>& words, const Query& query) {
  if (words.empty()) return {};
  const Page page = lay_out(words);
  const Found found = find_terms(page, query);
  const std::vector<float> evidence = label_evidence(page, found, query);
  const std::vector<float> prior = kind_prior(page, found, query);
  const std::vector<float> factor = hints(page, query);
  const float strongest =
      std::max(kWeakestLabel, *std::max_element(evidence.begin(), evidence.end()));
  const bool numeric = is_numeric(query.answer);
  std::vector<float> scores(words.size(), 0);
  for (size_t w = 0; w < words.size(); ++w) {
    const float label = evidence[w] / strongest;
    scores[w] = prior[w] * (kUnlabelled + label * label) * factor[w] + kAsked * found.matched[w];
  }
  if (numeric) {
    share_with_neighbours(page, 0.6F, scores);
  } else {
    share_in_phrases(page, 0.85F, scores);
  }
  const float best = std::max(1e-6F, *std::max_element(scores.begin(), scores.end()));
  for (float& score : scores) score = std::pow(score / best, kTail);
  return scores;
}

Map paint(const std::vector<Word>& words, const std::vector<float>& scores, const Map& shape) {
  if (words.size() != scores.size()) {
    throw Error(ErrorCode::bad_argument, "paint: " + std::to_string(words.size()) + " words but " +
                                             std::to_string(scores.size()) + " scores");
  }
  Map map = like(shape, 0.0F);
  // Cells that the range [from, to) of pixels touches, within the map.
  const auto cells = [](float from, float to, float cell, int count) {
    const auto most = static_cast<float>(count);
    return std::pair(static_cast<int>(std::clamp(std::floor(from / cell), 0.0F, most)),
                     static_cast<int>(std::clamp(std::ceil(to / cell), 0.0F, most)));
  };
  for (size_t i = 0; i < words.size(); ++i) {
    const Box& box = words[i].box;
    const auto [c0, c1] = cells(box.x0, box.x1, map.cell_width, map.cols);
    const auto [r0, r1] = cells(box.y0, box.y1, map.cell_height, map.rows);
    for (int r = r0; r < r1; ++r) {
      for (int c = c0; c < c1; ++c) map.at(r, c) = std::max(map.at(r, c), scores[i]);
    }
  }
  return map;
}

}  // namespace arrcoc::reading
