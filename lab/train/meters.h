// Sums and means that a long run reports now and then.
#pragma once

#include <ATen/ATen.h>

#include <chrono>
#include <map>
#include <string>
#include <utility>

namespace arrcoc::training {

inline double now() {
  using namespace std::chrono;
  return duration<double>(steady_clock::now().time_since_epoch()).count();
}

// Adds the time until the end of the block to a sum.
class Stopwatch {
 public:
  explicit Stopwatch(double& sum) : sum_(sum), begun_(now()) {}
  ~Stopwatch() { sum_ += now() - begun_; }

 private:
  double& sum_;
  double begun_;
};

// Running means on the device; read only when reported.
class Window {
 public:
  void add(const std::string& name, const at::Tensor& value) {
    auto& [sum, count] = sums_[name];
    sum = sum.defined() ? sum + value.detach() : value.detach().clone();
    ++count;
  }
  std::map<std::string, double> read() {
    std::map<std::string, double> out;
    for (auto& [name, entry] : sums_) out[name] = entry.first.item<double>() / entry.second;
    sums_.clear();
    return out;
  }

 private:
  std::map<std::string, std::pair<at::Tensor, int>> sums_;
};

// What a run measures between two reports.
struct Meters {
  Window window;
  std::map<std::string, double> host_seconds;  // by phase
};

}  // namespace arrcoc::training
