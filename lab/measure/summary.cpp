// Figures of many questions together.
#include <algorithm>
#include <cmath>
#include <map>

#include "lab/measure/measure.h"

namespace arrcoc::measuring {

namespace {

constexpr int kStarved = 160;  // fewer tokens are few for a complex question

struct Mean {
  double sum = 0;
  int count = 0;
  void add(double value) {
    sum += value;
    ++count;
  }
  double value() const { return count > 0 ? sum / count : 0; }
};

// Values of questions, with the pictures that they belong to.
struct Values {
  std::vector<double> values;
  std::vector<int> groups;
  void add(double value, int group) {
    values.push_back(value);
    groups.push_back(group);
  }
  Interval interval() const { return bootstrap(values, groups); }
  int count() const { return static_cast<int>(values.size()); }
};

double percentile(std::vector<double> values, double share) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const double at = share * static_cast<double>(values.size() - 1);
  return values[static_cast<size_t>(std::lround(at))];
}

// Pictures, not questions: what somebody with an unlucky picture gets.
double worst_decile(const Values& values) {
  std::map<int, Mean> sums;
  for (size_t i = 0; i < values.values.size(); ++i) sums[values.groups[i]].add(values.values[i]);
  std::vector<double> means;
  for (const auto& [group, mean] : sums) means.push_back(mean.value());
  std::sort(means.begin(), means.end());
  Mean out;
  for (size_t i = 0; i < (means.size() + 9) / 10; ++i) out.add(means[i]);
  return out.value();
}

void add_score(const Records& records, Summary& out) {
  Values score;
  for (const Record* r : records) {
    if (!r->answered) continue;
    score.add(r->score, r->group);
    const std::string own = to_string(r->metric);
    out.metric = out.metric.empty() || out.metric == own ? own : "own";
  }
  out.score = score.interval();
}

}  // namespace

Records all_of(const std::vector<Record>& records) {
  Records out;
  for (const Record& r : records) out.push_back(&r);
  return out;
}

Reliability reliability(const Records& records) {
  Reliability out;
  std::vector<double> right, wrong;  // confidences
  for (const Record* r : records) {
    if (!r->answered) continue;
    const int last = static_cast<int>(out.bins.size()) - 1;
    auto& bin = out.bins[std::clamp(static_cast<int>(r->confidence * (last + 1)), 0, last)];
    bin.confidence += r->confidence;
    bin.right += r->right ? 1 : 0;
    ++bin.count;
    ++out.answered;
    (r->right ? right : wrong).push_back(r->confidence);
  }
  for (auto& bin : out.bins) {
    out.error += std::abs(bin.confidence - bin.right) / std::max(1, out.answered);
    bin.confidence /= std::max(1, bin.count);
    bin.right /= std::max(1, bin.count);
  }
  out.auroc = auroc(right, wrong);
  return out;
}

namespace {

void add_tokens(const Records& records, Summary& out) {
  Mean tokens, passes;
  for (const Record* r : records) {
    tokens.add(r->tokens);
    passes.add(r->passes);
    out.most_tokens = std::max(out.most_tokens, r->tokens);
    out.depths.resize(std::max(out.depths.size(), r->depths.size()));
    for (size_t i = 0; i < r->depths.size(); ++i)
      out.depths[i] += static_cast<double>(r->depths[i]) / static_cast<double>(records.size());
  }
  out.mean_tokens = tokens.value();
  out.mean_passes = passes.value();
}

}  // namespace

Summary summarise(const Records& records) {
  Summary out;
  Values right, similar, relaxed, recalls, placed, pointing;
  Mean unsure, sure_right, lenient, lift, overlap, box_hit, starved;
  std::vector<double> times;
  for (const Record* r : records) {
    unsure.add(r->unsure);
    times.push_back(r->milliseconds);
    if (r->answered) {
      right.add(r->right, r->group);
      similar.add(r->anls, r->group);
      relaxed.add(r->relaxed, r->group);
      if (!r->unsure) sure_right.add(r->right);
    }
    if (r->recall >= 0) {
      lift.add(r->lift);
      pointing.add(r->pointed, r->group);
    }
    for (int box = 0; box < r->boxes; ++box) {
      recalls.add(r->recall, r->group);
      lenient.add(r->lenient);
    }
    if (r->qc3 != Record::kNoBoxes) placed.add(r->qc3, r->group);
    if (r->overlap >= 0) {
      overlap.add(r->overlap);
      box_hit.add(r->box_hit);
    }
    if (r->complexity == Complexity::complex) starved.add(r->tokens < kStarved);
  }
  out.questions = static_cast<int>(records.size());
  out.answered = right.count();
  out.exact_match = right.interval();
  out.anls = similar.interval();
  out.relaxed = relaxed.interval();
  add_score(records, out);
  out.pointing = pointing.interval();
  out.worst_decile = worst_decile(similar);
  out.boxes = recalls.count();
  out.recall = recalls.interval();
  out.lenient = lenient.value();
  out.lift = lift.value();
  out.placed = placed.count();
  out.qc3 = placed.interval();
  out.overlap = overlap.value();
  out.box_hit = box_hit.value();
  add_tokens(records, out);
  out.unsure = unsure.value();
  out.right_when_sure = sure_right.value();
  out.starved = starved.value();
  const Reliability sure = reliability(records);
  out.calibration_error = sure.error;
  out.auroc = sure.auroc;
  out.p50 = percentile(times, 0.5);
  out.p95 = percentile(times, 0.95);
  return out;
}

Difference compare(const Records& first, const Records& second) {
  Difference out;
  Values right, similar, score;
  Mean tokens[2], share[2], scores[2];
  for (size_t i = 0; i < std::min(first.size(), second.size()); ++i) {
    const Record &a = *first[i], &b = *second[i];
    if (!a.answered || !b.answered) continue;
    right.add((b.right ? 1 : 0) - (a.right ? 1 : 0), a.group);
    similar.add(b.anls - a.anls, a.group);
    score.add(b.score - a.score, a.group);
    scores[0].add(a.score);
    scores[1].add(b.score);
    out.only_first += a.right && !b.right ? 1 : 0;
    out.only_second += b.right && !a.right ? 1 : 0;
    tokens[0].add(a.tokens);
    tokens[1].add(b.tokens);
    share[0].add(a.right);
    share[1].add(b.right);
  }
  out.questions = right.count();
  out.exact_match = right.interval();
  out.anls = similar.interval();
  out.score = score.interval();
  out.first_score = scores[0].value();
  out.second_score = scores[1].value();
  out.first_right = share[0].value();
  out.second_right = share[1].value();
  out.first_tokens = tokens[0].value();
  out.second_tokens = tokens[1].value();
  return out;
}

}  // namespace arrcoc::measuring
