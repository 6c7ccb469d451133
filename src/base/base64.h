// Base64 (RFC 4648).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace arrcoc {

std::string to_base64(const std::vector<uint8_t>& bytes);
// Error{bad_argument} for anything but base64 (padding may be left out).
std::vector<uint8_t> from_base64(std::string_view text);

}  // namespace arrcoc
