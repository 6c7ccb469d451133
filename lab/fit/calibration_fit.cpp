#include "lab/fit/calibration_fit.h"

#include <algorithm>
#include <cmath>

#include "arrcoc/error.h"

namespace arrcoc::fitting {

namespace {

using measuring::Group;
using measuring::Record;

constexpr size_t kBudgets = std::size(kFitBudgets);

// Where a budget lies between two that were tried, on a logarithmic scale.
struct Between {
  size_t low = 0;
  double share = 0;  // of the next one
};

Between between(int tokens) {
  size_t low = 0;
  while (low + 2 < kBudgets && kFitBudgets[low + 1] <= tokens) ++low;
  const double a = std::log(kFitBudgets[low]), b = std::log(kFitBudgets[low + 1]);
  return {low, std::clamp((std::log(tokens) - a) / (b - a), 0.0, 1.0)};
}

int budget_of(const Calibration& c, const Trial& t) {
  Look look;
  look.need = static_cast<float>(calibrated_need(c, t.expected, t.query));
  return allocating::budget(look, t.query, "auto").tokens;
}

struct Outcome {
  double tokens = 0, simple = 0, complex = 0, right = 0;
};

Outcome outcome(const std::vector<Trial>& trials, const Calibration& c) {
  Outcome out;
  int simple = 0, complex = 0;
  for (const Trial& t : trials) {
    const int tokens = budget_of(c, t);
    out.tokens += tokens;
    if (t.complexity == Complexity::simple) ++simple, out.simple += tokens;
    if (t.complexity == Complexity::complex) ++complex, out.complex += tokens;
    const Between at = between(tokens);
    out.right += (1 - at.share) * t.right[at.low] + at.share * t.right[at.low + 1];
  }
  const auto n = static_cast<double>(trials.size());
  out.tokens /= n;
  out.right /= n;
  out.simple /= std::max(1, simple);
  out.complex /= std::max(1, complex);
  return out;
}

// The budget rule: of those within the targets the one with most answers right; without any, the
// one that misses them least.
void fit_budget(const std::vector<Trial>& trials, const Targets& targets, CalibrationFit& best) {
  double best_score = -1e9;
  for (double complex : {1.0, 1.25, 1.5, 2.0})
    for (double power : {0.5, 0.7, 1.0, 1.4, 2.0, 2.8, 4.0})
      for (double scale = 0.2; scale < 6; scale *= 1.12) {
        Calibration c = best.calibration;
        c.scale = scale;
        c.power = power;
        c.complex = complex;
        const Outcome o = outcome(trials, c);
        const double missed = std::max(0.0, o.tokens / targets.mean_tokens - 1) +
                              std::max(0.0, o.simple / (targets.simple_share * o.complex) - 1);
        // A hundred tokens must earn a point of exact match.
        const double score = missed > 0 ? -missed : 1 + o.right - 1e-4 * o.tokens;
        if (score <= best_score) continue;
        best_score = score;
        best.met = missed == 0;
        best.calibration = c;
        best.mean_tokens = o.tokens;
        best.simple = o.simple;
        best.complex = o.complex;
        best.exact_match = o.right;
      }
}

struct Point {
  double likelihood;
  bool right;
};

double expected_error(const std::vector<Point>& points, const Calibration& c) {
  std::vector<Record> records(points.size());
  for (size_t i = 0; i < points.size(); ++i) {
    records[i].answered = true;
    records[i].right = points[i].right;
    records[i].confidence = calibrated(c, points[i].likelihood);
  }
  return measuring::reliability(measuring::all_of(records)).error;
}

// Platt's scaling by Newton's method on the logistic loss, with a weak pull towards the identity.
void fit_confidence(const std::vector<Point>& points, Calibration& c) {
  constexpr double kPull = 1e-2;
  for (int step = 0; step < 50; ++step) {
    double g0 = kPull * (c.slope - 1), g1 = kPull * c.offset, h00 = kPull, h01 = 0, h11 = kPull;
    for (const Point& point : points) {
      const double p = std::clamp(point.likelihood, 1e-9, 1 - 1e-9), x = std::log(p / (1 - p));
      const double q = calibrated(c, point.likelihood), e = q - (point.right ? 1 : 0);
      const double w = std::max(1e-6, q * (1 - q));
      g0 += e * x;
      g1 += e;
      h00 += w * x * x;
      h01 += w * x;
      h11 += w;
    }
    const double det = h00 * h11 - h01 * h01;
    c.slope = std::clamp(c.slope - (h11 * g0 - h01 * g1) / det, 0.01, 10.0);
    c.offset = std::clamp(c.offset - (h00 * g1 - h01 * g0) / det, -20.0, 20.0);
  }
}

}  // namespace

std::vector<Trial> try_budgets(const Asker& asker, const measuring::GroupSource& source,
                               const std::function<void(int)>& done) {
  std::vector<Trial> out;
  while (const std::optional<Group> group = source()) {
    std::vector<Trial> trials(group->cases.size());
    for (const int budget : kFitBudgets) {
      AskOptions options;
      options.budget = std::to_string(budget);
      const std::vector<Answer> answers =
          asker.ask(group->picture, inquiries_of(*group, options), options);
      for (size_t i = 0; i < answers.size(); ++i) {
        const Record record = judge(*group, group->cases[i], answers[i]);
        trials[i].likelihood.push_back(record.likelihood);
        trials[i].right.push_back(record.right);
        trials[i].query = answers[i].query;
        trials[i].expected = static_cast<double>(answers[i].from().look.need.value_or(0));
      }
    }
    for (size_t i = 0; i < trials.size(); ++i) {
      trials[i].complexity = group->cases[i].complexity;
      out.push_back(std::move(trials[i]));
    }
    done(static_cast<int>(trials.size()));
  }
  return out;
}

CalibrationFit fit_calibration(const std::vector<Trial>& trials, uint64_t weights,
                               const Targets& targets) {
  if (trials.empty()) throw Error(ErrorCode::bad_argument, "no questions to calibrate with");
  CalibrationFit out;
  out.questions = static_cast<int>(trials.size());
  out.calibration.weights = weights;
  fit_budget(trials, targets, out);
  std::vector<Point> points;
  for (const Trial& t : trials) {
    const Between at = between(budget_of(out.calibration, t));
    const size_t nearest = at.share < 0.5 ? at.low : at.low + 1;
    points.push_back({t.likelihood[nearest], t.right[nearest]});
    const size_t usual = static_cast<size_t>(
        std::find(std::begin(kFitBudgets), std::end(kFitBudgets), 180) - std::begin(kFitBudgets));
    out.exact_match_180 += t.right[usual] ? 1.0 / static_cast<double>(trials.size()) : 0;
  }
  out.error_before = expected_error(points, out.calibration);
  fit_confidence(points, out.calibration);
  out.error_after = expected_error(points, out.calibration);
  return out;
}

}  // namespace arrcoc::fitting
