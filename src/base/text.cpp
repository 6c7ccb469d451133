#include "base/text.h"

namespace arrcoc::text {
namespace {

int continuation_bytes(unsigned char lead) {
  if (lead < 0x80) return 0;
  if (lead >= 0xC2 && lead <= 0xDF) return 1;
  if (lead >= 0xE0 && lead <= 0xEF) return 2;
  if (lead >= 0xF0 && lead <= 0xF4) return 3;
  return -1;
}

// Decodes at `at`; length 0 when broken.
char32_t decode(std::string_view text, size_t at, size_t& length) {
  length = 0;
  const auto lead = static_cast<unsigned char>(text[at]);
  const int more = continuation_bytes(lead);
  if (more < 0 || at + more >= text.size()) return 0xFFFD;
  if (more == 0) {
    length = 1;
    return lead;
  }
  char32_t code = lead & (0x3F >> more);
  for (int i = 1; i <= more; ++i) {
    const auto byte = static_cast<unsigned char>(text[at + i]);
    if ((byte & 0xC0) != 0x80) return 0xFFFD;
    code = (code << 6) | (byte & 0x3F);
  }
  const bool overlong = (more == 2 && code < 0x800) || (more == 3 && code < 0x10000);
  if (overlong || code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF)) return 0xFFFD;
  length = static_cast<size_t>(more) + 1;
  return code;
}

bool is_apostrophe(char32_t code) { return code == '\'' || code == 0x2019; }

bool is_word_sign(char32_t code) {
  return code == '%' || code == '#' || code == '&' || is_currency(code);
}

bool joins_digits(char32_t code) {
  return code == '.' || code == ',' || code == '/' || code == ':' || code == '-';
}

std::vector<char32_t> decode_all(std::string_view text) {
  std::vector<char32_t> out;
  out.reserve(text.size());
  for (size_t at = 0; at < text.size();) out.push_back(lower(next_code_point(text, at)));
  return out;
}

}  // namespace

size_t invalid_utf8_at(std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    size_t length = 0;
    const char32_t code = decode(text, at, length);
    if (length == 0 || code == 0) return at;
    at += length;
  }
  return std::string_view::npos;
}

char32_t next_code_point(std::string_view text, size_t& at) {
  size_t length = 0;
  const char32_t code = decode(text, at, length);
  at += length == 0 ? 1 : length;
  return code;
}

void append_utf8(std::string& out, char32_t code) {
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xC0 | (code >> 6));
    out += static_cast<char>(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    out += static_cast<char>(0xE0 | (code >> 12));
    out += static_cast<char>(0x80 | ((code >> 6) & 0x3F));
    out += static_cast<char>(0x80 | (code & 0x3F));
  } else {
    out += static_cast<char>(0xF0 | (code >> 18));
    out += static_cast<char>(0x80 | ((code >> 12) & 0x3F));
    out += static_cast<char>(0x80 | ((code >> 6) & 0x3F));
    out += static_cast<char>(0x80 | (code & 0x3F));
  }
}

std::string_view strip(std::string_view text, std::string_view ends) {
  const size_t first = text.find_first_not_of(ends);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(ends) - first + 1);
}

char32_t lower(char32_t code) {
  if (code >= 'A' && code <= 'Z') return code + 32;
  if (code < 0xC0) return code;
  if (code <= 0xDE) return code == 0xD7 ? code : code + 32;
  // Latin Extended-A: pairs of upper and lower; their parity changes at three letters.
  if (code >= 0x100 && code <= 0x137 && code != 0x130) return code | 1;
  if (code >= 0x139 && code <= 0x148) return (code & 1) != 0 ? code + 1 : code;
  if (code >= 0x14A && code <= 0x177) return code | 1;
  if (code == 0x178) return 0xFF;
  if (code >= 0x179 && code <= 0x17E) return (code & 1) != 0 ? code + 1 : code;
  if (code >= 0x391 && code <= 0x3A9 && code != 0x3A2) return code + 32;
  if (code >= 0x410 && code <= 0x42F) return code + 32;
  if (code >= 0x400 && code <= 0x40F) return code + 80;
  return code;
}

bool is_digit(char32_t code) { return code >= '0' && code <= '9'; }

bool is_letter(char32_t code) {
  if (code < 0x80) return (code >= 'a' && code <= 'z') || (code >= 'A' && code <= 'Z');
  if (code < 0xC0) return code == 0xAA || code == 0xB5 || code == 0xBA;
  if (code == 0xD7 || code == 0xF7 || code == 0xFFFD) return false;
  // Punctuation, currency, arrows, mathematics, boxes, dingbats and CJK punctuation.
  if (code >= 0x2000 && code <= 0x2BFF) return false;
  if (code >= 0x3000 && code <= 0x303F) return false;
  if (code >= 0xFE10 && code <= 0xFE6F) return false;
  if (code >= 0xFF00 && code <= 0xFF20) return false;
  return true;
}

bool is_currency(char32_t code) {
  return code == '$' || (code >= 0xA2 && code <= 0xA5) || (code >= 0x20A0 && code <= 0x20CF);
}

std::vector<std::string> split_words(std::string_view text) {
  const std::vector<char32_t> codes = decode_all(text);
  const auto at = [&](size_t i) { return i < codes.size() ? codes[i] : U' '; };
  const auto in_word = [&](char32_t c) { return is_letter(c) || is_digit(c) || is_word_sign(c); };
  std::vector<std::string> words;
  std::string word;
  size_t length = 0;      // code points in `word`
  bool initials = false;  // "u.s": single letters between dots
  const auto finish = [&] {
    if (!word.empty()) words.push_back(word);
    word.clear();
    length = 0;
    initials = false;
  };
  for (size_t i = 0; i < codes.size(); ++i) {
    const char32_t c = codes[i];
    if (in_word(c)) {
      append_utf8(word, c);
      ++length;
      continue;
    }
    if (word.empty()) continue;
    const char32_t before = codes[i - 1];
    const char32_t after = at(i + 1);
    if (joins_digits(c) && is_digit(before) && is_digit(after)) {
      append_utf8(word, c);
      ++length;
    } else if (c == '.' && is_letter(before) && is_letter(after) && (length == 1 || initials) &&
               !is_letter(at(i + 2))) {
      initials = true;
    } else if (is_apostrophe(c) && is_letter(before) && is_letter(after)) {
      if (after == 's' && !in_word(at(i + 2))) {
        ++i;  // possessive: "Iran's", and "what's"
        finish();
      } else {
        word += '\'';
        ++length;
      }
    } else {
      finish();
    }
  }
  finish();
  return words;
}

}  // namespace arrcoc::text
