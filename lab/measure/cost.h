// What work costs, counted and measured.
#pragma once

#include <cstdint>
#include <memory>

namespace arrcoc::answering {

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

}  // namespace arrcoc::answering
