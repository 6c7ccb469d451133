#include "lab/measure/measure.h"

#include <algorithm>
#include <cmath>

#include "arrcoc/error.h"

namespace arrcoc::answering {

namespace {

double overlap(const Box& a, const Box& b) {
  const double common = intersect(a, b).area();
  const double all = a.area() + b.area() - common;
  return all > 0 ? common / all : 0;
}

Box around(const std::vector<Box>& boxes) {
  Box out = boxes.front();
  for (const Box& b : boxes)
    out = {std::min(out.x0, b.x0), std::min(out.y0, b.y0), std::max(out.x1, b.x1),
           std::max(out.y1, b.y1)};
  return out;
}

double percentile(std::vector<double> values, double share) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const double at = share * static_cast<double>(values.size() - 1);
  return values[static_cast<size_t>(std::lround(at))];
}

// Pictures, not questions: what somebody with an unlucky picture gets.
double worst_decile(const std::vector<double>& values, const std::vector<int>& groups) {
  std::map<int, std::pair<double, int>> sums;
  for (size_t i = 0; i < values.size(); ++i) {
    sums[groups[i]].first += values[i];
    ++sums[groups[i]].second;
  }
  std::vector<double> means;
  for (const auto& [group, sum] : sums) means.push_back(sum.first / sum.second);
  std::sort(means.begin(), means.end());
  const size_t tenth = (means.size() + 9) / 10;
  double total = 0;
  for (size_t i = 0; i < tenth; ++i) total += means[i];
  return tenth > 0 ? total / static_cast<double>(tenth) : 0;
}

// Mean distance between confidence and accuracy over ten bins of confidence.
double calibration_error(const std::vector<const Record*>& records) {
  constexpr int kBins = 10;
  double confidence[kBins] = {}, right[kBins] = {};
  int all = 0;
  for (const Record* r : records) {
    if (!r->answered) continue;
    const int bin = std::min(kBins - 1, static_cast<int>(r->confidence * kBins));
    confidence[bin] += r->confidence;
    right[bin] += r->right ? 1 : 0;
    ++all;
  }
  double sum = 0;
  for (int b = 0; b < kBins; ++b) sum += std::abs(confidence[b] - right[b]);
  return all > 0 ? sum / all : 0;
}

}  // namespace

Record judge(const Group& group, const Case& one, const Reply& reply, bool read) {
  Record out;
  out.group = group.number;
  out.suite = group.suite;
  out.kind = one.item.kind;
  out.complexity = one.complexity;
  out.question = one.item.question;
  out.answer = reply.answer;
  if (one.item.answer && read) {
    out.answered = true;
    out.wanted = *one.item.answer;
    out.right = measuring::exact_match(reply.answer, out.wanted);
    out.anls = measuring::anls(reply.answer, out.wanted);
  }
  measuring::Tally tally;
  tally.add(reply.allocation, one.item);
  if (tally.boxes > 0) {
    out.boxes = tally.boxes;
    out.recall = tally.recall();
    out.lenient = tally.recall_with_alternates();
    out.lift = tally.mean_lift();
    if (reply.box) {
      out.overlap = overlap(*reply.box, around(one.item.answer_boxes));
      const float x = (reply.box->x0 + reply.box->x1) / 2, y = (reply.box->y0 + reply.box->y1) / 2;
      for (const Box& b : one.item.answer_boxes)
        out.box_hit = out.box_hit || (x >= b.x0 && x < b.x1 && y >= b.y0 && y < b.y1);
    }
  }
  out.density = measuring::token_density(reply.allocation, Record::kDensity, Record::kDensity);
  std::vector<Box> needed = one.item.answer_boxes;
  needed.insert(needed.end(), one.item.evidence_boxes.begin(), one.item.evidence_boxes.end());
  if (!needed.empty())
    out.qc3 = measuring::correlation(
        out.density, measuring::box_cover(needed, one.item.width, one.item.height, Record::kDensity,
                                          Record::kDensity));
  out.tokens = reply.tokens;
  if (reply.passes) out.passes = static_cast<int>(reply.passes->passes.size());
  out.native_tokens = reply.native_tokens;
  out.milliseconds = reply.milliseconds();
  out.likelihood = reply.likelihood;
  out.confidence = reply.confidence;
  out.unsure = reply.unsure;
  return out;
}

std::vector<Record> measure(const Answerer& answerer, const Group& group, const AskOptions& options,
                            Opinions* opinions) {
  std::vector<Inquiry> inquiries;
  for (const Case& one : group.cases) {
    Inquiry inquiry{one.item.question, {}, {}};
    if (opinions && !opinions->empty()) inquiry.opinion = (*opinions)[inquiries.size()];
    if (options.policy == "oracle") {
      inquiry.evidence = one.item.answer_boxes;
      inquiry.evidence.insert(inquiry.evidence.end(), one.item.evidence_boxes.begin(),
                              one.item.evidence_boxes.end());
      // Nothing in particular is to be seen (an unanswerable question): everything is.
      if (inquiry.evidence.empty())
        inquiry.evidence.push_back(
            {0, 0, static_cast<float>(one.item.width), static_cast<float>(one.item.height)});
    }
    inquiries.push_back(std::move(inquiry));
  }
  const std::vector<Reply> replies = answerer.ask(group.picture, inquiries, options);
  if (opinions && opinions->empty() && !replies.empty() && replies.front().opinion)
    for (const Reply& reply : replies) opinions->push_back(reply.opinion);
  std::vector<Record> out;
  for (size_t i = 0; i < replies.size(); ++i) {
    out.push_back(judge(group, group.cases[i], replies[i]));
    out.back().policy = options.policy;
  }
  return out;
}

