#include "serve/metrics.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace arrcoc::serving {

namespace {

enum class Kind { counter, gauge, histogram };

struct Description {
  const char* name;
  Kind kind;
  const char* help;
  std::vector<double> bounds;
};

const std::vector<double> kSeconds = {0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5,
                                      1,     2.5,  5,     10,   30,  60};
const std::vector<double> kTokens = {64, 128, 180, 256, 400, 800, 1600};

std::vector<Description> of_requests() {
  return {
      {"arrcoc_requests_total", Kind::counter, "Requests by endpoint and status.", {}},
      {"arrcoc_request_seconds", Kind::histogram, "Seconds of a chat completion by budget bucket.",
       kSeconds},
      {"arrcoc_stage_seconds", Kind::histogram, "Seconds by stage.", kSeconds},
      {"arrcoc_image_tokens_native_total",
       Kind::counter,
       "Image tokens that the pictures would cost at full detail.",
       {}},
      {"arrcoc_image_tokens_kept_total", Kind::counter, "Image tokens that a model was given.", {}},
      {"arrcoc_model_image_tokens_total",
       Kind::counter,
       "Image tokens by model: native, kept, and reported by the upstream.",
       {}},
      {"arrcoc_saved_dollars_total", Kind::counter, "Money that was not spent, by --prices.", {}},
      {"arrcoc_budget_tokens", Kind::histogram,
       "Budgets of requests by complexity of the question.", kTokens},
      {"arrcoc_budget_fit_total",
       Kind::counter,
       "Answers by complexity of the question, who set the budget, and whether it fitted.",
       {}},
      {"arrcoc_passes", Kind::histogram, "Looks per answer.", {1, 2, 3, 4}},
      {"arrcoc_confidence",
       Kind::histogram,
       "Confidence of answers.",
       {0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9}},
      {"arrcoc_fallbacks_total", Kind::counter, "What was given up on the way, by kind.", {}},
      {"arrcoc_failures_total", Kind::counter, "Requests that failed, by code.", {}},
      {"arrcoc_decoder_restarts_total",
       Kind::counter,
       "Decoding processes that ended before their time.",
       {}},
  };
}

std::vector<Description> of_the_server() {
  return {
      {"arrcoc_cache_hits_total", Kind::counter, "Pictures that had been seen before.", {}},
      {"arrcoc_cache_misses_total", Kind::counter, "Pictures that were new.", {}},
      {"arrcoc_cache_bytes", Kind::gauge, "Bytes of pictures kept.", {}},
      {"arrcoc_batch_questions",
       Kind::histogram,
       "Questions answered at once.",
       {1, 2, 4, 8, 16, 32, 64}},
      {"arrcoc_coalesced_total", Kind::counter, "Questions that joined an equal one.", {}},
      {"arrcoc_queue_jobs", Kind::gauge, "Jobs that wait.", {}},
      {"arrcoc_requests_running", Kind::gauge, "Requests that were read and wait for a reply.", {}},
      {"arrcoc_connections", Kind::gauge, "Open connections.", {}},
      {"arrcoc_inflight_bytes", Kind::gauge, "Bytes that requests hold, see --inflight-mb.", {}},
      {"arrcoc_adapter_quality_mean",
       Kind::gauge,
       "What the adapter finds tokens worth, average.",
       {}},
      {"arrcoc_adapter_quality_std",
       Kind::gauge,
       "Deviation of that inside a picture, average.",
       {}},
      {"arrcoc_adapter_drift",
       Kind::gauge,
       "Shift of the average since the first answers, in their standard deviations.",
       {}},
      {"arrcoc_feedback_total", Kind::counter, "Ratings of answers.", {}},
      {"arrcoc_logged_total", Kind::counter, "Examples written to the log.", {}},
      {"arrcoc_log_failures_total", Kind::counter, "Examples that could not be written.", {}},
      {"arrcoc_upstream_seconds", Kind::histogram, "Seconds until the upstream had answered.",
       kSeconds},
      {"arrcoc_upstream_retries_total", Kind::counter, "Requests sent to the upstream again.", {}},
      {"arrcoc_upstream_tokens_off",
       Kind::histogram,
       "Picture tokens that the upstream reported, over the estimate.",
       {0.5, 0.9, 1.0, 1.1, 2}},
  };
}

std::vector<Description> of_stages() {
  return {
      {"arrcoc_statistic_mean",
       Kind::gauge,
       "Mean of a stage's statistic, over the first answers (reference) and the latest (recent).",
       {}},
      {"arrcoc_statistic_variance", Kind::gauge, "Variance of the same.", {}},
      {"arrcoc_statistic_values", Kind::gauge, "Values in the window.", {}},
      {"arrcoc_drift",
       Kind::gauge,
       "Population stability index of recent against reference; 0 until both are full.",
       {}},
      {"arrcoc_drift_alarm", Kind::gauge, "1: the statistic has moved.", {}},
  };
}

const std::vector<Description>& descriptions() {
  static const std::vector<Description> all = [] {
    std::vector<Description> out = of_requests();
    for (Description& more : of_stages()) out.push_back(std::move(more));
    for (Description& more : of_the_server()) out.push_back(std::move(more));
    return out;
  }();
  return all;
}

const Description* described(const std::string& name) {
  for (const Description& d : descriptions())
    if (name == d.name) return &d;
  return nullptr;
}

std::string number(double value) {
  char text[40];
  std::snprintf(text, sizeof text, "%.10g", value);
  return text;
}

std::string line(const std::string& name, const std::string& labels, double value) {
  return name + (labels.empty() ? "" : "{" + labels + "}") + " " + number(value) + "\n";
}

}  // namespace

