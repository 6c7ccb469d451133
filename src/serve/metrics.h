// Counters, gauges and histograms in Prometheus' text form.
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace arrcoc::serving {

// Labels as they stand between the braces: stage="looking".
class Metrics {
 public:
  void count(const std::string& name, const std::string& labels = "", double by = 1);
  void set(const std::string& name, double value, const std::string& labels = "");
  void observe(const std::string& name, double value, const std::string& labels = "");
  double value(const std::string& name, const std::string& labels = "") const;
  std::string text() const;  // every metric that is described, also those never touched

 private:
  struct Histogram {
    std::vector<double> counts;  // by bucket, the last one is above all bounds
    double sum = 0;
  };
  mutable std::mutex mutex_;
  std::map<std::string, std::map<std::string, double>> values_;
  std::map<std::string, std::map<std::string, Histogram>> histograms_;
};

// A label value with quotes, backslashes and line ends escaped, at most 64 bytes.
std::string label(const std::string& key, const std::string& value);

// 64, 128, 180, 256, 400, more: the bucket that a budget belongs to.
std::string budget_bucket(int64_t tokens);

// Has what the adapter thinks of tokens moved since the first answers? Mean and deviation of its
// quality, as an exponential average against the first `kBase` answers.
class Drift {
 public:
  static constexpr int kBase = 100;
  void add(double mean, double deviation);
  double mean() const;
  double deviation() const;
  // |average - base| in standard deviations of the base; 0 until there is a base.
  double shift() const;

 private:
  mutable std::mutex mutex_;
  int64_t count_ = 0;
  double base_sum_ = 0, base_squares_ = 0;
  double mean_ = 0, deviation_ = 0;
};

}  // namespace arrcoc::serving
