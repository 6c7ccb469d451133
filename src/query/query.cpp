// The question's words, and rules of thumb about what kind of answer they ask for.
#include "arrcoc/query.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <unordered_map>
#include <unordered_set>

#include "arrcoc/error.h"
#include "query/query_text.h"

namespace arrcoc {
namespace {

using Words = std::vector<std::string>;
using WordSet = std::unordered_set<std::string>;

// Articles, auxiliaries, question words, pronouns and prepositions: never looked for on the page.
const WordSet& stop_words() {
  static const WordSet set = {
      "a",     "an",    "the",    "is",   "are",   "was",    "were", "be",    "been",  "being",
      "am",    "do",    "does",   "did",  "has",   "have",   "had",  "can",   "could", "will",
      "would", "shall", "should", "may",  "might", "must",   "what", "which", "who",   "whom",
      "whose", "when",  "where",  "why",  "how",   "this",   "that", "these", "those", "there",
      "here",  "it",    "its",    "i",    "you",   "your",   "we",   "our",   "they",  "their",
      "them",  "he",    "his",    "she",  "her",   "him",    "me",   "my",    "of",    "in",
      "on",    "at",    "to",     "for",  "from",  "by",     "with", "as",    "into",  "and",
      "or",    "if",    "than",   "then", "so",    "please", "many", "much",  "about", "also",
      "upon",  "per",   "any",    "some", "such"};
  return set;
}

// Words that name the picture or the act of asking: they say nothing about where to look.
const WordSet& generic_words() {
  static const WordSet set = {
      "picture",   "image",    "photo",       "photograph", "scene",     "page",       "document",
      "shown",     "show",     "shows",       "showing",    "see",       "seen",       "look",
      "looking",   "given",    "mentioned",   "written",    "printed",   "depicted",   "displayed",
      "visible",   "describe", "explain",     "summarize",  "summarise", "tell",       "find",
      "list",      "thing",    "things",      "something",  "anything",  "everything", "stuff",
      "happening", "going",    "doing",       "content",    "contents",  "detail",     "details",
      "detailed",  "present",  "object",      "objects",    "provide",   "give",       "overview",
      "caption",   "summary",  "description", "identify",   "caption",   "all",        "view"};
  return set;
}

struct KindWord {
  const char* word;
  AnswerKind kind;
};

// The noun asked for -> the kind of answer. The first one in the question decides.
constexpr KindWord kKindWords[] = {
    {"amount", AnswerKind::money},
    {"price", AnswerKind::money},
    {"cost", AnswerKind::money},
    {"costs", AnswerKind::money},
    {"fee", AnswerKind::money},
    {"fees", AnswerKind::money},
    {"balance", AnswerKind::money},
    {"subtotal", AnswerKind::money},
    {"tax", AnswerKind::money},
    {"gst", AnswerKind::money},
    {"vat", AnswerKind::money},
    {"salary", AnswerKind::money},
    {"payment", AnswerKind::money},
    {"paid", AnswerKind::money},
    {"cash", AnswerKind::money},
    {"discount", AnswerKind::money},
    {"revenue", AnswerKind::money},
    {"expense", AnswerKind::money},
    {"expenses", AnswerKind::money},
    {"budget", AnswerKind::money},
    {"charge", AnswerKind::money},
    {"charges", AnswerKind::money},
    {"dollars", AnswerKind::money},
    {"dollar", AnswerKind::money},
    {"money", AnswerKind::money},
    {"sum", AnswerKind::money},
    {"$", AnswerKind::money},
    {"date", AnswerKind::date},
    {"dated", AnswerKind::date},
    {"day", AnswerKind::date},
    {"year", AnswerKind::date},
    {"month", AnswerKind::date},
    {"deadline", AnswerKind::date},
    {"birthday", AnswerKind::date},
    {"time", AnswerKind::time},
    {"hour", AnswerKind::time},
    {"o'clock", AnswerKind::time},
    {"percent", AnswerKind::percent},
    {"percentage", AnswerKind::percent},
    {"%", AnswerKind::percent},
    {"share", AnswerKind::percent},
    {"proportion", AnswerKind::percent},
    {"phone", AnswerKind::phone},
    {"telephone", AnswerKind::phone},
    {"tel", AnswerKind::phone},
    {"mobile", AnswerKind::phone},
    {"fax", AnswerKind::phone},
    {"telefax", AnswerKind::phone},
    {"number", AnswerKind::number},
    {"no", AnswerKind::number},
    {"num", AnswerKind::number},
    {"#", AnswerKind::number},
    {"count", AnswerKind::number},
    {"value", AnswerKind::number},
    {"quantity", AnswerKind::number},
    {"qty", AnswerKind::number},
    {"height", AnswerKind::number},
    {"weight", AnswerKind::number},
    {"width", AnswerKind::number},
    {"length", AnswerKind::number},
    {"depth", AnswerKind::number},
    {"size", AnswerKind::number},
    {"age", AnswerKind::number},
    {"level", AnswerKind::number},
    {"score", AnswerKind::number},
    {"mean", AnswerKind::number},
    {"average", AnswerKind::number},
    {"median", AnswerKind::number},
    {"ratio", AnswerKind::number},
    {"rate", AnswerKind::number},
    {"temperature", AnswerKind::number},
    {"population", AnswerKind::number},
    {"id", AnswerKind::number},
    {"code", AnswerKind::number},
    {"zip", AnswerKind::number},
    {"maximum", AnswerKind::number},
    {"minimum", AnswerKind::number},
    {"highest", AnswerKind::number},
    {"lowest", AnswerKind::number},
    {"name", AnswerKind::name},
    {"names", AnswerKind::name},
    {"company", AnswerKind::name},
    {"vendor", AnswerKind::name},
    {"store", AnswerKind::name},
    {"shop", AnswerKind::name},
    {"merchant", AnswerKind::name},
    {"seller", AnswerKind::name},
    {"supplier", AnswerKind::name},
    {"restaurant", AnswerKind::name},
    {"author", AnswerKind::name},
    {"sender", AnswerKind::name},
    {"recipient", AnswerKind::name},
    {"signature", AnswerKind::name},
    {"signed", AnswerKind::name},
    {"person", AnswerKind::name},
    {"brand", AnswerKind::name},
    {"organization", AnswerKind::name},
    {"organisation", AnswerKind::name},
    {"agency", AnswerKind::name},
    {"university", AnswerKind::name},
    {"president", AnswerKind::name},
    {"director", AnswerKind::name},
    {"manager", AnswerKind::name},
    {"chairman", AnswerKind::name},
    {"address", AnswerKind::place},
    {"city", AnswerKind::place},
    {"country", AnswerKind::place},
    {"state", AnswerKind::place},
    {"location", AnswerKind::place},
    {"place", AnswerKind::place},
    {"street", AnswerKind::place},
    {"venue", AnswerKind::place},
    {"region", AnswerKind::place},
    {"town", AnswerKind::place},
    {"title", AnswerKind::text},
    {"heading", AnswerKind::text},
    {"subject", AnswerKind::text},
    {"text", AnswerKind::text},
    {"word", AnswerKind::text},
    {"words", AnswerKind::text},
    {"label", AnswerKind::text},
    {"caption", AnswerKind::text},
    {"sign", AnswerKind::text},
    {"represent", AnswerKind::text},
    {"represents", AnswerKind::text},
    {"represented", AnswerKind::text},
    {"indicate", AnswerKind::text},
    {"indicates", AnswerKind::text},
    {"purpose", AnswerKind::text},
    {"designation", AnswerKind::text},
    {"category", AnswerKind::text},
    {"type", AnswerKind::text},
};

const std::unordered_map<std::string, AnswerKind>& kind_words() {
  static const std::unordered_map<std::string, AnswerKind> table = [] {
    std::unordered_map<std::string, AnswerKind> out;
    for (const KindWord& entry : kKindWords) out.emplace(entry.word, entry.kind);
    return out;
  }();
  return table;
}

bool is_any_of(const std::string& word, std::initializer_list<const char*> list) {
  return std::any_of(list.begin(), list.end(), [&](const char* other) { return word == other; });
}

bool has_any(const Words& words, std::initializer_list<const char*> list) {
  return std::any_of(words.begin(), words.end(),
                     [&](const std::string& word) { return is_any_of(word, list); });
}

const std::string& word_at(const Words& words, size_t index) {
  static const std::string none;
  return index < words.size() ? words[index] : none;
}

bool is_wh(const std::string& word) {
  return is_any_of(word, {"what", "which", "who", "whom", "whose", "when", "where", "how", "why"});
}

// "total" is money on a bill, but a count in "total number of ...".
AnswerKind kind_of_total(const Words& words, size_t index) {
  for (size_t next = index + 1; next < words.size(); ++next) {
    if (stop_words().count(words[next]) != 0) continue;
    const auto known = kind_words().find(words[next]);
    if (known == kind_words().end()) continue;
    return known->second == AnswerKind::number ? AnswerKind::number : AnswerKind::money;
  }
  return AnswerKind::money;
}

AnswerKind kind_of_noun(const Words& words, size_t index) {
  const std::string& word = words[index];
  if (word == "total" || word == "totals") return kind_of_total(words, index);
  const auto known = kind_words().find(word);
  if (known == kind_words().end()) return AnswerKind::any;
  // "phone number", "invoice date", "percentage value": the more telling of two nouns in a row.
  const auto next = kind_words().find(word_at(words, index + 1));
  if (next != kind_words().end() && known->second == AnswerKind::number &&
      next->second != AnswerKind::text) {
    return next->second;
  }
  if (known->second == AnswerKind::name && next != kind_words().end()) return next->second;
  return known->second;
}

// The kind that the question word itself decides; `any` when it leaves the choice to the nouns.
AnswerKind kind_of_wh(const Words& words, size_t index) {
  const std::string& wh = words[index];
  const std::string& next = word_at(words, index + 1);
  if (wh == "when") return AnswerKind::date;
  if (wh == "where") return AnswerKind::place;
  if (wh == "who" || wh == "whom" || wh == "whose") return AnswerKind::name;
  if (wh == "how") {
    if (next == "much") {
      return has_any(words, {"percent", "percentage", "%"}) ? AnswerKind::percent
                                                            : AnswerKind::money;
    }
    if (is_any_of(next, {"many", "long", "tall", "old", "far", "high", "wide", "heavy", "big",
                         "large", "deep", "fast", "often"})) {
      return AnswerKind::number;
    }
    return AnswerKind::any;
  }
  if (wh == "why") return AnswerKind::text;
  if (is_any_of(next, {"color", "colour", "colors", "colours"})) return AnswerKind::colour;
  if (next.empty() || stop_words().count(next) != 0) return AnswerKind::any;
  const AnswerKind noun = kind_of_noun(words, index + 1);
  if (noun != AnswerKind::any) {
    // "what age group", "which price category": the head noun comes last.
    const std::string& after = word_at(words, index + 2);
    if (is_any_of(after, {"group", "category", "range", "type", "class"})) return AnswerKind::text;
    return noun;
  }
  // "which side ...", "what treatment date ...": an unknown noun is a label, unless it qualifies
  // a known one.
  const AnswerKind head = index + 2 < words.size() ? kind_of_noun(words, index + 2) : noun;
  return head != AnswerKind::any && head != AnswerKind::text ? head : AnswerKind::text;
}

AnswerKind answer_kind(const Words& words) {
  if (has_any(words, {"color", "colour"}) &&
      !has_any(words, {"represent", "represents", "indicate", "indicates", "mean", "means"})) {
    for (size_t i = 0; i + 1 < words.size(); ++i) {
      if (is_any_of(words[i], {"color", "colour"}) && i < 5) return AnswerKind::colour;
    }
  }
  const auto wh = std::find_if(words.begin(), words.end(), is_wh);
  const size_t start = wh == words.end() ? 0 : static_cast<size_t>(wh - words.begin());
  if (wh != words.end()) {
    const AnswerKind kind = kind_of_wh(words, start);
    if (kind != AnswerKind::any) return kind;
    // "what does the blue line represent": a label, whatever other nouns say.
    if (has_any(words, {"represent", "represents", "represented", "indicate", "indicates"}) &&
        is_any_of(word_at(words, start + 1), {"do", "does", "did"})) {
      return AnswerKind::text;
    }
  } else if (!words.empty() &&
             is_any_of(words.front(), {"is", "are", "was", "were", "do", "does", "did", "has",
                                       "have", "can", "could", "will", "should"})) {
    return AnswerKind::any;  // yes or no
  }
  AnswerKind first = AnswerKind::any;
  for (size_t i = start; i < words.size(); ++i) {
    const AnswerKind kind = kind_of_noun(words, i);
    if (kind == AnswerKind::any) continue;
    // "the value ... in percent" and "the date and number": the first noun decides, except that
    // "highest" or "value" give way to something more telling right behind them.
    if (first == AnswerKind::any) {
      first = kind;
      if (!is_any_of(words[i], {"highest", "lowest", "maximum", "minimum", "value"})) break;
    } else {
      if (kind == AnswerKind::percent || kind == AnswerKind::money) first = kind;
      break;
    }
  }
  return first;
}

// 0 simple, 1 medium, 2 and more complex.
int complexity_points(const Words& words, const std::string& text) {
  int points = 0;
  if (words.size() >= 13) ++points;
  if (words.size() >= 20) ++points;
  if (has_any(words, {"compare",   "compared",     "comparison", "difference", "differ",
                      "versus",    "vs",           "than",       "between",    "sum",
                      "ratio",     "why",          "explain",    "describe",   "summarize",
                      "summarise", "relationship", "trend",      "list",       "caption"})) {
    points += 2;
  }
  for (size_t i = 0; i + 1 < words.size(); ++i) {
    if (words[i] == "how" && words[i + 1] == "many") points += 2;
    if (words[i] == "how" && is_any_of(words[i + 1], {"does", "do", "did", "is", "are", "can"}))
      points += 1;
  }
  if (has_any(words, {"count", "all", "each", "every", "both"})) ++points;
  if (has_any(words, {"highest", "lowest", "largest", "smallest", "biggest", "most", "least",
                      "more", "less", "fewest", "maximum", "minimum", "longest", "shortest", "peak",
                      "second", "third", "average"})) {
    ++points;
  }
  // Several constraints: "... of A in B for C who D".
  const auto joints = std::count_if(words.begin(), words.end(), [](const std::string& word) {
    return is_any_of(word, {"in", "for", "of", "who", "with", "that", "where", "on", "from", "and",
                            "or", "if", "when", "by"});
  });
  if (joints >= 3) ++points;
  if (std::count(text.begin(), text.end(), '?') > 1 && text.find("??") == std::string::npos)
    ++points;
  return points;
}

// 1 - 0.6^n grows with the n words that say where to look; kinds with a look of their own, numbers
// and quoted labels add to it; asking for a description halves it.
float specificity_of(const Query& query) {
  int telling = 0;
  bool number = false;
  for (const std::string& word : query.content) {
    if (generic_words().count(word) == 0) ++telling;
    number = number ||
             std::any_of(word.begin(), word.end(), [](char c) { return c >= '0' && c <= '9'; });
  }
  double value = 1.0 - std::pow(0.6, telling);
  switch (query.answer) {
    case AnswerKind::money:
    case AnswerKind::date:
    case AnswerKind::time:
    case AnswerKind::percent:
    case AnswerKind::phone:
      value += 0.3;
      break;
    case AnswerKind::number:
    case AnswerKind::name:
    case AnswerKind::place:
    case AnswerKind::colour:
      value += 0.15;
      break;
    case AnswerKind::any:
    case AnswerKind::text:
      break;
  }
  if (number) value += 0.1;
  if (std::count(query.text.begin(), query.text.end(), '"') >= 2) value += 0.1;
  if (has_any(query.words, {"describe", "explain", "summarize", "summarise", "overview", "summary",
                            "caption"})) {
    value *= 0.5;
  }
  return static_cast<float>(std::min(1.0, value));
}

std::string_view trim(std::string_view text) {
  const auto space = " \t\r\n\v\f";
  const size_t first = text.find_first_not_of(space);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(space) - first + 1);
}

}  // namespace

