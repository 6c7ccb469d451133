// Two bundles on the same questions:
//   arrcoc eval --weights A --weights B --suite S   what do other weights (bf16, int8) change?
//   arrcoc eval --against reference --data DIR      what do other kernels change?
#include <array>
#include <cmath>
#include <iostream>

#include "arrcoc/error.h"
#include "lab/cli/eval.h"
#include "models/tiny/looker.h"
#include "models/tiny/signs.h"

namespace arrcoc::cli {

namespace {

using measuring::Difference;
using measuring::Record;
using measuring::Records;

// A folder of weights that was never fitted takes what the other has; `borrowed` names it.
std::shared_ptr<const Bundle> with_parts_of(const Bundle& first, const Bundle& second,
                                            std::vector<std::string>& borrowed) {
  const bool calibrated = !(second.calibration == Calibration{});
  auto out = std::make_shared<Bundle>(
      calibrated ? second : *make_bundle(second.networks, first.calibration));
  if (!calibrated) {
    tiny::ReadOptions reading;
    tiny::take_signs(first.folder, reading);
    out->model = tiny::make_reader(second.networks, first.calibration, reading);
  }
  out->experts = second.experts ? second.experts : first.experts;
  out->balancer = second.balancer ? second.balancer : first.balancer;
  if (!calibrated) borrowed.emplace_back("calibration");
  if (!second.experts) borrowed.emplace_back("experts");
  if (!second.balancer) borrowed.emplace_back("balancer");
  return out;
}

// One of both.
struct Side {
  std::string what, name;  // "folder", "models/tiny"
  std::shared_ptr<const Bundle> bundle;
};

// Both on the same questions.
struct Comparison {
  double distance = 0;    // sum of 1 - cosine of the relevance maps
  double likelihood = 0;  // sum of |difference|
  std::vector<Record> records[2];

