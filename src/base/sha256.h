// SHA-256 (FIPS 180-4): names for contents that nobody can forge.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace arrcoc {

std::array<uint8_t, 32> sha256(const void* data, size_t size);
// The same without instructions that not every processor has.
std::array<uint8_t, 32> sha256_portable(const void* data, size_t size);

}  // namespace arrcoc
