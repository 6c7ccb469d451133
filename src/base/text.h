// Text: UTF-8, lower case, words.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace arrcoc::text {

// Offset of the first byte that is not part of valid UTF-8; npos when all is valid. Overlong forms,
// surrogates and values past U+10FFFF are invalid, and so are zero bytes.
size_t invalid_utf8_at(std::string_view text);

// The code point that starts at `at` of valid UTF-8, and moves `at` behind it. A broken sequence
// gives U+FFFD and moves one byte.
char32_t next_code_point(std::string_view text, size_t& at);
void append_utf8(std::string& out, char32_t code);

// The text without the characters of `ends` at both ends.
std::string_view strip(std::string_view text, std::string_view ends);

// Simple lower case: Latin, Greek and Cyrillic. Independent of the locale.
char32_t lower(char32_t code);
bool is_digit(char32_t code);
bool is_letter(char32_t code);
bool is_currency(char32_t code);

// Lower-case words: runs of letters, digits, % # & and currency signs. . , / : - stay inside a run
// only between digits ("10/17/67", "30-49", "8.50"), an apostrophe only between letters, without a
// possessive s; "u.s." becomes "us".
std::vector<std::string> split_words(std::string_view text);

}  // namespace arrcoc::text
