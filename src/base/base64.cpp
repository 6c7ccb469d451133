#include "base/base64.h"

#include <array>

#include "arrcoc/error.h"

namespace arrcoc {

namespace {

constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

std::array<int8_t, 256> digit_values() {
  std::array<int8_t, 256> values;
  values.fill(-1);
  for (int8_t i = 0; i < 64; ++i) values[static_cast<unsigned char>(kDigits[i])] = i;
  return values;
}

}  // namespace

std::string to_base64(const std::vector<uint8_t>& bytes) {
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t i = 0; i < bytes.size(); i += 3) {
    const size_t left = bytes.size() - i;
    const uint32_t v =
        bytes[i] << 16 | (left > 1 ? bytes[i + 1] << 8 : 0) | (left > 2 ? bytes[i + 2] : 0);
    out += kDigits[v >> 18];
    out += kDigits[v >> 12 & 63];
    out += left > 1 ? kDigits[v >> 6 & 63] : '=';
    out += left > 2 ? kDigits[v & 63] : '=';
  }
  return out;
}

std::vector<uint8_t> from_base64(std::string_view text) {
  static const std::array<int8_t, 256> values = digit_values();
  while (!text.empty() && text.back() == '=') text.remove_suffix(1);
  if (text.size() % 4 == 1) throw Error(ErrorCode::bad_argument, "the base64 text is cut off");
  std::vector<uint8_t> out;
  out.reserve(text.size() * 3 / 4);
  uint32_t bits = 0;
  int count = 0;
  for (char c : text) {
    const int8_t v = values[static_cast<unsigned char>(c)];
    if (v < 0) throw Error(ErrorCode::bad_argument, "the picture is not base64");
    bits = bits << 6 | static_cast<uint32_t>(v);
    if ((count += 6) < 8) continue;
    count -= 8;
    out.push_back(static_cast<uint8_t>(bits >> count));
  }
  return out;
}

}  // namespace arrcoc
