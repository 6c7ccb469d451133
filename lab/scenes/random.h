// The random generator of scenes: splitmix64, so that a scene depends on its seed alone and not on
// the standard library's distributions. It also draws from the word lists.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "lab/scenes/word_lists.h"

namespace arrcoc::scenes {

class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}

  uint64_t next() {
    uint64_t z = (state_ += 0x9E3779B97F4A7C15ULL);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
    return z ^ (z >> 31);
  }
  // Whole number in [low, high], both included.
  int between(int low, int high) {
    return high <= low
               ? low
               : low + static_cast<int>(next() % static_cast<uint64_t>(int64_t{high} - low + 1));
  }
  // [0, 1)
  float unit() { return static_cast<float>(next() >> 40) * (1.0F / 16777216.0F); }
  float real(float low, float high) { return low + (high - low) * unit(); }
  bool chance(float share) { return unit() < share; }

  template <typename T>
  const T& pick(const std::vector<T>& from) {
    return from[next() % from.size()];
  }
  template <typename T>
  T pick(std::initializer_list<T> from) {
    return from.begin()[next() % from.size()];
  }
  std::string pick(std::initializer_list<const char*> from) {
    return from.begin()[next() % from.size()];
  }
  // The word lists: r.pick<"people.given">(), a whole list, a table with so many columns.
  template <ListName name>
  const std::string& pick() {
    return pick(list<name>());
  }
  template <ListName name>
  const std::vector<std::string>& list() const {
    return words->list<name>();
  }
  template <ListName name, size_t columns = 0>
  const std::vector<Row>& table() const {
    return words->table<name, columns>();
  }
  // Index drawn by weight.
  size_t weighted(const std::vector<float>& weights) {
    float sum = 0;
    for (float w : weights) sum += w;
    float at = unit() * sum;
    for (size_t i = 0; i + 1 < weights.size(); ++i) {
      if (at < weights[i]) return i;
      at -= weights[i];
    }
    return weights.size() - 1;
  }
  template <typename T>
  void shuffle(std::vector<T>& items) {
    for (size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[next() % i]);
  }
  // An independent stream, so that adding draws in one part does not move the others.
  Random fork(uint64_t salt) {
    Random other(next() ^ (salt * 0xD1B54A32D192ED03ULL));
    other.words = words;
    other.strangeness = strangeness;
    return other;
  }

  const WordLists* words = nullptr;  // must outlive the generator
  float strangeness = 0;             // share of names that strange() changes (words.h)

 private:
  uint64_t state_;
};

}  // namespace arrcoc::scenes
