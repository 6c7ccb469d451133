// What is asked: the question's words and what kind of answer they want.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace arrcoc {

inline constexpr size_t kMaxQuestionBytes = 8192;

enum class AnswerKind { any, money, date, time, number, percent, name, phone, place, text, colour };
enum class Complexity { simple, medium, complex };

const char* to_string(AnswerKind kind);
const char* to_string(Complexity complexity);

struct Query {
  std::string text;                // as given, surrounding white space removed
  std::vector<std::string> words;  // lower case, split at everything but letters, digits, % $ etc.
  std::vector<std::string> content;  // words without articles, auxiliaries and question words
  AnswerKind answer = AnswerKind::any;
  Complexity complexity = Complexity::simple;
  bool computes = false;  // asks for a sum, a mean, a ratio...: what stands nowhere
  float specificity = 0;  // 0 "describe this" .. 1 "the total on line 3"
  bool vague() const { return specificity < 0.25F; }
};

// Throws Error{bad_argument} for an empty question or one that is not valid UTF-8, and
// Error{too_large} above kMaxQuestionBytes.
Query parse_query(std::string_view text);

}  // namespace arrcoc
