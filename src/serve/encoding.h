// Base64, data: URLs, digests, identifiers.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/base64.h"

namespace arrcoc::serving {

using arrcoc::from_base64;
using arrcoc::to_base64;

std::string png_url(const std::vector<uint8_t>& png);  // data:image/png;base64,...
// The bytes of a data:image/...;base64 or data:application/pdf;base64 URL. Error{bad_argument}.
std::vector<uint8_t> data_url_bytes(std::string_view url);

std::string sha256(const std::vector<uint8_t>& bytes);  // 32 raw bytes
std::string sha256(std::string_view text);
std::string to_hex(std::string_view bytes);
std::string from_hex(std::string_view digits);     // "" for anything but pairs of hex digits
std::string random_id(const std::string& prefix);  // prefix and 24 random hex digits

// Takes the same time wherever the difference is; lengths are hidden by hashing both.
bool equal_secret(const std::string& a, const std::string& b);

}  // namespace arrcoc::serving
