#include "look/reading/match.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "query/query_text.h"

namespace arrcoc::reading {
namespace {

// Words that forms, receipts and charts use for each other. One group a line; a word may stand in
// several groups. Add freely: nothing else needs to change.
constexpr const char* kSynonyms[] = {
    "total amount sum due payable balance net grand",
    "date dated",
    "company vendor store shop merchant seller supplier restaurant business firm",
    "phone tel telephone mobile hp contact ph",
    "fax telefax facsimile",
    "address addr location",
    "invoice receipt bill voucher",
    "no number num nos # ref",
    "price cost rate amount",
    "percent percentage % pct",
    "quantity qty pcs units",
    "tax gst vat sst",
    "discount disc rebate",
    "name nama",
    "from sender by",
    "to recipient attention attn",
    "subject re regarding",
    "email e-mail mail",
    "signature signed sign",
    "department dept division",
    "position title designation",
    "time hour hrs",
    "male males men man boys",
    "female females women woman girls",
    "mean average avg",
    "maximum max highest",
    "minimum min lowest",
    "year years yr",
    "month months mo",
    "weight wt",
    "height ht",
    "temperature temp",
    "account acct a/c",
    "manager mgr",
    "president pres chairman",
    "page pg p",
    "republican republicans rep reps gop",
    "democrat democrats dem dems democratic",
    "conservative conservatives cons",
    "liberal liberals lib",
    "us u.s american americans united",
    "black blacks african",
    "hispanic hispanics latino latinos",
    "white whites caucasian",
    "favorable favourable favorably favourably positive",
    "unfavorable unfavourable negative",
    "increase increased grow grew rise rose",
    "decrease decreased decline declined fall fell",
    "dont don't dk know",
    "january jan",
    "february feb",
    "march mar",
    "april apr",
    "june jun",
    "july jul",
    "august aug",
    "september sept sep",
    "october oct",
    "november nov",
    "december dec",
    "one 1",
    "two 2",
    "three 3",
    "four 4",
    "five 5",
    "six 6",
    "seven 7",
    "eight 8",
    "nine 9",
    "first 1st",
    "second 2nd",
    "third 3rd",
    "fourth 4th",
    "fifth 5th",
};

// Groups of characters that OCR takes for each other.
constexpr const char* kConfusions[] = {"0odq", "1li|!tj7", "5s$", "8b3", "2z", "6gb", "ceo", "uv",
                                       "nhr",  "ft",       "yv",  "ao",  "4a", "rf",  "9g"};

bool confusable(char a, char b) {
  for (const std::string_view group : kConfusions) {
    if (group.find(a) != std::string_view::npos && group.find(b) != std::string_view::npos)
      return true;
  }
  return false;
}

std::vector<std::string> split_group(std::string_view group) {
  std::vector<std::string> out;
  for (size_t at = 0; at < group.size();) {
    const size_t end = std::min(group.find(' ', at), group.size());
    out.emplace_back(group.substr(at, end - at));
    at = end + 1;
  }
  return out;
}

bool is_short_year(const std::string& full, const std::string& brief) {
  return full.size() == 4 && brief.size() == 2 && (full[0] == '1' || full[0] == '2') &&
         full.compare(2, 2, brief) == 0;
}

size_t common_prefix(const std::string& a, const std::string& b) {
  const size_t length = std::min(a.size(), b.size());
  size_t i = 0;
  while (i < length && a[i] == b[i]) ++i;
  return i;
}

bool ends_with(const std::string& word, std::string_view ending) {
  return word.size() >= ending.size() &&
         word.compare(word.size() - ending.size(), ending.size(), ending) == 0;
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
  bool digit = false;
  for (const char c : word) {
    if (c >= '0' && c <= '9') {
      digit = true;
    } else if (std::string_view("%$.,-/:#").find(c) == std::string_view::npos &&
               static_cast<unsigned char>(c) < 0x80) {
      return false;
    }
  }
  return digit;
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

std::string stem(const std::string& word) {
  const size_t n = word.size();
  if (n > 4 && ends_with(word, "ies")) return word.substr(0, n - 3) + "y";
  if (n > 4 && (ends_with(word, "ses") || ends_with(word, "xes") || ends_with(word, "ches") ||
                ends_with(word, "shes")))
    return word.substr(0, n - 2);
  if (n > 3 && word.back() == 's' && !ends_with(word, "ss")) return word.substr(0, n - 1);
  if (n > 5 && ends_with(word, "ing")) return word.substr(0, n - 3);
  if (n > 4 && ends_with(word, "ed")) return word.substr(0, n - 2);
  return word;
}

float similarity(const std::string& asked, const std::string& read) {
  if (asked.empty() || read.empty()) return 0;
  if (asked == read) return 1;
  if (is_number(asked) || is_number(read)) {
    if (is_short_year(asked, read)) return 0.8F;
    // A misread number: only letters in the place of digits are forgiven ("2O15").
    if (asked.size() == read.size() && asked.size() >= 2 && !(is_number(asked) && is_number(read)))
      return ocr_distance(asked, read, 0.36F) <= 0.36F ? 0.6F : 0.0F;
    return 0;
  }
  const std::string a = stem(asked);
  const std::string b = stem(read);
  if (a == b) return 0.95F;
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
  if (shorter >= 4 && longer <= 24 && read.find(asked) != std::string::npos)
    best = std::max(best, 0.55F);
  return best;
}

std::vector<std::string> synonyms_of(const std::string& word) {
  std::vector<std::string> out;
  const std::string root = stem(word);
  for (const std::string_view group : kSynonyms) {
    std::vector<std::string> members = split_group(group);
    const bool member = std::any_of(members.begin(), members.end(), [&](const std::string& other) {
      return other == word || (word.size() > 3 && stem(other) == root);
    });
    if (!member) continue;
    for (std::string& other : members) {
      if (other != word && std::find(out.begin(), out.end(), other) == out.end())
        out.push_back(std::move(other));
    }
  }
  return out;
}

float match(const Term& term, const std::string& read) {
  float best = similarity(term.word, read);
  for (const std::string& synonym : term.synonyms) {
    if (best >= 0.8F) break;
    // Short synonyms must be met exactly: "no", "tel", "due" are one letter away from many words.
    const float alike =
        synonym.size() < 4 ? (synonym == read ? 1.0F : 0.0F) : similarity(synonym, read);
    best = std::max(best, 0.8F * alike);
  }
  return best;
}

}  // namespace arrcoc::reading