  void add(const measuring::Group& group, const Answer& first, const Answer& second,
           const measuring::Case& one) {
    const Record a = judge(group, one, first), b = judge(group, one, second);
    likelihood += std::abs(a.likelihood - b.likelihood);
    const Map &maps_a = first.from().look.relevance.map, &maps_b = second.from().look.relevance.map;
    if (!maps_a.empty() && !maps_b.empty())
      distance += static_cast<double>(cosine_distance(maps_a, maps_b));
    records[0].push_back(a);
    records[1].push_back(b);
  }
};

using Both = std::array<Records, 2>;

// Questions that both answered alike.
int same_answers(const Both& both) {
  int same = 0;
  for (size_t i = 0; i < both[0].size(); ++i)
    same += both[0][i]->answer == both[1][i]->answer ? 1 : 0;
  return same;
}

// Second less first: mean and interval over pictures.
ordered_json to_json(const Both& both) {
  const Difference d = compare(both[0], both[1]);
  const auto interval = [](const measuring::Interval& i) {
    return ordered_json{rounded(i.low), rounded(i.high)};
  };
  const double n = std::max<double>(1, static_cast<double>(both[0].size()));
  return {{"questions", both[0].size()},
          {"same_answers", rounded(same_answers(both) / n)},
          {"right_only_with_first", rounded(d.only_first / n)},
          {"right_only_with_second", rounded(d.only_second / n)},
          {"exact_match", rounded(d.exact_match.mean)},
          {"exact_match_95", interval(d.exact_match)},
          {"anls", rounded(d.anls.mean)},
          {"anls_95", interval(d.anls)},
          {"score", rounded(d.score.mean)},
          {"score_95", interval(d.score)}};
}

// In all ("all" first) and by suite or folder.
std::vector<std::pair<std::string, Both>> parts_of(const Comparison& c) {
  std::map<std::string, Both> parts;
  for (size_t k = 0; k < 2; ++k)
    for (const Record& r : c.records[k]) parts[r.suite][k].push_back(&r);
  std::vector<std::pair<std::string, Both>> out;
  out.push_back({"all", {measuring::all_of(c.records[0]), measuring::all_of(c.records[1])}});
  if (parts.size() > 1) out.insert(out.end(), parts.begin(), parts.end());
  return out;
}

// Questions that were answered differently.
ordered_json different(const Comparison& c) {
  ordered_json out = ordered_json::array();
  for (size_t i = 0; i < c.records[0].size(); ++i) {
    const Record &a = c.records[0][i], &b = c.records[1][i];
    if (a.answer == b.answer) continue;
    out.push_back({{"suite", a.suite},
                   {"group", a.group},
                   {"question", a.question},
                   {"wanted", a.wanted},
                   {"answers", {a.answer, b.answer}},
                   {"anls", {rounded(a.anls), rounded(b.anls)}}});
  }
  return out;
}

ordered_json to_json(const Comparison& c, const Side (&sides)[2],
                     const std::vector<std::string>& borrowed) {
  const auto parts = parts_of(c);
  const double n = std::max<double>(1, static_cast<double>(c.records[0].size()));
  ordered_json out = to_json(parts[0].second);
  out["map_distance"] = rounded(c.distance / n);
  out["likelihood_difference"] = rounded(c.likelihood / n);
  for (size_t i = 1; i < parts.size(); ++i) out["parts"][parts[i].first] = to_json(parts[i].second);
  if (sides[0].what == "folder") out["second_borrows"] = borrowed;
  for (size_t k = 0; k < 2; ++k) {
    out[sides[0].what == "folder" ? "weights" : "kernels"].push_back(
        {{sides[k].what, sides[k].name}});
    out[sides[0].what == "folder" ? "weights" : "kernels"].back().update(
        cli::to_json(summarise(measuring::all_of(c.records[k]))));
  }
  out["different"] = different(c);
  return out;
}

std::string with_interval(const measuring::Interval& i) {
  return signed_fixed(i.mean, 3) + " (" + signed_fixed(i.low, 3) + " to " +
         signed_fixed(i.high, 3) + ")";
}

void print(const Comparison& c, const Side (&sides)[2]) {
  std::vector<std::vector<std::string>> lines = {
      {"", "questions", "n", "exact match", "relaxed", "anls", "own metric"}};
  std::vector<std::vector<std::string>> less = {{sides[1].name + " less " + sides[0].name, "same",
                                                 "won", "lost", "exact match", "anls",
                                                 "own metric"}};
  for (const auto& [name, records] : parts_of(c)) {
    for (size_t k = 0; k < 2; ++k) {
      const measuring::Summary s = summarise(records[k]);
      lines.push_back({sides[k].name, name, std::to_string(s.answered),
                       fixed(s.exact_match.mean, 4), fixed(s.relaxed.mean, 4),
                       fixed(s.anls.mean, 4), fixed(s.score.mean, 4) + " " + s.metric});
    }
    const Difference d = compare(records[0], records[1]);
    less.push_back({name, std::to_string(same_answers(records)), std::to_string(d.only_second),
                    std::to_string(d.only_first), with_interval(d.exact_match),
                    with_interval(d.anls), with_interval(d.score)});
  }
  const double n = std::max<double>(1, static_cast<double>(c.records[0].size()));
  std::cout << table(lines) << "\n"
            << table(less) << "distance of the maps " << fixed(c.distance / n, 4)
            << ", of likelihoods " << fixed(c.likelihood / n, 4) << "\n";
}

void run(const Side (&sides)[2], const std::vector<QuestionFolder>& questions,
         const AskOptions& options, const std::vector<std::string>& borrowed, bool json) {
  const baselines::Askers askers[2] = {baselines::Askers(sides[0].bundle),
                                       baselines::Askers(sides[1].bundle)};
  Comparison c;
  size_t total = 0;
  for (const QuestionFolder& one : questions) total += one.questions;
  Progress progress("comparing", total);
  for (const QuestionFolder& one : questions)
    while (const auto group = one.groups()) {
      const auto a = answers_to(askers[0].of(options), *group, options);
      const auto b = answers_to(askers[1].of(options), *group, options);
      for (size_t i = 0; i < a.size(); ++i) c.add(*group, a[i], b[i], group->cases[i]);
      progress.step(a.size());
    }
  if (json)
    std::cout << to_json(c, sides, borrowed).dump() << "\n";
  else
    print(c, sides);
}

}  // namespace

void compare_weights(const std::vector<std::string>& folders,
                     const std::vector<QuestionFolder>& questions, const AskOptions& options,
                     bool json) {
  std::vector<std::string> borrowed;
  const auto first = load_bundle(folders[0]);
  const auto second = with_parts_of(*first, *load_bundle(folders[1]), borrowed);
  run({{"folder", folders[0], first}, {"folder", folders[1], second}}, questions, options, borrowed,
      json);
  if (json) return;
  for (const std::string& part : borrowed)
    std::cout << "note: " << folders[1] << " has no " << part << "; that of " << folders[0]
              << " was used\n";
}

void compare_kernels(Kernels against, const std::vector<QuestionFolder>& questions,
                     const AskOptions& options, bool json) {
  const auto first = load_bundle("", against), second = load_bundle("");
  if (kernels_of(*first) == kernels_of(*second))
    throw Error(ErrorCode::bad_argument, "--against " + std::string(to_string(against)) +
                                             ": both would be " + kernels_of(*first) +
                                             "; --kernels chooses the other ones");
  run({{"kernels", kernels_of(*first), first}, {"kernels", kernels_of(*second), second}}, questions,
      options, {}, json);
}

}  // namespace arrcoc::cli
