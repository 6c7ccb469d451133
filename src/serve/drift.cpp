#include "serve/drift.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "serve/replies.h"

namespace arrcoc::serving {

namespace {

constexpr int kBins = 5;
constexpr double kMoved = 0.25, kSame = 0.1;  // the customary bounds of the index
constexpr double kRead = 0.9;                 // of the focus: what was read
constexpr size_t kSpare = 8;

std::pair<double, double> moments(const std::vector<double>& values) {
  if (values.empty()) return {0, 0};
  const auto n = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
  double squares = 0;
  for (const double v : values) squares += (v - mean) * (v - mean);
  return {mean, squares / n};
}

// -sum p ln p over ln n: 1 where relevance is even.
double entropy(const Map& map) {
  double sum = 0, weighted = 0;
  for (const float v : map.values) {
    const double p = std::max(0.0, static_cast<double>(v));
    sum += p;
    if (p > 0) weighted += p * std::log(p);
  }
  if (!(sum > 0) || map.size() < 2) return 1;
  return (std::log(sum) - weighted / sum) / std::log(static_cast<double>(map.size()));
}

double mean_level(const std::vector<Leaf>& leaves) {
  double sum = 0;
  for (const Leaf& leaf : leaves) sum += leaf.level;
  return sum / static_cast<double>(leaves.size());
}

// The least number of tokens that hold kRead of the focus; 0: unknown.
size_t tokens_read(std::vector<float> focus) {
  const double sum = std::accumulate(focus.begin(), focus.end(), 0.0);
  if (!(sum > 0)) return 0;
  std::sort(focus.begin(), focus.end(), std::greater<>());
  double held = 0;
  size_t n = 0;
  while (n < focus.size() && held < kRead * sum) held += static_cast<double>(focus[n++]);
  return n;
}

}  // namespace

// Quantiles of the reference; a value that much of it has is a bin of its own, so that statistics
// that hardly vary (a fixed budget) show when they move either way.
void DriftWindow::cut_bins() {
  std::vector<double> sorted = reference_;
  std::sort(sorted.begin(), sorted.end());
  for (int i = 1; i < kBins; ++i) {
    const double v = sorted[sorted.size() * static_cast<size_t>(i) / kBins];
    const auto [first, last] = std::equal_range(sorted.begin(), sorted.end(), v);
    edges_.push_back(v);
    if (static_cast<size_t>(last - first) * kBins >= sorted.size())
      edges_.push_back(std::nextafter(v, std::numeric_limits<double>::infinity()));
  }
  std::sort(edges_.begin(), edges_.end());
  edges_.erase(std::unique(edges_.begin(), edges_.end()), edges_.end());
  expected_.assign(edges_.size() + 1, 0);
  found_ = expected_;
  for (const double v : reference_) ++expected_[bin_of(v)];
}

size_t DriftWindow::bin_of(double value) const {
  return static_cast<size_t>(std::upper_bound(edges_.begin(), edges_.end(), value) -
                             edges_.begin());
}

void DriftWindow::add(double value) {
  if (!std::isfinite(value)) return;
  if (reference_.size() < window_) {
    reference_.push_back(value);
    if (reference_.size() == window_) cut_bins();
    return;
  }
  if (recent_.size() < window_) {
    recent_.push_back(value);
  } else {
    --found_[bin_of(recent_[oldest_])];
    recent_[oldest_] = value;
    oldest_ = (oldest_ + 1) % window_;
  }
  ++found_[bin_of(value)];
  if (recent_.size() < window_) return;
  // Of two samples of one population the index is about chi-square of k degrees x 2 / window: mean
  // k, deviation sqrt(2 k). Its tail is long, and every value is another chance: ten deviations.
  const auto k = static_cast<double>(edges_.size());
  const double unit = 2 / static_cast<double>(window_);
  const double bound = alarm_ ? std::max(kSame, unit * (k + 2 * std::sqrt(2 * k)))
                              : std::max(kMoved, unit * (k + 10 * std::sqrt(2 * k)));
  alarm_ = index() > bound;
}

double DriftWindow::index() const {
  if (recent_.size() < window_ || window_ == 0) return 0;
  // Half a value more in every bin: none is empty.
  const double all = static_cast<double>(window_) + 0.5 * static_cast<double>(found_.size());
  double out = 0;
  for (size_t i = 0; i < found_.size(); ++i) {
    const double p = (found_[i] + 0.5) / all, q = (expected_[i] + 0.5) / all;
    out += (p - q) * std::log(p / q);
  }
  return out;
}

void StageWatch::show(const DriftWindow& window, const std::string& labels) {
  for (const auto& [name, values] :
       {std::pair{"reference", &window.reference()}, {"recent", &window.recent()}}) {
    const auto [mean, variance] = moments(*values);
    const std::string of = labels + "," + label("window", name);
    metrics_.set("arrcoc_statistic_mean", mean, of);
    metrics_.set("arrcoc_statistic_variance", variance, of);
    metrics_.set("arrcoc_statistic_values", static_cast<double>(values->size()), of);
  }
  metrics_.set("arrcoc_drift", window.index(), labels);
  metrics_.set("arrcoc_drift_alarm", window.alarm() ? 1 : 0, labels);
}

std::string StageWatch::update(const std::string& stage, const std::string& statistic,
                               double value) {
  const std::string at = label("stage", stage) + "," + label("statistic", statistic);
  const std::scoped_lock lock(mutex_);  // also over the gauges: the latest value stays
  DriftWindow& w = windows_.try_emplace(at, window_).first->second;
  const bool before = w.alarm();
  w.add(value);
  show(w, at);
  if (w.alarm() == before) return "";
  return dump({{"level", w.alarm() ? "warning" : "info"},
               {"event", "drift"},
               {"stage", stage},
               {"statistic", statistic},
               {"alarm", w.alarm()},
               {"index", w.index()},
               {"reference_mean", moments(w.reference()).first},
               {"recent_mean", moments(w.recent()).first}});
}

void StageWatch::add(const std::string& stage, const std::string& statistic, double value) {
  const std::string line = update(stage, statistic, value);
  if (!line.empty() && say_) say_(line);
}

void StageWatch::add(const Answer& answer, bool confident) {
  const PictureAnswer& from = answer.from();
  add("seeing", "megapixels", 1e-6 * from.width * from.height);
  const Map& map = from.look.relevance.map;
  if (!map.empty()) {
    add("looking", "relevance_mean", static_cast<double>(mean(map)));
    add("looking", "relevance_max", static_cast<double>(maximum(map)));
    add("looking", "relevance_entropy", entropy(map));
  }
  add("allocating", "tokens", static_cast<double>(answer.tokens));
  if (!from.passes.empty() && !from.answer().allocation.leaves.empty())
    add("allocating", "level", mean_level(from.answer().allocation.leaves));
  if (confident) add("reading", "confidence", answer.confidence);
  add("reading", "answer_bytes", static_cast<double>(answer.text.size()));
}

Fit budget_fit(const Answer& answer) {
  const PictureAnswer& from = answer.from();
  int64_t given = 0;  // to all pictures: they share one budget
  for (const PictureAnswer& picture : answer.pictures) given += picture.budget.tokens;
  if (answer.unsure || from.passes.size() > 1) {
    const bool more = given < std::min<int64_t>(kMaxBudget, answer.native_tokens);
    return more ? Fit::under : answer.unsure ? Fit::hard : Fit::met;
  }
  if (from.passes.empty() || given <= kMinBudget) return Fit::met;
  const Reply& reply = from.answer().reply;
  const size_t read = reply.places.empty() ? tokens_read(reply.focus) : 0;
  return read > 0 && read * kSpare <= reply.focus.size() ? Fit::over : Fit::met;
}

bool by_question(const Budget& budget) {
  const std::string& tier = budget.tier;
  return !tier.empty() && tier != "fast" && tier != "balanced" && tier != "accurate";
}

}  // namespace arrcoc::serving
