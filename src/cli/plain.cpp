#include "cli/plain.h"

#include <cstdio>

#include "base/text.h"

namespace arrcoc::cli {

namespace {

bool drives_terminals(char32_t c) {
  const bool control = (c < 0x20 && c != '\n' && c != '\t') || (c >= 0x7f && c <= 0x9f);
  const bool direction = (c >= 0x202a && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
  return control || direction;
}

// More bytes may make it a character.
bool begun(std::string_view text) {
  const auto first = static_cast<unsigned char>(text[0]);
  const size_t size = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc2 ? 2 : 1;
  if (first > 0xf4 || text.size() >= size) return false;
  for (const char c : text.substr(1))
    if ((static_cast<unsigned char>(c) & 0xc0U) != 0x80) return false;
  return true;
}

}  // namespace

PlainOutput::~PlainOutput() {
  pass(true);
  out_.rdbuf(target_);
}

bool PlainOutput::pass(bool last) {
  std::string plain;
  size_t at = 0;
  while (at < held_.size() && (last || !begun(std::string_view(held_).substr(at)))) {
    const char32_t code = text::next_code_point(held_, at);
    if (drives_terminals(code)) {
      char spelled[8];
      std::snprintf(spelled, sizeof spelled, "\\u%04x", static_cast<unsigned>(code));
      plain += spelled;
    } else {
      text::append_utf8(plain, code);
    }
  }
  held_.erase(0, at);
  const auto size = static_cast<std::streamsize>(plain.size());
  return target_->sputn(plain.data(), size) == size;
}

int PlainOutput::overflow(int c) {
  if (c == traits_type::eof()) return traits_type::not_eof(c);
  const std::scoped_lock lock(mutex_);
  held_ += static_cast<char>(c);
  return pass(false) ? c : traits_type::eof();
}

std::streamsize PlainOutput::xsputn(const char* text, std::streamsize size) {
  const std::scoped_lock lock(mutex_);
  held_.append(text, static_cast<size_t>(size));
  return pass(false) ? size : 0;
}

}  // namespace arrcoc::cli
