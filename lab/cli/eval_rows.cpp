#include <algorithm>

#include "arrcoc/error.h"
#include "lab/cli/eval.h"

namespace arrcoc::cli {

namespace {

using answering::Group;
using answering::Record;
using answering::Summary;
using nlohmann::ordered_json;

using Records = std::vector<const Record*>;

// Compares the maps of a group's questions with each other and with those of the same questions in
// other words.
void add_moves(const answering::Answerer& model, const Group& group,
               const answering::Opinions& opinions, MapMoves& moves) {
  for (size_t i = 0; i < opinions.size(); ++i) {
    for (size_t k = 0; k < i; ++k) {
      moves.distinct += cosine_distance(opinions[i]->relevance, opinions[k]->relevance);
      ++moves.pairs;
    }
    if (group.cases[i].reworded.empty()) continue;
    const auto again = model.look(group.picture, {group.cases[i].reworded});
    moves.reworded += cosine_distance(opinions[i]->relevance, again[0].relevance);
    ++moves.rewordings;
  }
}

std::string cell(double value, const char* format) {
  char text[48];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

std::string bucket_of(int tokens) {
  for (int edge : {64, 100, 160, 256, 400})
    if (tokens <= edge) return "<=" + std::to_string(edge);
  return ">400";
}

template <class Key>
ordered_json by(const EvalRow& row, const Key& key) {
  std::map<std::string, Records> parts;
  for (const Record& r : row.records) parts[key(r)].push_back(&r);
  ordered_json out = ordered_json::object();
  for (const auto& [name, records] : parts)
    if (!name.empty()) out[name] = to_json(answering::summarise(records));
  return out;
}

}  // namespace

void measure_rows(const answering::GroupSource& source, size_t total, const std::string& what,
                  std::vector<EvalRow>& rows, MapMoves* moves) {
  const bool reads = std::any_of(rows.begin(), rows.end(), [](const EvalRow& r) { return r.read; });
  const auto model = reads ? answerer() : nullptr;
  Progress progress(what, total);
  std::map<std::pair<std::string, std::string>, int> asked;  // by suite and row
  while (const std::optional<Group> group = source()) {
    answering::Opinions opinions;
    for (EvalRow& row : rows) {
      int& done = asked[{group->suite, row.name}];
      if (row.limit > 0 && done >= row.limit) continue;
      done += static_cast<int>(group->cases.size());
      std::vector<Record> records = row.read
                                        ? answering::measure(*model, *group, row.options, &opinions)
                                        : answering::measure_looking(*group, row.options.look);
      for (Record& r : records) row.records.push_back(std::move(r));
    }
    if (moves) add_moves(*model, *group, opinions, *moves);
    for (size_t i = 0; i < group->cases.size(); ++i) progress.step();
  }
  if (moves && moves->pairs > 0) moves->distinct /= moves->pairs;
  if (moves && moves->rewordings > 0) moves->reworded /= moves->rewordings;
}

ordered_json to_json(const Summary& s) {
  ordered_json out = {{"questions", s.questions}};
  if (s.answered > 0) {
    out["exact_match"] = rounded(s.exact_match.mean);
    out["exact_match_95"] = {rounded(s.exact_match.low), rounded(s.exact_match.high)};
    out["anls"] = rounded(s.anls.mean);
    out["anls_95"] = {rounded(s.anls.low), rounded(s.anls.high)};
    out["answered"] = s.answered;
    out["unsure"] = rounded(s.unsure);
    out["right_when_sure"] = rounded(s.right_when_sure);
    out["calibration_error"] = rounded(s.calibration_error);
  }
  if (s.boxes > 0) {
    out["answer_region_recall"] = rounded(s.recall.mean);
    out["answer_region_recall_95"] = {rounded(s.recall.low), rounded(s.recall.high)};
    out["recall_with_alternates"] = rounded(s.lenient);
    out["lift"] = rounded(s.lift);
  }
  if (s.answered > 0) {
    out["answer_box_hit"] = rounded(s.box_hit);
    out["answer_box_overlap"] = rounded(s.overlap);
  }
  if (s.answered > 0) out["worst_decile_anls"] = rounded(s.worst_decile);
  if (s.placed > 0) {
    out["qc3"] = rounded(s.qc3.mean);
    out["qc3_95"] = {rounded(s.qc3.low), rounded(s.qc3.high)};
  }
  out["mean_tokens"] = rounded(s.mean_tokens);
  out["most_tokens"] = s.most_tokens;
  if (s.mean_passes > 1) out["mean_passes"] = rounded(s.mean_passes);
  out["complex_below_160"] = rounded(s.starved);
  out["milliseconds"] = {{"p50", rounded(s.p50)}, {"p95", rounded(s.p95)}};
  return out;
}

ordered_json to_json(const EvalRow& row) {
  Records all;
  for (const Record& r : row.records) all.push_back(&r);
  ordered_json out = to_json(answering::summarise(all));
  out["suites"] = by(row, [](const Record& r) { return r.suite; });
  out["kinds"] = by(row, [](const Record& r) { return r.kind; });
  out["complexity"] = by(row, [](const Record& r) { return r.complexity; });
  out["budgets"] = by(row, [](const Record& r) { return bucket_of(r.tokens); });
  return out;
}

ordered_json to_json(const MapMoves& moves) {
  ordered_json out = ordered_json::object();
  if (moves.pairs > 0)
    out["distinctiveness"] = {{"mean", rounded(moves.distinct)}, {"pairs", moves.pairs}};
  if (moves.rewordings > 0)
    out["paraphrases"] = {{"mean", rounded(moves.reworded)}, {"pairs", moves.rewordings}};
  return out;
}

std::string suite_table(const std::vector<EvalRow>& rows) {
  std::vector<std::vector<std::string>> lines = {{"policy", "questions", "n", "exact match", "95 %",
                                                  "anls", "recall", "tokens", "passes", "ms"}};
  for (const EvalRow& row : rows) {
    std::map<std::string, Records> suites, complexity;
    Records all;
    for (const Record& r : row.records) {
      all.push_back(&r);
      suites[r.suite].push_back(&r);
      if (!r.complexity.empty()) complexity[r.complexity].push_back(&r);
    }
    const auto add = [&](const std::string& part, const Records& records) {
      const Summary s = answering::summarise(records);
      lines.push_back(
          {row.name, part, std::to_string(s.questions), cell(s.exact_match.mean, "%.3f"),
           cell(s.exact_match.low, "%.2f") + cell(s.exact_match.high, "-%.2f"),
           cell(s.anls.mean, "%.3f"), s.boxes > 0 ? cell(s.recall.mean, "%.3f") : "-",
           cell(s.mean_tokens, "%.1f"), cell(s.mean_passes, "%.2f"), cell(s.p50, "%.0f")});
    };
    add("all", all);
    if (suites.size() > 1)
      for (const auto& [name, records] : suites) add(name, records);
    for (const char* name : {"simple", "medium", "complex"})
      if (complexity.count(name)) add(name, complexity[name]);
  }
  return table(lines);
}

}  // namespace arrcoc::cli
