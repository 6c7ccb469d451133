// The question's words, and rules of thumb about what kind of answer they ask for.
#include "arrcoc/query.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <unordered_map>

#include "arrcoc/error.h"
#include "base/text.h"
#include "base/words.h"

namespace arrcoc {
namespace {

using Words = std::vector<std::string>;
using KindOfWord = std::unordered_map<std::string_view, AnswerKind>;

// In the order of AnswerKind: its name, and how much it says about where to look.
constexpr std::pair<const char*, double> kKinds[] = {
    {"any", 0},       {"money", 0.3},   {"date", 0.3},   {"time", 0.3},
    {"number", 0.15}, {"percent", 0.3}, {"name", 0.15},  {"phone", 0.3},
    {"place", 0.15},  {"text", 0},      {"colour", 0.15}};

// Word -> kind, from the sections "<prefix> <kind>".
KindOfWord read_kinds(const WordFile& file, const std::string& prefix,
                      std::initializer_list<AnswerKind> kinds) {
  KindOfWord out;
  for (const AnswerKind kind : kinds)
    for (const std::string_view word : file.list(prefix + " " + to_string(kind)))
      out.emplace(word, kind);
  return out;
}

// data/words/question.txt; what each section is for stands there.
struct Tables {
  WordFile file = word_file("question");
  WordSet stop = file.set("stop"), generic = file.set("generic");
  KindOfWord nouns = read_kinds(file, "kind",
                                {AnswerKind::money, AnswerKind::date, AnswerKind::time,
                                 AnswerKind::number, AnswerKind::percent, AnswerKind::name,
                                 AnswerKind::phone, AnswerKind::place, AnswerKind::text});
  KindOfWord question_words = read_kinds(
      file, "asks",
      {AnswerKind::date, AnswerKind::place, AnswerKind::name, AnswerKind::text, AnswerKind::any});
  WordSet how_number = file.set("how number"), how_process = file.set("how process");
  WordSet percent = file.set("percent"), colour = file.set("colour");
  WordSet colour_noun = file.set("colour noun"), meaning = file.set("meaning");
  WordSet label_verb = file.set("label verb"), label_auxiliary = file.set("label auxiliary");
  WordSet label_noun = file.set("label noun"), weak_noun = file.set("weak noun");
  WordSet yes_or_no = file.set("yes or no"), comparing = file.set("comparing");
  WordSet counting = file.set("counting"), superlative = file.set("superlative");
  WordSet joint = file.set("joint"), describing = file.set("describing");
  WordSet computing = file.set("computing");
};

const Tables& tables() { return read_once<Tables>(); }

const std::string& word_at(const Words& words, size_t index) {
  static const std::string none;
  return index < words.size() ? words[index] : none;
}

// The kind of a noun by itself.
AnswerKind kind_of_word(const std::string& word) {
  const auto known = tables().nouns.find(word);
  return known == tables().nouns.end() ? AnswerKind::any : known->second;
}

// "total" is money on a bill, but a count in "total number of ...".
AnswerKind kind_of_total(const Words& words, size_t index) {
  for (size_t next = index + 1; next < words.size(); ++next) {
    const AnswerKind kind = kind_of_word(words[next]);
    if (kind == AnswerKind::any || tables().stop.contains(words[next])) continue;
    return kind == AnswerKind::number ? AnswerKind::number : AnswerKind::money;
  }
  return AnswerKind::money;
}

AnswerKind kind_of_noun(const Words& words, size_t index) {
  const std::string& word = words[index];
  if (word == "total" || word == "totals") return kind_of_total(words, index);
  // "phone number", "invoice date", "percentage value": the more telling of two nouns in a row.
  const AnswerKind kind = kind_of_word(word), next = kind_of_word(word_at(words, index + 1));
  if (next == AnswerKind::any) return kind;
  const bool gives_way =
      kind == AnswerKind::name || (kind == AnswerKind::number && next != AnswerKind::text);
  return gives_way ? next : kind;
}

// The kind that the question word at `index` decides; `any` when it leaves the choice to the nouns.
AnswerKind kind_of_question_word(const Words& words, size_t index) {
  const Tables& t = tables();
  const AnswerKind alone = t.question_words.at(words[index]);
  if (alone != AnswerKind::any) return alone;
  const std::string& next = word_at(words, index + 1);
  if (words[index] == "how") {
    if (next == "much") return has_any(words, t.percent) ? AnswerKind::percent : AnswerKind::money;
    return t.how_number.contains(next) ? AnswerKind::number : AnswerKind::any;
  }
  if (t.colour_noun.contains(next)) return AnswerKind::colour;
  if (next.empty() || t.stop.contains(next)) return AnswerKind::any;
  const AnswerKind noun = kind_of_noun(words, index + 1);
  if (noun != AnswerKind::any) {
    // "what age group", "which price category": the head noun comes last.
    return t.label_noun.contains(word_at(words, index + 2)) ? AnswerKind::text : noun;
  }
  // "which side ...", "what treatment date ...": an unknown noun is a label, unless it qualifies
  // a known one.
  const AnswerKind head = index + 2 < words.size() ? kind_of_noun(words, index + 2) : noun;
  return head != AnswerKind::any ? head : AnswerKind::text;
}

// The first noun decides, except that "highest" or "value" give way to percent or money right
// behind them ("the value ... in percent").
AnswerKind kind_of_nouns(const Words& words, size_t start) {
  AnswerKind first = AnswerKind::any;
  for (size_t i = start; i < words.size(); ++i) {
    const AnswerKind kind = kind_of_noun(words, i);
    if (kind == AnswerKind::any) continue;
    if (first != AnswerKind::any)
      return kind == AnswerKind::percent || kind == AnswerKind::money ? kind : first;
    first = kind;
    if (!tables().weak_noun.contains(words[i])) break;
  }
  return first;
}

AnswerKind answer_kind(const Words& words) {
  const Tables& t = tables();
  if (!has_any(words, t.meaning))
    for (size_t i = 0; i < 5 && i + 1 < words.size(); ++i)
      if (t.colour.contains(words[i])) return AnswerKind::colour;
  const auto found = std::find_if(words.begin(), words.end(), [&](const std::string& word) {
    return t.question_words.contains(word);
  });
  if (found == words.end()) {
    if (!words.empty() && t.yes_or_no.contains(words.front())) return AnswerKind::any;
    return kind_of_nouns(words, 0);
  }
  const auto start = static_cast<size_t>(found - words.begin());
  const AnswerKind kind = kind_of_question_word(words, start);
  if (kind != AnswerKind::any) return kind;
  // "what does the blue line represent": a label, whatever other nouns say.
  if (has_any(words, t.label_verb) && t.label_auxiliary.contains(word_at(words, start + 1)))
    return AnswerKind::text;
  return kind_of_nouns(words, start);
}

// 0 simple, 1 medium, 2 and more complex.
int complexity_points(const Words& words, const std::string& text) {
  const Tables& t = tables();
  int points = (words.size() >= 13) + (words.size() >= 20);
  if (has_any(words, t.comparing)) points += 2;
  for (size_t i = 0; i + 1 < words.size(); ++i) {
    if (words[i] != "how") continue;
    if (words[i + 1] == "many") points += 2;
    if (t.how_process.contains(words[i + 1])) ++points;
  }
  points += has_any(words, t.counting);
  points += has_any(words, t.superlative);
  // Several constraints: "... of A in B for C who D".
  const auto joints = std::count_if(words.begin(), words.end(),
                                    [&](const auto& word) { return t.joint.contains(word); });
  points += joints >= 3;
  points += std::count(text.begin(), text.end(), '?') > 1 && text.find("??") == std::string::npos;
  return points;
}

// 1 - 0.6^n grows with the n words that say where to look; kinds whose answers have a shape of
// their own, numbers and quoted labels add to it; asking for a description halves it.
float specificity_of(const Query& query) {
  int telling = 0;
  bool number = false;
  for (const std::string& word : query.content) {
    telling += !tables().generic.contains(word);
    number = number || std::any_of(word.begin(), word.end(), text::is_digit);
  }
  double value = 1.0 - std::pow(0.6, telling) + kKinds[static_cast<size_t>(query.answer)].second;
  if (number) value += 0.1;
  if (std::count(query.text.begin(), query.text.end(), '"') >= 2) value += 0.1;
  if (has_any(query.words, tables().describing)) value *= 0.5;
  return static_cast<float>(std::min(1.0, value));
}

}  // namespace

const char* to_string(AnswerKind kind) { return kKinds[static_cast<size_t>(kind)].first; }

const char* to_string(Complexity complexity) {
  constexpr const char* kNames[] = {"simple", "medium", "complex"};
  return kNames[static_cast<size_t>(complexity)];
}

Query parse_query(std::string_view text) {
  if (text.size() > kMaxQuestionBytes) {
    throw Error(ErrorCode::too_large, "the question has " + std::to_string(text.size()) +
                                          " bytes; at most " + std::to_string(kMaxQuestionBytes) +
                                          " are allowed");
  }
  const std::string_view trimmed = text::strip(text, " \t\r\n\v\f");
  if (trimmed.empty()) {
    throw Error(ErrorCode::bad_argument, "the question is empty: ask something about the picture");
  }
  const size_t bad = text::invalid_utf8_at(trimmed);
  if (bad != std::string_view::npos) {
    throw Error(ErrorCode::bad_argument,
                "the question is not valid UTF-8 (byte " + std::to_string(bad) + ")");
  }
  Query query;
  query.text = std::string(trimmed);
  query.words = text::split_words(trimmed);
  for (const std::string& word : query.words) {
    if (!tables().stop.contains(word)) query.content.push_back(word);
  }
  query.answer = answer_kind(query.words);
  if (query.answer == AnswerKind::any) {
    // A row of numbers, one left out: another number is wanted.
    const auto numbers =
        std::count_if(query.words.begin(), query.words.end(),
                      [](const auto& word) { return text::is_digit(word.front()); });
    if (numbers >= 3) query.answer = AnswerKind::number;
  }
  const int points = complexity_points(query.words, query.text);
  query.complexity = static_cast<Complexity>(std::min(points, 2));
  query.computes = has_any(query.words, tables().computing);
  query.specificity = specificity_of(query);
  return query;
}

}  // namespace arrcoc
