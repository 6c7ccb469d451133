// What work costs, counted and measured.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "arrcoc/picture.h"
#include "base/stopwatch.h"

namespace arrcoc::measuring {

// Multiply-adds x 2 of every matrix product and convolution that this thread runs while the counter
// lives, from the shapes that libtorch and attend_cpu really get.
class FlopCounter {
 public:
  FlopCounter();
  ~FlopCounter();
  double flops() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

double cpu_seconds();  // of the whole process
// Largest resident memory since start or the last reset, MB; 0 where /proc does not tell.
double peak_megabytes();
void reset_peak();

// The picture under a digest that no cache knows; other numbers, other digests.
inline Picture unknown(Picture picture, uint64_t number) {
  for (size_t i = 0; i < sizeof number; ++i)
    picture.digest[i] ^= static_cast<uint8_t>(number >> 8 * i);
  return picture;
}

double median(std::vector<double> values);
// Time of some work, round by round.
struct Timing {
  std::vector<double> wall, cpu;  // milliseconds
  template <class Work>
  void time(const Work& work) {
    Stopwatch watch;
    const double begun = cpu_seconds();
    work();
    wall.push_back(watch.lap());
    cpu.push_back(1e3 * (cpu_seconds() - begun));
  }
};

}  // namespace arrcoc::measuring
