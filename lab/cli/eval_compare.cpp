// arrcoc eval --weights A --weights B --suite S: what do other weights (bf16, int8) change?
#include <cmath>
#include <iostream>

#include "lab/cli/eval.h"

namespace arrcoc::cli {

namespace {

using measuring::Record;

// A folder of weights that was never fitted takes what the other has; `borrowed` names it.
std::shared_ptr<const Bundle> with_parts_of(const Bundle& first, const Bundle& second,
                                            std::vector<std::string>& borrowed) {
  const bool calibrated = !(second.calibration == Calibration{});
  auto out = std::make_shared<Bundle>(
      calibrated ? second : *make_bundle(second.networks, first.calibration));
  out->experts = second.experts ? second.experts : first.experts;
  out->balancer = second.balancer ? second.balancer : first.balancer;
  if (!calibrated) borrowed.emplace_back("calibration");
  if (!second.experts) borrowed.emplace_back("experts");
  if (!second.balancer) borrowed.emplace_back("balancer");
  return out;
}

// Both folders on the same questions.
struct Comparison {
  int same = 0;           // equal answers
  double distance = 0;    // sum of 1 - cosine of the relevance maps
  double likelihood = 0;  // sum of |difference|
  std::vector<Record> records[2];

  void add(const measuring::Group& group, const Answer& first, const Answer& second,
           const measuring::Case& one) {
    const Record a = judge(group, one, first), b = judge(group, one, second);
    same += a.answer == b.answer ? 1 : 0;
    likelihood += std::abs(a.likelihood - b.likelihood);
    const Map &maps_a = first.from().look.relevance.map, &maps_b = second.from().look.relevance.map;
    if (!maps_a.empty() && !maps_b.empty())
      distance += static_cast<double>(cosine_distance(maps_a, maps_b));
    records[0].push_back(a);
    records[1].push_back(b);
  }
};

ordered_json to_json(const Comparison& c, const std::vector<std::string>& folders,
                     const std::vector<std::string>& borrowed) {
  const auto both = compare(measuring::all_of(c.records[0]), measuring::all_of(c.records[1]));
  const double n = std::max<double>(1, static_cast<double>(c.records[0].size()));
  ordered_json out;
  out["questions"] = c.records[0].size();
  out["same_answers"] = rounded(c.same / n);
  out["right_only_with_first"] = rounded(both.only_first / n);
  out["right_only_with_second"] = rounded(both.only_second / n);
  out["map_distance"] = rounded(c.distance / n);
  out["likelihood_difference"] = rounded(c.likelihood / n);
  out["second_borrows"] = borrowed;
  for (size_t k = 0; k < 2; ++k) {
    out["weights"].push_back({{"folder", folders[k]}});
    out["weights"].back().update(cli::to_json(summarise(measuring::all_of(c.records[k]))));
  }
  return out;
}

}  // namespace

void compare_weights(const std::vector<std::string>& folders,
                     const std::vector<std::string>& suites, int limit, const AskOptions& options,
                     bool json) {
  std::vector<std::string> borrowed;
  const auto first = load_bundle(folders[0]);
  const auto second = with_parts_of(*first, *load_bundle(folders[1]), borrowed);
  const baselines::Askers askers[2] = {baselines::Askers(first), baselines::Askers(second)};
  Comparison c;
  Progress progress("comparing", measuring::suite_questions(suites, limit));
  const auto source = measuring::ahead(measuring::suite_groups(suites, limit));
  while (const auto group = source()) {
    const auto inquiries = inquiries_of(*group, options);
    const auto a = askers[0].of(options).ask(group->picture, inquiries, options);
    const auto b = askers[1].of(options).ask(group->picture, inquiries, options);
    for (size_t i = 0; i < a.size(); ++i) c.add(*group, a[i], b[i], group->cases[i]);
    progress.step(a.size());
  }
  const ordered_json out = to_json(c, folders, borrowed);
  if (json) {
    std::cout << out.dump() << "\n";
    return;
  }
  std::vector<std::vector<std::string>> lines = {{"weights", "questions", "exact match", "anls"}};
  for (const auto& w : out["weights"])
    lines.push_back(
        {w["folder"], w["questions"].dump(), w["exact_match"].dump(), w["anls"].dump()});
  std::cout << table(lines) << "same answers " << out["same_answers"]
            << ", right only with the first " << out["right_only_with_first"]
            << ", only with the second " << out["right_only_with_second"]
            << ", distance of the maps " << out["map_distance"] << "\n";
  for (const std::string& part : borrowed)
    std::cout << "note: " << folders[1] << " has no " << part << "; that of " << folders[0]
              << " was used\n";
}

}  // namespace arrcoc::cli
