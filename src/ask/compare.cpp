// Questions that compare pictures, taken apart into questions about one picture.
#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <string_view>

#include "arrcoc/esper.h"

namespace arrcoc::esper {

namespace {

using Words = std::vector<std::string>;

bool has(const Words& words, std::initializer_list<std::string_view> any) {
  return std::any_of(words.begin(), words.end(), [&](const std::string& w) {
    return std::find(any.begin(), any.end(), w) != any.end();
  });
}

bool follow(const Words& words, std::string_view first,
            std::initializer_list<std::string_view> next) {
  for (size_t i = 0; i + 1 < words.size(); ++i)
    if (words[i] == first && std::find(next.begin(), next.end(), words[i + 1]) != next.end())
      return true;
  return false;
}

// The thing that is compared: what follows "the", "more" or "fewer", up to a word that is not part
// of a name.
std::string thing_in(const Words& words) {
  static constexpr std::array<std::string_view, 3> kBefore = {"the", "more", "fewer"};
  static constexpr std::array<std::string_view, 12> kAfter = {
      "cheaper", "dearer", "more", "less", "cost", "costs",
      "first",   "second", "or",   "in",   "than", "expensive"};
  size_t i = 0;
  while (i < words.size() && std::find(kBefore.begin(), kBefore.end(), words[i]) == kBefore.end())
    ++i;
  std::string out;
  for (++i; i < words.size(); ++i) {
    if (std::find(kAfter.begin(), kAfter.end(), words[i]) != kAfter.end()) break;
    out += (out.empty() ? "" : " ") + words[i];
  }
  return out;
}

}  // namespace

std::optional<Comparison> comparison_in(const Query& query) {
  const Words& w = query.words;
  using By = Comparison::By;
  if (has(w, {"disappeared", "vanished", "missing", "gone"}) ||
      (has(w, {"but"}) && has(w, {"not"})))
    return Comparison{By::difference, ""};
  const bool which = follow(w, "which", {"picture", "image", "photo", "page", "shelf"}) ||
                     (has(w, {"first"}) && has(w, {"second"}) && has(w, {"or"})) ||
                     (has(w, {"where"}) && has(w, {"cheaper", "less", "dearer"}));
  const std::string thing = thing_in(w);
  if (!which || thing.empty()) return std::nullopt;
  const bool price = has(w, {"cheaper", "dearer", "cost", "costs", "expensive"});
  if (price)
    return Comparison{
        has(w, {"dearer"}) || (has(w, {"more"}) && !has(w, {"less"})) ? By::larger : By::smaller,
        "What does the " + thing + " cost?"};
  if (has(w, {"more", "fewer"}))
    return Comparison{has(w, {"more"}) ? By::larger : By::smaller,
                      "How many " + thing + " are there?"};
  return Comparison{By::presence, "Where is the " + thing + "?"};
}

std::optional<double> number_in(const std::string& answer) {
  const auto digit = [&](size_t i) {
    return i < answer.size() && std::isdigit(static_cast<unsigned char>(answer[i])) != 0;
  };
  size_t i = 0;
  while (i < answer.size() && !digit(i)) ++i;
  if (i == answer.size()) return std::nullopt;
  std::string plain;
  for (; i < answer.size(); ++i) {
    const bool mark = (answer[i] == '.' || answer[i] == ',') && digit(i + 1);
    if (!digit(i) && !mark) break;
    if (digit(i)) {
      plain += answer[i];
      continue;
    }
    // A mark before exactly three digits groups thousands ("1,234"), any other is a point.
    const bool thousands = answer[i] == ',' && digit(i + 2) && digit(i + 3) && !digit(i + 4);
    if (!thousands) plain += '.';
  }
  return std::strtod(plain.c_str(), nullptr);
}

}  // namespace arrcoc::esper
