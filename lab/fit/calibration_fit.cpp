#include "lab/fit/calibration_fit.h"

#include <algorithm>
#include <cmath>

#include "arrcoc/error.h"
#include "lab/fit/logistic.h"

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

using SignExample = Example<std::tuple_size_v<tiny::ConfidenceValues>>;

struct Point {
  tiny::ReadSigns signs;
  bool right;
};
struct PointSet {
  std::string name;
  std::vector<Point> points;
};

using Rule = tiny::SignWeights;

double expected_error(const std::vector<Point>& points, const Rule& rule) {
  std::vector<Record> records(points.size());
  for (size_t i = 0; i < points.size(); ++i) {
    records[i].answered = true;
    records[i].right = points[i].right;
    records[i].confidence = tiny::calibrated(rule, points[i].signs);
  }
  return measuring::reliability(measuring::all_of(records)).error;
}

void fit_confidence(const std::vector<PointSet>& sets, Rule& rule) {
  size_t largest = 0;
  for (const PointSet& set : sets) largest = std::max(largest, set.points.size());
  std::vector<SignExample> examples;
  for (const PointSet& set : sets)
    for (const Point& point : set.points)
      examples.push_back({tiny::confidence_values(point.signs), point.right,
                          static_cast<double>(largest) / static_cast<double>(set.points.size())});
  rule = tiny::weights_of(rule.calibration, regress(examples, tiny::values_of({})));
}

// The least confidence from which on that share of the answers is right, every set alike: 0 where
// that many of all are right, none when fewer than one in twenty are so sure.
std::optional<double> least_for(std::span<const PointSet> sets, const Rule& rule, double share) {
  struct Weighed {
    double confidence, weight;
    bool right;
  };
  std::vector<Weighed> all;
  for (const PointSet& set : sets)
    for (const Point& point : set.points)
      all.push_back({tiny::calibrated(rule, point.signs),
                     1.0 / static_cast<double>(set.points.size()), point.right});
  std::sort(all.begin(), all.end(),
            [](const Weighed& a, const Weighed& b) { return a.confidence > b.confidence; });
  constexpr double kFewest = 0.05;
  std::optional<double> out;
  double sum = 0, right = 0;
  for (size_t i = 0; i < all.size(); ++i) {
    sum += all[i].weight;
    right += all[i].right ? all[i].weight : 0;
    if (i + 1 < all.size() && all[i + 1].confidence == all[i].confidence) continue;
    if (right >= share * sum && sum >= kFewest * static_cast<double>(sets.size()))
      out = i + 1 < all.size() ? all[i].confidence : 0;
  }
  return out;
}

// One threshold for all kinds of pictures: it has to suit all of them together and each alone. A
// set that is never so right has no say.
double threshold_for(const std::vector<PointSet>& sets, const Rule& rule, const Targets& targets) {
  double out = least_for(sets, rule, targets.sure).value_or(kMostThreshold);
  for (const PointSet& set : sets)
    out = std::max(out, least_for({&set, 1}, rule, targets.sure_each).value_or(0));
  return std::clamp(out, kLeastThreshold, kMostThreshold);
}

ConfidenceFit describe(const PointSet& set, const Rule& neutral, const Rule& fitted) {
  ConfidenceFit out;
  out.name = set.name;
  out.questions = static_cast<int>(set.points.size());
  out.error_before = expected_error(set.points, neutral);
  out.error_after = expected_error(set.points, fitted);
  double sure = 0;
  for (const Point& point : set.points) {
    out.right += point.right;
    if (tiny::calibrated(fitted, point.signs) < fitted.calibration.threshold) continue;
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

Trials try_budgets(const Asker& asker, const tiny::KindTable* kinds,
                   const measuring::GroupSource& source, std::span<const int> budgets,
                   const std::function<void(int)>& done) {
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
        const Pass& pass = answers[i].from().answer();
        trials[i].signs.push_back(
            {signs_of(answers[i].query.text, answers[i].text, answers[i].probabilities),
             tiny::place_sign(pass.reply.focus, pass.allocation.leaves),
             tiny::kind_sign(kinds, answers[i].query.text, answers[i].text)});
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
  const Rule neutral{out.calibration};
  Rule fitted = neutral;
  fit_confidence(sets, fitted);
  fitted.calibration.threshold = threshold_for(sets, fitted, targets);
  for (const PointSet& set : sets) out.confidence.push_back(describe(set, neutral, fitted));
  out.calibration = fitted.calibration;
  out.place = fitted.place;
  out.kind = fitted.kind;
  return out;
}

}  // namespace arrcoc::fitting
