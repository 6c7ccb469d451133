#include "lab/measure/metrics.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <optional>
#include <sstream>

#include "base/distance.h"
#include "base/text.h"
#include "lab/measure/evaluation.h"

namespace arrcoc::measuring {

namespace official {

namespace {

constexpr std::string_view kPunctuation = ";/[]\"{}()=+\\_-><@`,?!";
constexpr std::string_view kEveryMark = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~";
constexpr int kMostPeriods = 32;  // re.UNICODE stands where a count belongs

// Words whose apostrophe people forget: with exactly one of its apostrophes missing, a word is
// meant to be that form.
constexpr const char* kContractions =
    "ain't aren't can't could've couldn't couldn't've didn't doesn't don't hadn't hadn't've hasn't "
    "haven't he'd he'd've he's how'd how'll how's isn't it'd it'd've it'll ma'am mightn't "
    "mightn't've might've mustn't must've needn't not've o'clock oughtn't 'ow's'at shan't she'd've "
    "should've shouldn't shouldn't've somebody'd've somebody'll somebody's someone'd someone'd've "
    "someone'll someone's something'd something'd've something'll that's there'd there'd've "
    "there're there's they'd they'd've they'll they're they've 'twas wasn't we'd've we've weren't "
    "what'll what're what's what've when's where'd where's where've who'd who'd've who'll who's "
    "who've why'll why're why's won't would've wouldn't wouldn't've y'all y'all'll y'all'd've "
    "you'd you'd've you'll you're you've";

const std::map<std::string, std::string>& contractions() {
  static const auto all = [] {
    std::map<std::string, std::string> out = {{"somebody'd", "somebodyd"}};  // theirs is so
    std::istringstream forms(kContractions);
    for (std::string form; forms >> form;)
      for (size_t at = form.find('\''); at != std::string::npos; at = form.find('\'', at + 1))
        out[form.substr(0, at) + form.substr(at + 1)] = form;
    return out;
  }();
  return all;
}

bool digit(char c) { return c >= '0' && c <= '9'; }
bool space(char c) { return c == ' ' || (c >= 9 && c <= 13); }

std::string lower(const std::string& text) {
  std::string out;
  for (size_t at = 0; at < text.size();)
    text::append_utf8(out, text::lower(text::next_code_point(text, at)));
  return out;
}

std::u32string points(const std::string& text) {
  std::u32string out;
  for (size_t at = 0; at < text.size();) out.push_back(text::next_code_point(text, at));
  return out;
}

std::string trimmed(const std::string& text) {
  return std::string(text::strip(text, " \t\n\v\f\r"));
}

std::string replaced(const std::string& text, const std::string& what, const std::string& by) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const bool here = text.compare(at, what.size(), what) == 0;
    out += here ? by : std::string(1, text[at]);
    at += here ? what.size() : 1;
  }
  return out;
}

std::string on_one_line(const std::string& answer) {
  return trimmed(replaced(replaced(answer, "\n", " "), "\t", " "));
}

std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> out;
  std::istringstream in(text);
  for (std::string word; in >> word;) out.push_back(word);
  return out;
}

bool thousands(const std::string& text) {
  for (size_t i = 1; i + 1 < text.size(); ++i)
    if (text[i] == ',' && digit(text[i - 1]) && digit(text[i + 1])) return true;
  return false;
}

std::string without_punctuation(const std::string& in) {
  std::string out = in;
  const bool numbers = thousands(in);
  for (char mark : kPunctuation) {
    const bool beside = in.find(std::string{mark, ' '}) != std::string::npos ||
                        in.find(std::string{' ', mark}) != std::string::npos;
    out = replaced(out, std::string(1, mark), beside || numbers ? "" : " ");
  }
  std::string kept;
  int periods = 0;
  for (size_t i = 0; i < out.size(); ++i) {
    const bool goes = out[i] == '.' && (i + 1 == out.size() || !digit(out[i + 1]));
    if (!goes || periods++ >= kMostPeriods) kept += out[i];
  }
  return kept;
}

std::string plain_words(const std::string& in) {
  static const std::map<std::string, std::string> numbers = {
      {"none", "0"}, {"zero", "0"}, {"one", "1"},   {"two", "2"},   {"three", "3"}, {"four", "4"},
      {"five", "5"}, {"six", "6"},  {"seven", "7"}, {"eight", "8"}, {"nine", "9"},  {"ten", "10"}};
  std::string out;
  for (std::string word : words_of(lower(in))) {
    if (const auto number = numbers.find(word); number != numbers.end()) word = number->second;
    if (word == "a" || word == "an" || word == "the") continue;
    if (const auto form = contractions().find(word); form != contractions().end())
      word = form->second;
    out += (out.empty() ? "" : " ") + word;
  }
  return out;
}

