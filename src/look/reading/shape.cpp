#include "look/reading/shape.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <numeric>
#include <string_view>

#include "base/text.h"
#include "base/words.h"
#include "look/reading/match.h"

namespace arrcoc::reading {
namespace {

// data/words/word_shapes.txt
struct Tables {
  WordFile file = word_file("word_shapes");
  std::unordered_map<std::string_view, std::vector<float>> months = file.map("months", 1);
  WordSet company = file.set("company"), street = file.set("street"), person = file.set("person");
  WordSet half_day = file.set("half day");
  std::vector<std::string_view> currency = file.list("currency");
  std::array<char, 256> digit_of{};  // of a letter that OCR reads in its place; else 0

  Tables() {
    for (const WordLine& line : file.lines("misread digits"))
      for (size_t i = 1; i < line.words.size(); ++i)
        digit_of[static_cast<unsigned char>(line.words[i][0])] = line.words[0][0];
  }
};

const Tables& tables() { return read_once<Tables>(); }

bool digit(char c) { return c >= '0' && c <= '9'; }
bool letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
char lower(char c) { return static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c); }
char as_digit(char c) { return tables().digit_of[static_cast<unsigned char>(c)]; }

// Letters read in place of digits become digits again, when the rest of the word is mostly digits.
std::string mend_digits(std::string text) {
  const auto digits = std::count_if(text.begin(), text.end(), digit);
  const auto other = [](char c) { return letter(c) && as_digit(c) == 0; };
  if (digits < 2 || std::any_of(text.begin(), text.end(), other)) return text;
  for (char& c : text)
    if (!digit(c) && as_digit(c) != 0) c = as_digit(c);
  return text;
}

// A currency sign or code in front; removed from `text`.
bool take_currency(std::string& text) {
  std::string low = text;
  std::transform(low.begin(), low.end(), low.begin(), lower);
  for (const std::string_view sign : tables().currency) {
    if (low.size() > sign.size() && low.starts_with(sign) && !letter(text[sign.size()])) {
      text = text::strip(text.substr(sign.size()), ".: ");
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

Runs runs_of(std::string_view text) {
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
  const auto separates = [](char c) { return c == '/' || c == '-' || c == '.' || c == ','; };
  if (!separates(a) || !separates(b)) return 0;
  const bool same = a == b && a != ',';
  const auto& n = runs.lengths;
  const auto& v = runs.values;
  const bool day_first = n[0] <= 2 && n[1] <= 2 && plausible_year(v[2], n[2]) && v[0] <= 31 &&
                         v[1] <= 31 && (v[0] <= 12 || v[1] <= 12);
  const bool year_first = n[0] == 4 && plausible_year(v[0], 4) && n[1] <= 2 && n[2] <= 2;
  if (day_first || year_first) return same ? 1.0F : 0.8F;
  if (n[0] <= 2 && n[1] <= 2 && (n[2] == 4 || n[2] == 2)) return 0.6F;  // a digit was misread
  return 0;
}

float month_like(const std::string& word) {
  const auto& months = tables().months;
  if (const auto known = months.find(word); known != months.end()) return known->second[0];
  const bool misread =
      word.size() >= 5 && std::any_of(months.begin(), months.end(), [&](const auto& month) {
        return month.first.size() >= 5 && ocr_distance(word, month.first, 1.5F) <= 1.5F;
      });
  return misread ? 0.8F : 0;
}

// "12-Jan-2018", "12JAN18", "Jan-18".
float date_with_month(const std::string& text) {
  std::string word;
  int before = 0;
  int after = 0;
  for (const char c : text) {
    if (letter(c)) {
      word += lower(c);
    } else if (digit(c)) {
      ++(word.empty() ? before : after);
    }
  }
  if (before + after == 0 || !tables().months.contains(word)) return 0;
  return before > 0 && after > 0 ? 1.0F : 0.7F;
}

void shape_letters(const std::string& text, WordShape& shape) {
  int upper = 0;
  bool first = true;
  for (size_t at = 0; at < text.size();) {
    const char32_t code = text::next_code_point(text, at);
    if (text::is_digit(code)) ++shape.digits;
    if (!text::is_letter(code)) continue;
    ++shape.letters;
    const bool is_upper = text::lower(code) != code;
    if (is_upper) ++upper;
    if (first && is_upper) shape.capital = 0.6F;
    first = false;
  }
  if (shape.letters >= 2 && upper == shape.letters) shape.capital = 1;
  const std::string word = plain(text);
  shape.person = tables().person.contains(word);
  shape.company = tables().company.contains(word);
  shape.street = tables().street.contains(word);
}

struct Signs {
  bool currency, percent, negative;
};

// A plain number. Money ends in two digits behind the last point or comma; thousands come in
// threes.
void shape_amount(const std::string& core, const Runs& runs, const Signs& signs, WordShape& shape) {
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
  shape.has_value = true;
  // Not strtod: a locale may want a comma.
  std::from_chars(plain_number.data(), plain_number.data() + plain_number.size(), shape.value);
  if (signs.negative) shape.value = -shape.value;
  shape.number = 1;
  shape.money = cents            ? 1.0F
                : signs.currency ? 0.9F
                : digits <= 4    ? 0.3F
                : digits <= 6    ? 0.15F
                                 : 0.05F;
  shape.percent = signs.percent ? 1.0F : shape.value >= 0 && shape.value <= 100 ? 0.6F : 0.1F;
  if (runs.lengths.size() == 1 && runs.lengths[0] == 4 && shape.value >= 1800 &&
      shape.value <= 2100)
    shape.year = 1;
}

void shape_digits(const std::string& text, WordShape& shape) {
  std::string core(text::strip(text, " ()[]{}<>*=~_\"';:|"));
  const bool currency = take_currency(core);
  core = mend_digits(std::string(text::strip(core, ".,;:'-*")));
  const bool percent = !core.empty() && core.back() == '%';
  if (percent) core.pop_back();
  const bool negative = !text.empty() && text.front() == '-';
  const Runs runs = runs_of(core);
  if (runs.lengths.empty()) return;
  const int digits = std::accumulate(runs.lengths.begin(), runs.lengths.end(), 0);
  if (const float date = std::max(date_of(runs), date_with_month(core)); date > 0) {
    shape.date = date;
    shape.code = 0.3F;
    return;
  }
  const bool colons = runs.separators.find(':') != std::string::npos;
  if (colons && runs.lengths.size() >= 2 && runs.lengths.size() <= 3 && runs.lengths[0] <= 2 &&
      runs.lengths[1] == 2) {
    shape.time = 1;
    return;
  }
  if (!runs.only) {
    shape.code = 0.6F;
    shape.number = digits * 2 >= static_cast<int>(core.size()) ? 0.4F : 0.15F;
    if (digits >= 7 && shape.letters == 0) shape.phone = 0.7F;
    return;
  }
  const bool dashes = runs.separators.find('-') != std::string::npos;
  if (digits >= 7 && digits <= 13) shape.phone = dashes ? 1.0F : 0.5F;
  if (digits >= 5) shape.code = 0.7F;
  if (dashes || runs.separators.find('/') != std::string::npos) {
    shape.number = 0.5F;
    shape.code = std::max(shape.code, 0.5F);
    return;
  }
  shape_amount(core, runs, {currency, percent, negative}, shape);
}

void raise(std::vector<WordShape>& shapes, size_t first, size_t last, float WordShape::*field,
           float strength) {
  for (size_t k = first; k <= last; ++k) shapes[k].*field = std::max(shapes[k].*field, strength);
}

// "2 July 1971": a month with a day before or behind it, and a year.
void join_month(const std::vector<std::string>& texts, size_t i, std::vector<WordShape>& shapes) {
  const float month = shapes[i].digits == 0 ? month_like(plain(texts[i])) : 0;
  if (month == 0) return;
  const auto day = [&](size_t k) {
    return k < shapes.size() && shapes[k].digits >= 1 && shapes[k].digits <= 2 &&
           shapes[k].letters <= 2;
  };
  const auto year = [&](size_t k) {
    return k < shapes.size() &&
           (shapes[k].year > 0 || (shapes[k].digits >= 2 && shapes[k].digits <= 5 &&
                                   shapes[k].letters == 0 && shapes[k].date == 0));
  };
  const size_t first = i > 0 && day(i - 1) ? i - 1 : i;
  size_t last = first == i && day(i + 1) ? i + 1 : i;
  if (year(last + 1)) ++last;
  if (first == last) return;
  raise(shapes, first, last, &WordShape::date, last - first >= 2 ? month : 0.8F * month);
}

// "12 / 03 / 2018" and "12/ 03/2018": numbers torn apart at the separators.
void join_date(const std::vector<std::string>& texts, size_t i, std::vector<WordShape>& shapes) {
  if (shapes[i].digits == 0 || shapes[i].date != 0) return;
  std::string joined = texts[i];
  for (size_t last = i + 1; last < texts.size() && last <= i + 4; ++last) {
    joined += texts[last];
    if (shapes[last].letters > 0) return;
    const Runs runs = runs_of(text::strip(joined, " .,:;"));
    if (runs.only && date_of(runs) >= 0.8F) return raise(shapes, i, last, &WordShape::date, 0.8F);
  }
}

// Phone numbers in groups.
void join_phone(const std::vector<std::string>& texts, size_t i, std::vector<WordShape>& shapes) {
  if (shapes[i].digits < 2 || shapes[i].letters != 0 || shapes[i].money >= 1) return;
  int digits = 0;
  for (size_t last = i; last < texts.size() && last <= i + 3; ++last) {
    const WordShape& shape = shapes[last];
    if (shape.letters > 0 || (shape.digits == 0 && texts[last].size() > 1)) return;
    digits += shape.digits;
    if (last > i && digits >= 8 && digits <= 12)
      return raise(shapes, i, last, &WordShape::phone, 0.8F);
  }
}

}  // namespace

WordShape shape_of(const std::string& text) {
  WordShape shape;
  shape_letters(text, shape);
  if (shape.digits > 0) shape_digits(text, shape);
  return shape;
}

void join_shapes(const std::vector<std::string>& texts, std::vector<WordShape>& shapes) {
  for (size_t i = 0; i < texts.size(); ++i) {
    join_month(texts, i, shapes);
    join_date(texts, i, shapes);
    join_phone(texts, i, shapes);
    if (i > 0 && shapes[i - 1].time > 0 && tables().half_day.contains(plain(texts[i])))
      shapes[i].time = 0.8F;
  }
}

}  // namespace arrcoc::reading
