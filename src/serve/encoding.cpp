#include "serve/encoding.h"

#include <openssl/crypto.h>
#include <openssl/rand.h>

#include <array>

#include "arrcoc/error.h"
#include "base/sha256.h"

namespace arrcoc::serving {

namespace {

constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

std::array<int8_t, 256> digit_values() {
  std::array<int8_t, 256> values;
  values.fill(-1);
  for (int8_t i = 0; i < 64; ++i) values[static_cast<unsigned char>(kDigits[i])] = i;
  return values;
}

std::string digest(const void* data, size_t size) {
  const auto raw = arrcoc::sha256(data, size);
  return {raw.begin(), raw.end()};
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

std::string png_url(const std::vector<uint8_t>& png) {
  return "data:image/png;base64," + to_base64(png);
}

std::vector<uint8_t> data_url_bytes(std::string_view url) {
  const size_t comma = url.substr(0, 200).find(',');
  const std::string_view head = url.substr(0, comma == std::string_view::npos ? 0 : comma);
  const bool known =
      head.rfind("data:image/", 0) == 0 || head.rfind("data:application/pdf", 0) == 0;
  if (!known || !head.ends_with(";base64"))
    throw Error(ErrorCode::bad_argument,
                "a picture must be a data: URL of the form data:image/TYPE;base64,...");
  return from_base64(url.substr(comma + 1));
}

std::string sha256(const std::vector<uint8_t>& bytes) { return digest(bytes.data(), bytes.size()); }
std::string sha256(std::string_view text) { return digest(text.data(), text.size()); }

std::string random_id(const std::string& prefix) {
  unsigned char raw[12];
  if (RAND_bytes(raw, sizeof raw) != 1) throw Error(ErrorCode::io, "no random numbers");
  std::string out = prefix;
  for (unsigned char c : raw) {
    out += "0123456789abcdef"[c >> 4];
    out += "0123456789abcdef"[c & 15];
  }
  return out;
}

bool equal_secret(const std::string& a, const std::string& b) {
  const std::string x = digest(a.data(), a.size()), y = digest(b.data(), b.size());
  return CRYPTO_memcmp(x.data(), y.data(), x.size()) == 0;
}

std::string to_hex(std::string_view bytes) {
  std::string out;
  for (const unsigned char byte : bytes) {
    out += "0123456789abcdef"[byte >> 4];
    out += "0123456789abcdef"[byte & 15];
  }
  return out;
}

std::string from_hex(std::string_view digits) {
  const auto value = [](char c) {
    if (c >= '0' && c <= '9') return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
  };
  std::string out;
  for (size_t i = 0; i + 1 < digits.size(); i += 2) {
    const int high = value(digits[i]), low = value(digits[i + 1]);
    if (high < 0 || low < 0) return "";
    out += static_cast<char>(16 * high + low);
  }
  return digits.size() % 2 == 0 ? out : "";
}

}  // namespace arrcoc::serving
