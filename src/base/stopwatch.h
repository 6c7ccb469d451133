// Milliseconds between two moments.
#pragma once

#include <chrono>

namespace arrcoc {

class Stopwatch {
 public:
  // Since the last lap, or since it was made.
  double lap() {
    const auto now = Clock::now();
    const double passed = std::chrono::duration<double, std::milli>(now - last_).count();
    last_ = now;
    return passed;
  }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point last_ = Clock::now();
};

}  // namespace arrcoc
