#include "base/text.h"
#include "models/tiny/tiny.h"

namespace arrcoc::tiny {
namespace {

constexpr int kFirst = 3;   // symbol of the space
constexpr int kAscii = 95;  // 32..126
constexpr char32_t kEuro = 0x20AC;

// The next code point of utf8 at `at`, which moves on; 0 for broken bytes.
char32_t next_code(std::string_view utf8, size_t& at) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(utf8[i]); };
  const unsigned char lead = byte(at);
  int more = lead < 0x80 ? 0 : (lead & 0xE0) == 0xC0 ? 1 : (lead & 0xF0) == 0xE0 ? 2 : 3;
  if (lead >= 0xF8 || (lead & 0xC0) == 0x80) more = -1;
  ++at;
  if (more < 0) return 0;
  if (more == 0) return lead;
  char32_t code = lead & (0x3F >> more);
  for (int i = 0; i < more; ++i, ++at) {
    if (at >= utf8.size() || (byte(at) & 0xC0) != 0x80) return 0;
    code = (code << 6) | (byte(at) & 0x3F);
  }
  return code;
}

}  // namespace

int symbol_of(char32_t code) {
  if (code >= 32 && code <= 126) return kFirst + static_cast<int>(code - 32);
  if (code >= 160 && code <= 255) return kFirst + kAscii + static_cast<int>(code - 160);
  if (code == kEuro) return kFirst + kAscii + 96;
  return kUnknown;
}

char32_t code_of(int symbol) {
  if (symbol < kFirst) return 0;
  if (symbol < kFirst + kAscii) return static_cast<char32_t>(symbol - kFirst + 32);
  if (symbol < kFirst + kAscii + 96) return static_cast<char32_t>(symbol - kFirst - kAscii + 160);
  return symbol == kFirst + kAscii + 96 ? kEuro : 0;
}

std::vector<uint8_t> encode(std::string_view utf8) {
  std::vector<uint8_t> out;
  out.reserve(utf8.size());
  for (size_t at = 0; at < utf8.size();)
    out.push_back(static_cast<uint8_t>(symbol_of(next_code(utf8, at))));
  return out;
}

std::string decode(const std::vector<uint8_t>& symbols) {
  std::string out;
  for (uint8_t symbol : symbols) {
    if (symbol == kEnd) break;
    if (char32_t code = code_of(symbol)) text::append_utf8(out, code);
  }
  return out;
}

std::vector<uint8_t> encode_question(std::string_view utf8, bool* shortened) {
  std::vector<uint8_t> all = encode(utf8);
  const bool cut = all.size() > static_cast<size_t>(kMaxQuestion);
  if (shortened) *shortened = cut;
  if (!cut) return all;
  constexpr int kTail = 64;
  std::vector<uint8_t> out(all.begin(), all.begin() + (kMaxQuestion - kTail));
  out.insert(out.end(), all.end() - kTail, all.end());
  return out;
}

}  // namespace arrcoc::tiny
