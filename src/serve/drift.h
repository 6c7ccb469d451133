// Has what passes the stages of the road moved since the first answers? And: did a question's
// budget fit what it turned out to need?
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "arrcoc/ask.h"
#include "serve/metrics.h"

namespace arrcoc::serving {

// One statistic: its first `window` values (the reference) against its latest `window` ones. Not
// shared by threads.
class DriftWindow {
 public:
  explicit DriftWindow(size_t window) : window_(std::max<size_t>(1, window)) {}
  void add(double value);
  const std::vector<double>& reference() const { return reference_; }
  const std::vector<double>& recent() const { return recent_; }
  // Population stability index, sum (p - q) ln (p / q) over bins of the reference; 0 until both
  // windows are full.
  double index() const;
  // Rises above 0.25 or all that chance gives, whichever is more; falls below 0.1 or chance.
  bool alarm() const { return alarm_; }

 private:
  void cut_bins();
  size_t bin_of(double value) const;

  const size_t window_;
  std::vector<double> reference_, recent_;  // recent: a ring
  size_t oldest_ = 0;
  std::vector<double> edges_;  // a bin begins at each
  std::vector<int> expected_, found_;
  bool alarm_ = false;
};

// The statistics of all stages, as gauges. Shared by threads.
class StageWatch {
 public:
  using Say = std::function<void(const std::string& line)>;
  StageWatch(Metrics& metrics, Say say, size_t window = 256)
      : metrics_(metrics), say_(std::move(say)), window_(window) {}
  // confident: the confidence means something (not behind a proxy).
  void add(const Answer& answer, bool confident);
  void add(const std::string& stage, const std::string& statistic, double value);

 private:
  // "" or the line to be logged.
  std::string update(const std::string& stage, const std::string& statistic, double value);
  void show(const DriftWindow& window, const std::string& labels);

  Metrics& metrics_;
  const Say say_;
  const size_t window_;
  std::mutex mutex_;
  std::map<std::string, DriftWindow> windows_;  // by labels: a fixed few
};

// met: sure after one look. under: unsure or looked again, though more tokens could have been
// given. over: sure after one look, and nearly all attention was on an eighth of the tokens or
// less. hard: unsure with all that a budget can give.
enum class Fit { met, under, over, hard };
Fit budget_fit(const Answer& answer);
// The tokens were chosen for the question; false: somebody named a number or a level.
bool by_question(const Budget& budget);

}  // namespace arrcoc::serving

namespace arrcoc {
template <>
struct EnumNames<serving::Fit> {
  static constexpr const char* kWhat = "fit";
  static constexpr std::pair<serving::Fit, const char*> kNames[] = {{serving::Fit::met, "met"},
                                                                    {serving::Fit::under, "under"},
                                                                    {serving::Fit::over, "over"},
                                                                    {serving::Fit::hard, "hard"}};
};
}  // namespace arrcoc
