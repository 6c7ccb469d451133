// arrcoc eval --pairs: the questions of suite:pairs, both pictures under one budget.
#include <iostream>

#include "lab/cli/eval.h"
#include "lab/scenes/suites.h"

namespace arrcoc::cli {

namespace {

struct Tally {
  std::vector<double> right, chosen, tokens;  // one each a question
  std::vector<int> groups;
  int most = 0;
  void add(int group, bool is_right, bool right_picture, int spent) {
    groups.push_back(group);
    right.push_back(is_right ? 1 : 0);
    chosen.push_back(right_picture ? 1 : 0);
    tokens.push_back(spent);
    most = std::max(most, spent);
  }
};

ordered_json to_json(const Tally& t) {
  const measuring::Interval right = measuring::bootstrap(t.right, t.groups);
  return {{"questions", t.right.size()},
          {"exact_match", rounded(right.mean)},
          {"exact_match_95", {rounded(right.low), rounded(right.high)}},
          {"right_picture", rounded(measuring::bootstrap(t.chosen, t.groups).mean)},
          {"mean_tokens", rounded(measuring::bootstrap(t.tokens, t.groups).mean)},
          {"most_tokens", t.most}};
}

}  // namespace

void eval_pairs(int limit, const std::string& intent, const AskOptions& options, bool json) {
  const Asker& asker = askers().of(options);
  const auto assets = scenes::Assets::load(scenes::find_assets());
  const int all = scenes::kSuiteScenes * (intent.empty() ? scenes::kSuiteQuestions : 1);
  const int wanted = limit > 0 ? std::min(limit, all) : all;
  std::map<std::string, Tally> tallies;  // "" is all
  Progress progress("pairs", static_cast<size_t>(wanted));
  int asked = 0;
  for (int s = 0; s < scenes::kSuiteScenes && asked < wanted; ++s) {
    const scenes::Scene scene = intent.empty()
                                    ? scenes::suite_scene(*assets, "pairs", s)
                                    : scenes::suite_scene_asking(*assets, "pairs", s, intent);
    std::vector<Picture> pictures;
    for (const scenes::Image& image : scene.images)
      pictures.push_back(measuring::picture_of(image, scene.layout));
    for (const scenes::Question& q : scene.questions) {
      if (asked == wanted) break;
      const Answer answer = asker.ask(pictures, q.text, options);
      for (const std::string& part : {std::string(), q.intent})
        tallies[part].add(s, measuring::exact_match(answer.text, q.answer),
                          answer.picture == static_cast<size_t>(q.picture),
                          static_cast<int>(answer.tokens));
      progress.step();
      ++asked;
    }
  }
  ordered_json out = to_json(tallies[""]);
  out["budget"] = options.budget;
  for (const auto& [part, tally] : tallies)
    if (!part.empty()) out["intents"][part] = to_json(tally);
  if (json) {
    std::cout << out.dump() << "\n";
    return;
  }
  std::vector<std::vector<std::string>> rows = {
      {"pairs", "questions", "exact match", "95 %", "right picture", "tokens"}};
  const auto row = [&](const std::string& part, const ordered_json& t) {
    rows.push_back({part, t["questions"].dump(), t["exact_match"].dump(),
                    t["exact_match_95"][0].dump() + "-" + t["exact_match_95"][1].dump(),
                    t["right_picture"].dump(), t["mean_tokens"].dump()});
  };
  row("all", out);
  for (const auto& [part, t] : out["intents"].items()) row(part, t);
  std::cout << table(rows);
}

}  // namespace arrcoc::cli