// As Python's float() reads it, which knows no hexadecimal numbers.
std::optional<double> number(std::string text) {
  const bool percent = !text.empty() && text.back() == '%';
  while (percent && !text.empty() && text.back() == '%') text.pop_back();
  text = trimmed(text);
  if (text.empty() || text.find_first_of("xXpP(") != std::string::npos) return std::nullopt;
  std::string digits;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool between =
        text[i] == '_' && i > 0 && i + 1 < text.size() && digit(text[i - 1]) && digit(text[i + 1]);
    if (!between) digits += text[i];
  }
  char* end = nullptr;
  const double value = std::strtod(digits.c_str(), &end);
  if (space(digits[0]) || *end != '\0') return std::nullopt;
  return percent ? value / 100 : value;
}

// Mean over the people of min(1, others of the same answer / 3).
double accuracy(const std::string& given, const std::vector<std::string>& people) {
  if (people.empty()) return 0;
  double sum = 0;
  const auto like = std::count(people.begin(), people.end(), given);
  for (const std::string& one : people)
    sum += std::min(1.0, static_cast<double>(like - (one == given ? 1 : 0)) / 3);
  return sum / static_cast<double>(people.size());
}

}  // namespace

double anls(const std::string& given, const std::vector<std::string>& wanted) {
  const auto joined_words = [](const std::string& text) {
    std::string out;
    for (const std::string& word : words_of(lower(text))) out += (out.empty() ? "" : " ") + word;
    return points(out);
  };
  double best = 0;
  for (const std::string& one : wanted) {
    const size_t longer = std::max(points(one).size(), points(given).size());
    const auto distance =
        static_cast<double>(edit_distance(joined_words(one), joined_words(given)));
    best = std::max(best, longer == 0 ? 1 : 1 - distance / static_cast<double>(longer));
  }
  return best < 0.5 ? 0 : best;
}

bool relaxed(const std::string& given, const std::string& wanted) {
  const std::optional<double> a = number(given), b = number(wanted);
  if (a && b && *b != 0) return std::abs(*a - *b) / std::abs(*b) <= 0.05;
  return lower(given) == lower(wanted);
}

std::string vqa_text(const std::string& answer) {
  return plain_words(without_punctuation(on_one_line(answer)));
}

std::string evalai_text(const std::string& answer) {
  const std::string bare = replaced(replaced(lower(answer), ",", ""), "?", "");
  return vqa_text(trimmed(replaced(bare, "'s", " 's")));
}

double vqa(const std::string& given, std::vector<std::string> people) {
  for (std::string& one : people) one = on_one_line(one);
  const bool differ =
      std::any_of(people.begin(), people.end(), [&](const auto& one) { return one != people[0]; });
  if (!differ) return accuracy(on_one_line(given), people);
  for (std::string& one : people) one = vqa_text(one);
  return accuracy(vqa_text(given), people);
}

double textvqa(const std::string& given, std::vector<std::string> people) {
  for (std::string& one : people) one = evalai_text(one);
  return accuracy(evalai_text(given), people);
}

bool gqa(const std::string& given, const std::string& wanted) {
  const auto bare = [](const std::string& text) {
    std::string out;
    for (char c : lower(text))
      if (kEveryMark.find(c) == std::string_view::npos) out += c;
    return out;
  };
  return bare(given) == bare(wanted);
}

std::string chosen(const std::string& given, const std::vector<std::string>& options) {
  std::string apart = given;
  for (char& c : apart)
    if (std::string_view(".()[],:;!*#{}").find(c) != std::string_view::npos) c = ' ';
  const std::vector<std::string> words = words_of(apart);
  std::vector<std::string> letters, texts;
  const std::string answer = lower(given);
  for (size_t i = 0; i < options.size(); ++i) {
    const std::string letter(1, static_cast<char>('A' + i));
    if (options[i].empty()) continue;
    if (std::find(words.begin(), words.end(), letter) != words.end()) letters.push_back(letter);
    if (answer.find(lower(options[i])) != std::string::npos) texts.push_back(letter);
  }
  if (letters.size() == 1) return letters[0];
  return texts.size() == 1 ? texts[0] : "";
}

}  // namespace official

double score(const Item& item, const std::string& given) {
  const std::vector<std::string>& people = item.accepted;
  const std::string wanted = item.answer.value_or("");
  switch (item.metric) {
    case Metric::anls:
      return official::anls(given, right_answers(item));
    case Metric::relaxed:
      return official::relaxed(given, wanted) ? 1 : 0;
    case Metric::vqa:
      return official::vqa(given, people);
    case Metric::textvqa:
      return official::textvqa(given, people);
    case Metric::gqa:
      return official::gqa(given, wanted) ? 1 : 0;
    case Metric::choice:
      return official::chosen(given, item.options) == wanted ? 1 : 0;
    case Metric::exact:
      break;
  }
  for (const std::string& one : right_answers(item))
    if (exact_match(given, one)) return 1;
  return 0;
}

}  // namespace arrcoc::measuring
