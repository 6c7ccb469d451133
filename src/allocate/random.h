// Random numbers that are the same on every platform and independent of the order of drawing.
#pragma once

#include <cmath>
#include <cstdint>

namespace arrcoc::allocating {

// splitmix64: the n-th number of the stream `seed`.
inline uint64_t random_bits(uint64_t seed, uint64_t n) {
  uint64_t z = seed * 0x9E3779B97F4A7C15ULL + (n + 1) * 0xD1B54A32D192ED03ULL;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
  return z ^ (z >> 31);
}

// In the open interval (0,1).
inline double random_unit(uint64_t seed, uint64_t n) {
  return (static_cast<double>(random_bits(seed, n) >> 11) + 0.5) * 0x1.0p-53;
}

// Adding these to log-probabilities and taking the k largest draws k items without replacement.
inline double random_gumbel(uint64_t seed, uint64_t n) {
  return -std::log(-std::log(random_unit(seed, n)));
}

}  // namespace arrcoc::allocating
