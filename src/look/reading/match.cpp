#include "look/reading/match.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/text.h"
#include "base/words.h"

namespace arrcoc::reading {
namespace {

// data/words/synonyms.txt
struct Tables {
  WordFile file = word_file("synonyms");
  std::vector<WordLine> groups = file.lines("synonyms");
  std::vector<std::string_view> confusions = file.list("confused characters");
};

const Tables& tables() { return read_once<Tables>(); }

bool confusable(char a, char b) {
  const auto& groups = tables().confusions;
  return std::any_of(groups.begin(), groups.end(), [&](std::string_view group) {
    return group.find(a) != std::string_view::npos && group.find(b) != std::string_view::npos;
  });
}

bool is_short_year(std::string_view full, std::string_view brief) {
  return full.size() == 4 && brief.size() == 2 && (full[0] == '1' || full[0] == '2') &&
         full.substr(2) == brief;
}

size_t common_prefix(std::string_view a, std::string_view b) {
  return static_cast<size_t>(std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first -
                             a.begin());
}

}  // namespace

std::string plain(std::string_view text) {
  std::string out;
  for (const std::string& word : text::split_words(text)) {
    if (!out.empty()) out += '-';
    out += word;
  }
  return out;
}

bool is_number(std::string_view word) {
  const bool legal = std::all_of(word.begin(), word.end(), [](char c) {
    return text::is_digit(c) || std::string_view("%$.,-/:#").find(c) != std::string_view::npos ||
           static_cast<unsigned char>(c) >= 0x80;
  });
  return legal && std::any_of(word.begin(), word.end(), text::is_digit);
}

float ocr_distance(std::string_view a, std::string_view b, float limit) {
  constexpr size_t kLongest = 40;
  if (a.size() > kLongest || b.size() > kLongest) return a == b ? 0.0F : limit + 1;
  if (std::fabs(static_cast<float>(a.size()) - static_cast<float>(b.size())) > limit)
    return limit + 1;
  std::array<float, kLongest + 1> row{};
  for (size_t j = 0; j <= b.size(); ++j) row[j] = static_cast<float>(j);
  for (size_t i = 1; i <= a.size(); ++i) {
    float diagonal = row[0];
    row[0] = static_cast<float>(i);
    float smallest = row[0];
    for (size_t j = 1; j <= b.size(); ++j) {
      const float above = row[j];
      const float swap = a[i - 1] == b[j - 1]             ? 0.0F
                         : confusable(a[i - 1], b[j - 1]) ? 0.35F
                                                          : 1.0F;
      row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + swap});
      diagonal = above;
      smallest = std::min(smallest, row[j]);
    }
    if (smallest > limit) return limit + 1;
  }
  return row[b.size()];
}

std::string stem(std::string_view word) {
  const size_t n = word.size();
  const auto ends = [&](std::string_view ending) { return word.ends_with(ending); };
  const auto without = [&](size_t count) { return std::string(word.substr(0, n - count)); };
  if (n > 4 && ends("ies")) return without(3) + "y";
  if (n > 4 && (ends("ses") || ends("xes") || ends("ches") || ends("shes"))) return without(2);
  if (n > 3 && ends("s") && !ends("ss")) return without(1);
  if (n > 5 && ends("ing")) return without(3);
  if (n > 4 && ends("ed")) return without(2);
  return std::string(word);
}

float similarity(std::string_view asked, std::string_view read) {
  if (asked.empty() || read.empty()) return 0;
  if (asked == read) return 1;
  if (is_number(asked) || is_number(read)) {
    if (is_short_year(asked, read)) return 0.8F;
    // A misread number: only letters in the place of digits are forgiven ("2O15").
    if (asked.size() == read.size() && asked.size() >= 2 && !(is_number(asked) && is_number(read)))
      return ocr_distance(asked, read, 0.36F) <= 0.36F ? 0.6F : 0.0F;
    return 0;
  }
  if (stem(asked) == stem(read)) return 0.95F;
  const size_t shorter = std::min(asked.size(), read.size());
  const size_t longer = std::max(asked.size(), read.size());
  if (shorter < 3) return 0;
  const float limit = shorter == 3 ? 0.36F : 0.3F * static_cast<float>(shorter);
  const float distance = ocr_distance(asked, read, limit);
  float best = 0;
  if (distance <= limit) best = 1.0F - 1.3F * distance / static_cast<float>(longer);
  const size_t prefix = common_prefix(asked, read);
  if (prefix >= 5 && prefix * 10 >= longer * 6) best = std::max(best, 0.7F);
  // "name:" glued to its value, or one half of a compound ("subtotal", "sub-total").
  if (shorter >= 4 && longer <= 24 && read.find(asked) != std::string_view::npos)
    best = std::max(best, 0.55F);
  return best;
}

std::vector<std::string_view> synonyms_of(std::string_view word) {
  std::vector<std::string_view> out;
  const std::string root = stem(word);
  for (const WordLine& group : tables().groups) {
    const auto same = [&](std::string_view other) {
      return other == word || (word.size() > 3 && stem(other) == root);
    };
    if (std::none_of(group.words.begin(), group.words.end(), same)) continue;
    for (const std::string_view other : group.words)
      if (other != word && std::find(out.begin(), out.end(), other) == out.end())
        out.push_back(other);
  }
  return out;
}

float match(const Term& term, std::string_view read) {
  float best = similarity(term.word, read);
  for (const std::string_view synonym : term.synonyms) {
    if (best >= 0.8F) break;
    // Short synonyms must be met exactly: "no", "tel", "due" are one letter away from many words.
    const float alike =
        synonym.size() < 4 ? (synonym == read ? 1.0F : 0.0F) : similarity(synonym, read);
    best = std::max(best, 0.8F * alike);
  }
  return best;
}

}  // namespace arrcoc::reading
