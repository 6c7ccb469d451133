// arrcoc eval --weights A --weights B --suite S: what do other weights (bf16, int8) change?
#include <iostream>

#include "lab/cli/eval.h"

namespace arrcoc::cli {

namespace {

// Both folders on the same questions.
struct Comparison {
  int questions = 0;
  int same = 0;                 // equal answers
  double distance = 0;          // mean 1 - cosine of the relevance maps
  double likelihood = 0;        // mean |difference|
  double wins = 0, losses = 0;  // right with the second alone, with the first alone
  std::vector<answering::Record> records[2];
};

}  // namespace

void compare_weights(const std::vector<std::string>& folders,
                     const std::vector<std::string>& suites, int limit, const nlohmann::json& given,
                     bool json) {
  const auto first = answering::Answerer::load(folders[0]);
  // The second runs with the first's calibration: only the weights differ.
  const answering::Answerer second(tiny::TinyModel::load(folders[1]), first->calibration());
  const answering::AskOptions options = ask_options(given.value("policy", "realized"), given);
  Comparison c;
  Progress progress("comparing", answering::suite_questions(suites, limit));
  const auto source = answering::ahead(answering::suite_groups(suites, limit));
  while (const auto group = source()) {
    answering::Opinions maps[2];
    const std::vector<answering::Record> records[2] = {
        answering::measure(*first, *group, options, &maps[0]),
        answering::measure(second, *group, options, &maps[1])};
    for (size_t i = 0; i < records[0].size(); ++i) {
      const answering::Record &a = records[0][i], &b = records[1][i];
      ++c.questions;
      c.same += a.answer == b.answer ? 1 : 0;
      c.likelihood += std::abs(a.likelihood - b.likelihood);
      c.wins += b.right && !a.right ? 1 : 0;
      c.losses += a.right && !b.right ? 1 : 0;
      if (!maps[0].empty() && !maps[1].empty())
        c.distance += cosine_distance(maps[0][i]->relevance, maps[1][i]->relevance);
      c.records[0].push_back(a);
      c.records[1].push_back(b);
      progress.step();
    }
  }
  nlohmann::ordered_json out;
  out["questions"] = c.questions;
  const double n = std::max(1, c.questions);
  out["same_answers"] = rounded(c.same / n);
  out["right_only_with_first"] = rounded(c.losses / n);
  out["right_only_with_second"] = rounded(c.wins / n);
  out["map_distance"] = rounded(c.distance / n);
  out["likelihood_difference"] = rounded(c.likelihood / n);
  for (int k = 0; k < 2; ++k) {
    std::vector<const answering::Record*> all;
    for (const auto& r : c.records[k]) all.push_back(&r);
    out["weights"].push_back({{"folder", folders[static_cast<size_t>(k)]}});
    out["weights"].back().update(to_json(answering::summarise(all)));
  }
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
}

}  // namespace arrcoc::cli