const char* to_string(AnswerKind kind) {
  switch (kind) {
    case AnswerKind::any:
      return "any";
    case AnswerKind::money:
      return "money";
    case AnswerKind::date:
      return "date";
    case AnswerKind::time:
      return "time";
    case AnswerKind::number:
      return "number";
    case AnswerKind::percent:
      return "percent";
    case AnswerKind::name:
      return "name";
    case AnswerKind::phone:
      return "phone";
    case AnswerKind::place:
      return "place";
    case AnswerKind::text:
      return "text";
    case AnswerKind::colour:
      return "colour";
  }
  return "any";
}

const char* to_string(Complexity complexity) {
  switch (complexity) {
    case Complexity::simple:
      return "simple";
    case Complexity::medium:
      return "medium";
    case Complexity::complex:
      return "complex";
  }
  return "simple";
}

Query parse_query(std::string_view text) {
  if (text.size() > kMaxQuestionBytes) {
    throw Error(ErrorCode::too_large, "the question has " + std::to_string(text.size()) +
                                          " bytes; at most " + std::to_string(kMaxQuestionBytes) +
                                          " are allowed");
  }
  const std::string_view trimmed = trim(text);
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
    if (stop_words().count(word) == 0) query.content.push_back(word);
  }
  query.answer = answer_kind(query.words);
  if (query.answer == AnswerKind::any) {
    // A row of numbers, one left out: another number is wanted.
    const auto numbers = std::count_if(query.words.begin(), query.words.end(), [](const auto& w) {
      return w.front() >= '0' && w.front() <= '9';
    });
    if (numbers >= 3) query.answer = AnswerKind::number;
  }
  const int points = complexity_points(query.words, query.text);
  query.complexity = points == 0   ? Complexity::simple
                     : points == 1 ? Complexity::medium
                                   : Complexity::complex;
  query.specificity = specificity_of(query);
  return query;
}

}  // namespace arrcoc