void Metrics::count(const std::string& name, const std::string& labels, double by) {
  const std::scoped_lock lock(mutex_);
  values_[name][labels] += by;
}

void Metrics::set(const std::string& name, double value, const std::string& labels) {
  const std::scoped_lock lock(mutex_);
  values_[name][labels] = value;
}

void Metrics::observe(const std::string& name, double value, const std::string& labels) {
  const Description* d = described(name);
  if (d == nullptr) return;
  const std::scoped_lock lock(mutex_);
  Histogram& h = histograms_[name][labels];
  h.counts.resize(d->bounds.size() + 1, 0);
  const auto bucket = std::lower_bound(d->bounds.begin(), d->bounds.end(), value);
  h.counts[static_cast<size_t>(bucket - d->bounds.begin())] += 1;
  h.sum += value;
}

double Metrics::value(const std::string& name, const std::string& labels) const {
  const std::scoped_lock lock(mutex_);
  const auto metric = values_.find(name);
  if (metric == values_.end()) return 0;
  const auto found = metric->second.find(labels);
  return found == metric->second.end() ? 0 : found->second;
}

std::string Metrics::text() const {
  const std::scoped_lock lock(mutex_);
  std::string out;
  for (const Description& d : descriptions()) {
    const char* kinds[] = {"counter", "gauge", "histogram"};
    out += std::string("# HELP ") + d.name + " " + d.help + "\n# TYPE " + d.name + " " +
           kinds[static_cast<int>(d.kind)] + "\n";
    if (d.kind != Kind::histogram) {
      const auto metric = values_.find(d.name);
      if (metric == values_.end()) {
        out += line(d.name, "", 0);
        continue;
      }
      for (const auto& [labels, value] : metric->second) out += line(d.name, labels, value);
      continue;
    }
    const auto metric = histograms_.find(d.name);
    if (metric == histograms_.end()) continue;
    for (const auto& [labels, h] : metric->second) {
      const std::string before = labels.empty() ? "" : labels + ",";
      double sum = 0;
      for (size_t i = 0; i < h.counts.size(); ++i) {
        sum += h.counts[i];
        const std::string bound = i < d.bounds.size() ? number(d.bounds[i]) : "+Inf";
        out += line(std::string(d.name) + "_bucket", before + "le=\"" + bound + "\"", sum);
      }
      out += line(std::string(d.name) + "_sum", labels, h.sum);
      out += line(std::string(d.name) + "_count", labels, sum);
    }
  }
  return out;
}

std::string label(const std::string& key, const std::string& value) {
  std::string out = key + "=\"";
  for (char c : value.substr(0, 64)) {
    if (c == '"' || c == '\\') out += '\\';
    out += c == '\n' || c == '\r' ? ' ' : c;
  }
  return out + "\"";
}

std::string budget_bucket(int64_t tokens) {
  for (int64_t bound : {64, 128, 180, 256, 400})
    if (tokens <= bound) return std::to_string(bound);
  return "more";
}

void Drift::add(double mean, double deviation) {
  const std::scoped_lock lock(mutex_);
  constexpr double kWeight = 0.02;  // about the last fifty answers
  mean_ = count_ == 0 ? mean : mean_ + kWeight * (mean - mean_);
  deviation_ = count_ == 0 ? deviation : deviation_ + kWeight * (deviation - deviation_);
  if (count_ < kBase) {
    base_sum_ += mean;
    base_squares_ += mean * mean;
  }
  ++count_;
}

double Drift::mean() const {
  const std::scoped_lock lock(mutex_);
  return mean_;
}

double Drift::deviation() const {
  const std::scoped_lock lock(mutex_);
  return deviation_;
}

double Drift::shift() const {
  const std::scoped_lock lock(mutex_);
  if (count_ < kBase) return 0;
  const double base = base_sum_ / kBase;
  const double spread = std::sqrt(std::max(1e-8, base_squares_ / kBase - base * base));
  return std::abs(mean_ - base) / spread;
}

}  // namespace arrcoc::serving