std::vector<Record> measure_looking(const Group& group, const Options& options) {
  const Pyramid pyramid = pyramid_of(group.picture, options);
  std::vector<Record> out;
  for (const Case& one : group.cases) {
    Realization seen = realize(group.picture, pyramid, one.item.question, options);
    Reply reply;
    reply.tokens = seen.allocation.tokens();
    reply.native_tokens = pyramid.geometry().native_tokens();
    reply.allocation = std::move(seen.allocation);
    reply.stages = std::move(seen.stages);
    out.push_back(judge(group, one, reply, false));
    out.back().policy = options.policy;
  }
  return out;
}

void check_budget(const std::string& policy, int budget, const std::vector<Record>& records) {
  for (const Record& r : records)
    if (r.tokens > budget)
      throw Error(ErrorCode::bad_argument, "policy " + policy + " spent " +
                                               std::to_string(r.tokens) +
                                               " tokens of a budget of " + std::to_string(budget));
}

Summary summarise(const std::vector<const Record*>& records) {
  Summary out;
  std::vector<double> right, similar, recalls, times, placed;
  std::vector<int> answered_groups, box_groups, placed_groups;
  int sure = 0, sure_right = 0, complex = 0, starved = 0, boxes = 0, located = 0;
  for (const Record* r : records) {
    ++out.questions;
    out.mean_tokens += r->tokens;
    out.mean_passes += r->passes;
    out.most_tokens = std::max(out.most_tokens, r->tokens);
    out.unsure += r->unsure ? 1 : 0;
    times.push_back(r->milliseconds);
    if (r->answered) {
      right.push_back(r->right ? 1 : 0);
      similar.push_back(r->anls);
      answered_groups.push_back(r->group);
      if (!r->unsure) ++sure, sure_right += r->right ? 1 : 0;
    }
    if (r->recall >= 0) {
      recalls.insert(recalls.end(), static_cast<size_t>(r->boxes), r->recall);
      box_groups.insert(box_groups.end(), static_cast<size_t>(r->boxes), r->group);
      ++located;
      out.lenient += r->boxes * r->lenient;
      out.lift += r->lift;
    }
    if (r->qc3 != Record::kNoBoxes) {
      placed.push_back(r->qc3);
      placed_groups.push_back(r->group);
    }
    if (r->overlap >= 0) {
      ++boxes;
      out.overlap += r->overlap;
      out.box_hit += r->box_hit ? 1 : 0;
    }
    if (r->complexity == "complex") ++complex, starved += r->tokens < 160 ? 1 : 0;
  }
  const auto share = [](double sum, size_t count) {
    return count > 0 ? sum / static_cast<double>(count) : 0;
  };
  out.answered = static_cast<int>(right.size());
  out.boxes = static_cast<int>(recalls.size());
  out.exact_match = measuring::bootstrap(right, answered_groups);
  out.anls = measuring::bootstrap(similar, answered_groups);
  out.recall = measuring::bootstrap(recalls, box_groups);
  out.qc3 = measuring::bootstrap(placed, placed_groups);
  out.placed = static_cast<int>(placed.size());
  out.worst_decile = worst_decile(similar, answered_groups);
  out.lenient = share(out.lenient, recalls.size());
  out.lift = share(out.lift, static_cast<size_t>(located));
  out.overlap = share(out.overlap, static_cast<size_t>(boxes));
  out.box_hit = share(out.box_hit, static_cast<size_t>(boxes));
  out.mean_tokens = share(out.mean_tokens, records.size());
  out.mean_passes = share(out.mean_passes, records.size());
  out.unsure = share(out.unsure, records.size());
  out.right_when_sure = share(sure_right, static_cast<size_t>(sure));
  out.starved = share(starved, static_cast<size_t>(complex));
  out.calibration_error = calibration_error(records);
  out.p50 = percentile(times, 0.5);
  out.p95 = percentile(times, 0.95);
  return out;
}

Difference compare(const std::vector<const Record*>& first,
                   const std::vector<const Record*>& second) {
  Difference out;
  std::vector<double> right, similar;
  std::vector<int> groups;
  for (size_t i = 0; i < std::min(first.size(), second.size()); ++i) {
    const Record &a = *first[i], &b = *second[i];
    if (!a.answered || !b.answered) continue;
    ++out.questions;
    right.push_back((b.right ? 1 : 0) - (a.right ? 1 : 0));
    similar.push_back(b.anls - a.anls);
    groups.push_back(a.group);
    out.only_first += a.right && !b.right ? 1 : 0;
    out.only_second += b.right && !a.right ? 1 : 0;
    out.first_tokens += a.tokens;
    out.second_tokens += b.tokens;
  }
  if (out.questions == 0) return out;
  out.exact_match = measuring::bootstrap(right, groups);
  out.anls = measuring::bootstrap(similar, groups);
  out.first_tokens /= out.questions;
  out.second_tokens /= out.questions;
  return out;
}

}  // namespace arrcoc::answering
