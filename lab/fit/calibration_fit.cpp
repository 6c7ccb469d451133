#include "lab/fit/calibration_fit.h"

#include <algorithm>
#include <cmath>

#include "arrcoc/error.h"
#include "lab/fit/logistic.h"
#include "models/tiny/signs.h"

namespace arrcoc::fitting {

namespace {

using measuring::Group;
using measuring::Record;

constexpr size_t kBudgets = std::size(kFitBudgets);
constexpr double kLeastThreshold = 0.5, kMostThreshold = 0.95;

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

Outcome outcome(const Trials& trials, const Calibration& c) {
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
void fit_budget(const Trials& trials, const Targets& targets, CalibrationFit& best) {
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

// ---- Confidence

using SignExample = Example<std::size(tiny::kConfidenceTerms)>;

struct Point {
  AnswerSigns signs;
  bool right;
};
struct PointSet {
  std::string name;
  std::vector<Point> points;
};

double expected_error(const std::vector<Point>& points, const Calibration& c) {
  std::vector<Record> records(points.size());
  for (size_t i = 0; i < points.size(); ++i) {
    records[i].answered = true;
    records[i].right = points[i].right;
    records[i].confidence = calibrated(c, points[i].signs);
  }
  return measuring::reliability(measuring::all_of(records)).error;
}

void fit_confidence(const std::vector<PointSet>& sets, Calibration& c) {
  size_t largest = 0;
  for (const PointSet& set : sets) largest = std::max(largest, set.points.size());
  std::vector<SignExample> examples;
  for (const PointSet& set : sets)
    for (const Point& point : set.points)
      examples.push_back({tiny::confidence_values(point.signs), point.right,
                          static_cast<double>(largest) / static_cast<double>(set.points.size())});
  tiny::ConfidenceValues start{};
  for (size_t i = 0; i < start.size(); ++i)
    start[i] = Calibration{}.*tiny::kConfidenceTerms[i].weight;
  const tiny::ConfidenceValues fitted = regress(examples, start);
  for (size_t i = 0; i < fitted.size(); ++i) c.*tiny::kConfidenceTerms[i].weight = fitted[i];
}

// The least confidence from which on that share of the answers is right, every set alike.
double threshold_for(const std::vector<PointSet>& sets, const Calibration& c, double share) {
  struct Weighed {
    double confidence, weight;
    bool right;
  };
  std::vector<Weighed> all;
  for (const PointSet& set : sets)
    for (const Point& point : set.points)
      all.push_back(
          {calibrated(c, point.signs), 1.0 / static_cast<double>(set.points.size()), point.right});
  std::sort(all.begin(), all.end(),
            [](const Weighed& a, const Weighed& b) { return a.confidence > b.confidence; });
  double out = kMostThreshold, sum = 0, right = 0;
  for (const Weighed& one : all) {
    sum += one.weight;
    right += one.right ? one.weight : 0;
    if (right >= share * sum) out = one.confidence;
  }
  return std::clamp(out, kLeastThreshold, kMostThreshold);
}

ConfidenceFit describe(const PointSet& set, const Calibration& neutral, const Calibration& fitted) {
  ConfidenceFit out;
  out.name = set.name;
  out.questions = static_cast<int>(set.points.size());
  out.error_before = expected_error(set.points, neutral);
  out.error_after = expected_error(set.points, fitted);
  double sure = 0;
  for (const Point& point : set.points) {
    out.right += point.right;
    if (calibrated(fitted, point.signs) < fitted.threshold) continue;
    ++sure;
    out.right_when_sure += point.right;
  }
  const auto n = static_cast<double>(std::max<size_t>(1, set.points.size()));
  out.right /= n;
  out.sure = sure / n;
  out.right_when_sure /= std::max(1.0, sure);
  return out;
}

// Every question at the budget that it would get.
PointSet scene_points(const Trials& trials, const Calibration& c) {
  PointSet out{"scenes", {}};
  for (const Trial& t : trials) {
    const Between at = between(budget_of(c, t));
    const size_t nearest = at.share < 0.5 ? at.low : at.low + 1;
    out.points.push_back({t.signs[nearest], t.right[nearest]});
  }
  return out;
}

PointSet real_points(const RealTrials& real) {
  PointSet out{real.name, {}};
  for (const Trial& t : real.trials)
    for (size_t k = 0; k < t.signs.size(); ++k) out.points.push_back({t.signs[k], t.right[k]});
  return out;
}

}  // namespace

Trials try_budgets(const Asker& asker, const measuring::GroupSource& source,
                   std::span<const int> budgets, const std::function<void(int)>& done) {
  Trials out;
  while (const std::optional<Group> group = source()) {
    Trials trials(group->cases.size());
    for (const int budget : budgets) {
      AskOptions options;
      options.budget = std::to_string(budget);
      const std::vector<Answer> answers =
          asker.ask(group->picture, inquiries_of(*group, options), options);
      for (size_t i = 0; i < answers.size(); ++i) {
        const Record record = judge(*group, group->cases[i], answers[i]);
        if (!record.answered || answers[i].probabilities.empty()) continue;
        trials[i].signs.push_back(
            signs_of(answers[i].query.text, answers[i].text, answers[i].probabilities));
        trials[i].right.push_back(record.right);
        trials[i].query = answers[i].query;
        trials[i].expected = static_cast<double>(answers[i].from().look.need.value_or(0));
      }
    }
    for (size_t i = 0; i < trials.size(); ++i) {
      trials[i].complexity = group->cases[i].complexity;
      if (trials[i].signs.size() == budgets.size()) out.push_back(std::move(trials[i]));
    }
    done(static_cast<int>(trials.size()));
  }
  return out;
}

CalibrationFit fit_calibration(const Trials& scenes, const std::vector<RealTrials>& real,
                               uint64_t weights, const Targets& targets) {
  if (scenes.empty()) throw Error(ErrorCode::bad_argument, "no questions to calibrate with");
  CalibrationFit out;
  out.questions = static_cast<int>(scenes.size());
  out.calibration.weights = weights;
  fit_budget(scenes, targets, out);
  const size_t usual = static_cast<size_t>(
      std::find(std::begin(kFitBudgets), std::end(kFitBudgets), 180) - std::begin(kFitBudgets));
  for (const Trial& t : scenes)
    out.exact_match_180 += t.right[usual] ? 1.0 / static_cast<double>(scenes.size()) : 0;
  std::vector<PointSet> sets = {scene_points(scenes, out.calibration)};
  for (const RealTrials& one : real)
    if (!one.trials.empty()) sets.push_back(real_points(one));
  const Calibration neutral = out.calibration;
  fit_confidence(sets, out.calibration);
  out.calibration.threshold = threshold_for(sets, out.calibration, targets.sure);
  for (const PointSet& set : sets)
    out.confidence.push_back(describe(set, neutral, out.calibration));
  return out;
}

}  // namespace arrcoc::fitting
