// Tokens outside the model's vocabulary, found in the text before anything else looks at it.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "models/tokenizers/unicode.h"

namespace arrcoc::tokenizers {

struct AddedToken {
  std::string content;
  int64_t id = 0;
  bool single_word = false;  // only between word boundaries
  bool lstrip = false;       // takes the white space before it along
  bool rstrip = false;
  bool normalized = false;  // looked for after normalising
  bool special = false;
};

struct Segment {
  Span span;
  int64_t id = -1;  // -1: ordinary text
};

class AddedTokens {
 public:
  void add(const AddedToken& token);
  // The text cut at the leftmost, longest tokens.
  std::vector<Segment> split(std::string_view text) const;

 private:
  const AddedToken* match(std::string_view text, size_t at) const;
  std::array<std::vector<AddedToken>, 256> by_first_byte_;  // longest first
};

}  // namespace arrcoc::tokenizers
