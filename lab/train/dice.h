// A small, fast, reproducible source of randomness (splitmix64).
#pragma once

#include <cmath>
#include <cstdint>

namespace arrcoc::training {

inline uint64_t mix(uint64_t x) {
  x += 0x9E3779B97F4A7C15ULL;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ULL;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBULL;
  return x ^ (x >> 31);
}

class Dice {
 public:
  explicit Dice(uint64_t seed) : state_(mix(seed)) {}
  Dice(uint64_t seed, uint64_t a, uint64_t b = 0) : state_(mix(mix(seed) ^ mix(a * 2 + 1) ^ b)) {}
  uint64_t next() { return mix(state_++); }
  float uniform() { return static_cast<float>(next() >> 40) * (1.0F / 16777216.0F); }  // [0,1)
  float uniform(float low, float high) { return low + (high - low) * uniform(); }
  int below(int count) { return static_cast<int>(next() % static_cast<uint64_t>(count)); }
  bool chance(float p) { return uniform() < p; }

 private:
  uint64_t state_;
};

}  // namespace arrcoc::training
