#include "lab/cli/clips_answers.h"

#include <algorithm>
#include <iostream>
#include <map>

#include "lab/cli/lab.h"
#include "lab/scenes/suites.h"

namespace arrcoc::cli {

namespace {

using measuring::Answerer;
using measuring::FilmRecord;

constexpr const char* kNames[] = {"moments", "best_frame", "middle_frame", "today"};

ordered_json to_json(const std::vector<const FilmRecord*>& records) {
  std::vector<int> groups;
  for (const FilmRecord* r : records) groups.push_back(r->group);
  ordered_json out = {{"questions", records.size()}};
  int64_t most = 0;
  for (size_t who = 0; who < measuring::kAnswerers; ++who) {
    std::vector<double> right, tokens;
    for (const FilmRecord* r : records) {
      right.push_back(r->said[who].right ? 1 : 0);
      tokens.push_back(static_cast<double>(r->said[who].tokens));
      if (who == 0) most = std::max(most, r->said[who].tokens);
    }
    const measuring::Interval match = measuring::bootstrap(right, groups);
    out[kNames[who]] = {{"exact_match", rounded(match.mean)},
                        {"exact_match_95", {rounded(match.low), rounded(match.high)}},
                        {"mean_tokens", rounded(measuring::bootstrap(tokens, groups).mean)}};
  }
  out["most_tokens"] = most;
  double planned = 0, asked = 0, time = 0;
  for (const FilmRecord* r : records) {
    planned += r->asks.empty() ? 0 : 1;
    asked += static_cast<double>(r->asked.size());
    time += r->milliseconds;
  }
  const auto n = static_cast<double>(records.size());
  out["planned"] = rounded(planned / n);
  out["moments_asked"] = rounded(asked / n);
  out["milliseconds"] = rounded(time / n);
  return out;
}

ordered_json row_json(const FilmRecord& r) {
  ordered_json out = {{"film", r.group},        {"intent", r.intent},
                      {"question", r.question}, {"wanted", r.wanted},
                      {"asks", r.asks},         {"confidence", rounded(r.confidence)}};
  for (size_t who = 0; who < measuring::kAnswerers; ++who)
    out[kNames[who]] = {
        {"answer", r.said[who].text}, {"right", r.said[who].right}, {"tokens", r.said[who].tokens}};
  out["asked"] = ordered_json::array();
  for (const filming::MomentAnswer& m : r.asked)
    out["asked"].push_back(
        {{"frame", m.frame},
         {"question", m.asked},
         {"answer", m.text},
         {"confidence", rounded(m.confidence)},
         {"x", m.box ? ordered_json(rounded((m.box->x0 + m.box->x1) / 2)) : ordered_json()},
         {"y", m.box ? ordered_json(rounded((m.box->y0 + m.box->y1) / 2)) : ordered_json()}});
  return out;
}

}  // namespace

void clips_answers(const ClipsAnswers& args, const Asker& asker,
                   const measuring::FilmAsking& asking) {
  const auto assets = scenes::Assets::load(scenes::find_assets());
  std::vector<FilmRecord> records;
  Progress progress("films", static_cast<size_t>(args.count));
  std::string rows;
  for (int i = 0; i < args.count; ++i) {
    scenes::Options making;
    making.questions = scenes::kSuiteQuestions;
    if (!args.intent.empty()) making.questions = 8;
    scenes::Scene scene = args.seed > 0 ? scenes::make(*assets, scenes::kTime,
                                                       args.seed + static_cast<uint64_t>(i), making)
                                        : scenes::suite_scene(*assets, scenes::kTime, i);
    if (!args.intent.empty())
      std::erase_if(scene.questions,
                    [&](const scenes::Question& q) { return q.intent != args.intent; });
    for (FilmRecord& record : measuring::answer_film(asker, scene, i, asking)) {
      rows += row_json(record).dump() + "\n";
      records.push_back(std::move(record));
    }
    progress.step();
  }
  if (!args.rows.empty()) write_text(args.rows, rows);
  std::map<std::string, std::vector<const FilmRecord*>> parts;
  for (const FilmRecord& record : records)
    for (const std::string& part : {std::string(), record.intent}) parts[part].push_back(&record);
  ordered_json out = to_json(parts[""]);
  for (const auto& [part, some] : parts)
    if (!part.empty()) out["intents"][part] = to_json(some);
  if (args.json) {
    std::cout << out.dump() << "\n";
    return;
  }
  std::vector<std::vector<std::string>> lines = {
      {"questions", "n", "moments", "95 %", "tokens", "best frame", "middle frame", "today"}};
  const auto line = [&](const std::string& name, const ordered_json& part) {
    const ordered_json& own = part["moments"];
    lines.push_back({name, part["questions"].dump(), own["exact_match"].dump(),
                     own["exact_match_95"][0].dump() + "-" + own["exact_match_95"][1].dump(),
                     own["mean_tokens"].dump(), part["best_frame"]["exact_match"].dump(),
                     part["middle_frame"]["exact_match"].dump(),
                     part["today"]["exact_match"].dump()});
  };
  line("all", out);
  for (const auto& [name, part] : out["intents"].items()) line(name, part);
  std::cout << table(lines);
}

}  // namespace arrcoc::cli
