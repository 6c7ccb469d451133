#include "serve/encoding.h"

#include <unistd.h>

#include "arrcoc/error.h"
#include "base/sha256.h"

namespace arrcoc::serving {

namespace {

std::string digest(const void* data, size_t size) {
  const auto raw = arrcoc::sha256(data, size);
  return {raw.begin(), raw.end()};
}

}  // namespace

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
  if (::getentropy(raw, sizeof raw) != 0) throw Error(ErrorCode::io, "no random numbers");
  std::string out = prefix;
  for (unsigned char c : raw) {
    out += "0123456789abcdef"[c >> 4];
    out += "0123456789abcdef"[c & 15];
  }
  return out;
}

bool equal_secret(const std::string& a, const std::string& b) {
  const std::string x = digest(a.data(), a.size()), y = digest(b.data(), b.size());
  unsigned differences = 0;
  for (size_t i = 0; i < x.size(); ++i) differences |= static_cast<unsigned>(x[i] ^ y[i]);
  return differences == 0;
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
