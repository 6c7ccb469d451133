// UTF-8, regular expressions and normal forms for the tokenizers (ICU behind it).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "models/settings.h"

namespace arrcoc::tokenizers {

// Valid UTF-8: every broken byte sequence becomes U+FFFD.
std::string valid_utf8(std::string_view bytes);

// Bytes of the character that starts at text[at]; text is valid UTF-8, at < size.
size_t character_bytes(std::string_view text, size_t at);
char32_t character(std::string_view text, size_t at);
void append(std::string& text, char32_t character);

bool is_space(char32_t character);        // Unicode White_Space
bool is_word(char32_t character);         // letters, digits, marks, underscore
bool is_numeric(char32_t character);      // categories Nd Nl No
bool is_punctuation(char32_t character);  // ASCII punctuation and category P
bool is_mark(char32_t character);         // category M

enum class NormalForm { nfc, nfd, nfkc, nfkd };
std::string normal_form(std::string_view text, NormalForm form);
std::string lower(std::string_view text);
// Grapheme clusters in order.
std::vector<std::string_view> graphemes(std::string_view text);

struct Span {
  size_t begin = 0;
  size_t end = 0;
};

// A literal string or a regular expression.
class Pattern {
 public:
  static Pattern literal(std::string text);
  // Error{bad_json} naming `file` when it does not compile.
  static Pattern regex(const std::string& expression, const std::string& file);
  // The setting "pattern": a string, {"String": s} or {"Regex": r}.
  static Pattern from(const Settings& settings);

  // Matches that are not empty, in order, in bytes of `text` (valid UTF-8).
  // Error{too_large} when matching takes unreasonably long or deep.
  std::vector<Span> find(std::string_view text) const;
  std::string replace(std::string_view text, const std::string& by) const;

 private:
  struct Compiled;
  std::string literal_;
  std::shared_ptr<const Compiled> compiled_;
};

}  // namespace arrcoc::tokenizers
