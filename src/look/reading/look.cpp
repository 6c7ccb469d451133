#include "look/reading/look.h"

#include <algorithm>
#include <charconv>
#include <numeric>
#include <string_view>
#include <unordered_set>

#include "look/reading/match.h"
#include "query/query_text.h"

namespace arrcoc::reading {
namespace {

using WordSet = std::unordered_set<std::string>;

bool digit(char c) { return c >= '0' && c <= '9'; }
bool letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

// The digit that OCR read as a letter; 0 when the character is no such letter.
char as_digit(char c) {
  switch (c) {
    case 'o':
    case 'O':
    case 'Q':
    case 'D':
      return '0';
    case 'l':
    case 'I':
    case 'i':
    case '|':
    case '!':
      return '1';
    case 'z':
    case 'Z':
      return '2';
    case 's':
    case 'S':
      return '5';
    case 'b':
    case 'G':
      return '6';
    case 'B':
      return '8';
    case 'g':
    case 'q':
      return '9';
    default:
      return 0;
  }
}

// Letters read in place of digits become digits again, when the rest of the word is mostly digits.
std::string mend_digits(const std::string& text) {
  int digits = 0;
  int others = 0;
  for (const char c : text) {
    if (digit(c)) {
      ++digits;
    } else if (letter(c) && as_digit(c) == 0) {
      ++others;
    }
  }
  if (digits < 2 || others > 0) return text;
  std::string out = text;
  for (char& c : out) {
    if (const char mended = digit(c) ? 0 : as_digit(c); mended != 0) c = mended;
  }
  return out;
}

std::string strip(const std::string& text, const char* ends) {
  const size_t first = text.find_first_not_of(ends);
  if (first == std::string::npos) return {};
  return text.substr(first, text.find_last_not_of(ends) - first + 1);
}

// A currency sign or code in front; removed from `text`.
bool take_currency(std::string& text) {
  std::string low;
  for (const char c : text) low += static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
  for (const std::string_view sign : {"$", "rm", "usd", "us$", "eur", "gbp", "sgd", "myr", "rs.",
                                      "rs", "inr", "s$", "\xE2\x82\xAC", "\xC2\xA3", "\xC2\xA5"}) {
    if (low.size() > sign.size() && low.compare(0, sign.size(), sign) == 0 &&
        !letter(text[sign.size()])) {
      text = strip(text.substr(sign.size()), ".: ");
      return true;
    }
  }
  return false;
}

// Runs of digits and what separates them: "1,234.50" -> lengths 1 3 2, separators ",.".
struct Runs {
  std::vector<int> lengths;
  std::vector<int> values;  // of runs up to 4 digits
  std::string separators;
  bool only = true;  // nothing but digits and separators
};

Runs runs_of(const std::string& text) {
  Runs out;
  int length = 0;
  int value = 0;
  for (const char c : text) {
    if (digit(c)) {
      ++length;
      value = length <= 4 ? value * 10 + (c - '0') : value;
      continue;
    }
    if (length == 0) {
      out.only = false;
      continue;
    }
    out.lengths.push_back(length);
    out.values.push_back(value);
    out.separators += c;
    length = value = 0;
    if (std::string_view(".,/-:'").find(c) == std::string_view::npos) out.only = false;
  }
  if (length > 0) {
    out.lengths.push_back(length);
    out.values.push_back(value);
  }
  return out;
}

bool plausible_year(int value, int length) {
  return (length == 4 && value >= 1800 && value <= 2100) || length == 2;
}

float date_of(const Runs& runs) {
  if (runs.lengths.size() != 3 || runs.separators.size() < 2) return 0;
  const char a = runs.separators[0];
  const char b = runs.separators[1];
  const bool same = a == b && (a == '/' || a == '-' || a == '.');
  const bool mixed = std::string_view("/-.,").find(a) != std::string_view::npos &&
                     std::string_view("/-.,").find(b) != std::string_view::npos;
  if (!same && !mixed) return 0;
  const auto& n = runs.lengths;
  const auto& v = runs.values;
  const bool day_first = n[0] <= 2 && n[1] <= 2 && plausible_year(v[2], n[2]) && v[0] <= 31 &&
                         v[1] <= 31 && (v[0] <= 12 || v[1] <= 12);
  const bool year_first = n[0] == 4 && plausible_year(v[0], 4) && n[1] <= 2 && n[2] <= 2;
  if (day_first || year_first) return same ? 1.0F : 0.8F;
  if (n[0] <= 2 && n[1] <= 2 && (n[2] == 4 || n[2] == 2)) return 0.6F;  // a digit was misread
  return 0;
}

const WordSet& months() {
  static const WordSet set = {"january", "february", "march",     "april",   "may",      "june",
                              "july",    "august",   "september", "october", "november", "december",
                              "jan",     "feb",      "mar",       "apr",     "jun",      "jul",
                              "aug",     "sep",      "sept",      "oct",     "nov",      "dec"};
  return set;
}

float month_like(const std::string& word) {
  if (months().count(word) != 0)
    return word == "may" || word == "march" || word == "mar" ? 0.7F : 1;
  if (word.size() < 5) return 0;
  for (const std::string& month : months()) {
    if (month.size() >= 5 && ocr_distance(word, month, 1.5F) <= 1.5F) return 0.8F;
  }
  return 0;
}

// "12-Jan-2018", "12JAN18", "Jan-18".
float date_with_month(const std::string& text) {
  std::string word;
  int before = 0;
  int after = 0;
  for (const char c : text) {
    if (letter(c)) {
      word += static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
    } else if (digit(c)) {
      ++(word.empty() ? before : after);
    }
  }
  if (before + after == 0 || months().count(word) == 0) return 0;
  if (before > 0 && after > 0) return 1;
  return 0.7F;
}

bool in_list(const std::string& word, const WordSet& set) { return set.count(word) != 0; }

const WordSet& legal_words() {
  static const WordSet set = {
      "sdn",        "bhd",        "ltd",         "limited",    "inc",         "incorporated",
      "llc",        "llp",        "plc",         "corp",       "corporation", "co",
      "company",    "gmbh",       "pte",         "pty",        "enterprise",  "enterprises",
      "trading",    "restaurant", "restoran",    "mart",       "supermarket", "hardware",
      "holdings",   "industries", "industry",    "group",      "store",       "stores",
      "shop",       "cafe",       "pharmacy",    "bakery",     "services",    "s/b",
      "bros",       "brothers",   "partners",    "associates", "bank",        "hotel",
      "university", "institute",  "association", "foundation", "agency",      "hospital",
      "clinic",     "sendirian",  "berhad",      "marketing",  "stationery",  "centre",
      "center",     "kedai",      "perniagaan"};
  return set;
}

const WordSet& street_words() {
  static const WordSet set = {"jalan",   "jln",     "street",    "st",    "road",      "rd",
                              "avenue",  "ave",     "lane",      "blvd",  "boulevard", "lorong",
                              "taman",   "kampung", "drive",     "suite", "floor",     "lot",
                              "block",   "kawasan", "bandar",    "box",   "plaza",     "square",
                              "highway", "seksyen", "persiaran", "lebuh", "apt",       "building",
                              "bldg",    "p.o",     "po"};
  return set;
}

const WordSet& person_words() {
  static const WordSet set = {"mr", "mrs", "ms", "miss", "dr", "prof", "professor", "sir", "madam"};
  return set;
}

void look_at_letters(const std::string& text, Look& look) {
  int upper = 0;
  bool first = true;
  for (size_t at = 0; at < text.size();) {
    const char32_t code = text::next_code_point(text, at);
    if (text::is_digit(code)) ++look.digits;
    if (!text::is_letter(code)) continue;
    ++look.letters;
    const bool is_upper = text::lower(code) != code;
    if (is_upper) ++upper;
    if (first && is_upper) look.capital = 0.6F;
    first = false;
  }
  if (look.letters >= 2 && upper == look.letters) look.capital = 1;
  const std::string word = plain(text);
  look.person = in_list(word, person_words());
  look.legal = in_list(word, legal_words());
  look.street = in_list(word, street_words());
}

struct Signs {
  bool currency, percent, negative;
};

// A plain number. Money ends in two digits behind the last point or comma; thousands come in
// threes.
void look_at_amount(const std::string& core, const Runs& runs, const Signs& signs, Look& look) {
  const int digits = std::accumulate(runs.lengths.begin(), runs.lengths.end(), 0);
  const bool cents = runs.lengths.size() >= 2 && runs.lengths.back() == 2;
  std::string plain_number;
  for (size_t i = 0, run = 0; i < core.size(); ++i) {
    if (digit(core[i])) {
      plain_number += core[i];
    } else if (++run == runs.lengths.size() - 1 && runs.lengths.back() != 3) {
      plain_number += '.';
    }
  }
  look.has_value = true;
  // Not strtod: a locale may want a comma.
  std::from_chars(plain_number.data(), plain_number.data() + plain_number.size(), look.value);
  if (signs.negative) look.value = -look.value;
  look.number = 1;
  look.money = cents            ? 1.0F
               : signs.currency ? 0.9F
               : digits <= 4    ? 0.3F
               : digits <= 6    ? 0.15F
                                : 0.05F;
  look.percent = signs.percent ? 1.0F : look.value >= 0 && look.value <= 100 ? 0.6F : 0.1F;
  if (runs.lengths.size() == 1 && runs.lengths[0] == 4 && look.value >= 1800 && look.value <= 2100)
    look.year = 1;
}

void look_at_digits(const std::string& text, Look& look) {
  std::string core = strip(text, " ()[]{}<>*=~_\"';:|");
  const bool currency = take_currency(core);
  core = mend_digits(strip(core, ".,;:'-*"));
  const bool percent = !core.empty() && core.back() == '%';
  if (percent) core.pop_back();
  const bool negative = !text.empty() && text.front() == '-';
  const Runs runs = runs_of(core);
  if (runs.lengths.empty()) return;
  const int digits = std::accumulate(runs.lengths.begin(), runs.lengths.end(), 0);
  if (const float date = std::max(date_of(runs), date_with_month(core)); date > 0) {
    look.date = date;
    look.code = 0.3F;
    return;
  }
  const bool colons = runs.separators.find(':') != std::string::npos;
  if (colons && runs.lengths.size() >= 2 && runs.lengths.size() <= 3 && runs.lengths[0] <= 2 &&
      runs.lengths[1] == 2) {
    look.time = 1;
    return;
  }
  if (!runs.only) {
    look.code = 0.6F;
    look.number = digits * 2 >= static_cast<int>(core.size()) ? 0.4F : 0.15F;
    if (digits >= 7 && look.letters == 0) look.phone = 0.7F;
    return;
  }
  const bool dashes = runs.separators.find('-') != std::string::npos;
  if (digits >= 7 && digits <= 13) look.phone = dashes ? 1.0F : 0.5F;
  if (digits >= 5) look.code = 0.7F;
  if (dashes || runs.separators.find('/') != std::string::npos) {
    look.number = 0.5F;
    look.code = std::max(look.code, 0.5F);
    return;
  }
  look_at_amount(core, runs, {currency, percent, negative}, look);
}

}  // namespace

Look look_at(const std::string& text) {
  Look look;
  look_at_letters(text, look);
  if (look.digits > 0) look_at_digits(text, look);
  return look;
}

void join_looks(const std::vector<std::string>& texts, std::vector<Look>& looks) {
  const size_t n = texts.size();
  const auto day = [&](size_t i) {
    return i < n && looks[i].digits >= 1 && looks[i].digits <= 2 && looks[i].letters <= 2;
  };
  const auto year = [&](size_t i) {
    return i < n && (looks[i].year > 0 || (looks[i].digits >= 2 && looks[i].digits <= 5 &&
                                           looks[i].letters == 0 && looks[i].date == 0));
  };
  for (size_t i = 0; i < n; ++i) {
    const float month = looks[i].digits == 0 ? month_like(plain(texts[i])) : 0;
    if (month > 0) {
      size_t first = i;
      size_t last = i;
      if (i > 0 && day(i - 1)) first = i - 1;
      if (first == i && day(i + 1)) last = i + 1;
      if (year(last + 1)) ++last;
      if (first == last) continue;
      const float strength = last - first >= 2 ? month : 0.8F * month;
      for (size_t k = first; k <= last; ++k) looks[k].date = std::max(looks[k].date, strength);
    }
    // "12 / 03 / 2018" and "12/ 03/2018": numbers torn apart at the separators.
    if (looks[i].digits > 0 && looks[i].date == 0) {
      std::string joined = texts[i];
      for (size_t last = i + 1; last < n && last <= i + 4; ++last) {
        joined += texts[last];
        if (looks[last].letters > 0) break;
        const Runs runs = runs_of(strip(joined, " .,:;"));
        if (runs.only && date_of(runs) >= 0.8F) {
          for (size_t k = i; k <= last; ++k) looks[k].date = std::max(looks[k].date, 0.8F);
          break;
        }
      }
    }
    // Phone numbers in groups.
    if (looks[i].digits >= 2 && looks[i].letters == 0 && looks[i].money < 1) {
      int digits = 0;
      for (size_t last = i; last < n && last <= i + 3; ++last) {
        if (looks[last].letters > 0 || (looks[last].digits == 0 && texts[last].size() > 1)) break;
        digits += looks[last].digits;
        if (last > i && digits >= 8 && digits <= 12) {
          for (size_t k = i; k <= last; ++k) looks[k].phone = std::max(looks[k].phone, 0.8F);
          break;
        }
      }
    }
    if (i > 0 && looks[i - 1].time > 0) {
      const std::string word = plain(texts[i]);
      if (word == "am" || word == "pm" || word == "a.m" || word == "p.m") looks[i].time = 0.8F;
    }
  }
}

}  // namespace arrcoc::reading
