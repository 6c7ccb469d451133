// What kind of text answers a question? A table of words that was fitted on questions and answers
// (`arrcoc eval --kinds`, kinds.json beside the weights); no network.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace arrcoc::tiny {

// What an answer looks like: a whole number, a year, a number with a point or commas, with a
// percent sign, with a currency, a date, other signs with digits alone (telephones, times), digits
// and letters, one word, two or three, more.
enum class AnswerShape {
  whole,
  year,
  decimal,
  percent,
  money,
  date,
  digits,
  mixed,
  word,
  words,
  text
};
inline constexpr size_t kShapes = 11;
AnswerShape shape_of(const std::string& answer);

// What of a question tells the shape of its answer: its words ("#" for a number), each once, and
// "which", "what" and "how" together with the word behind them ("how many"). Lower case.
std::vector<std::string> asking_words(const std::string& question);

struct KindTable {
  using Row = std::array<float, kShapes>;
  std::map<std::string, Row> rows;  // by asking word; "" is always added
  double usual = 0;                 // mean of log chance over the right answers of the fit
  // [kShapes], sums to 1: softmax of the rows of the question's words.
  std::array<double, kShapes> chances(const std::string& question) const;
};
// Log chance of the answer's shape less the usual one: below 0 for "48" to "which appendix?". 0,
// which speaks neither for nor against, without a table and for "none" and no answer.
double kind_sign(const KindTable* table, const std::string& question, const std::string& answer);

KindTable kinds_from_json(const std::string& text);  // Error{bad_json}
std::string to_json(const KindTable& table);
// Of kinds.json there; null where there is none.
std::shared_ptr<const KindTable> kinds_of(const std::string& folder);

}  // namespace arrcoc::tiny
