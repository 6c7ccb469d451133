// Rows of `arrcoc eval`: measuring them, and their figures as JSON and tables.
#include <algorithm>

#include "arrcoc/error.h"
#include "lab/cli/eval.h"
#include "lab/measure/cost.h"

namespace arrcoc::cli {

namespace {

using measuring::Group;
using measuring::Record;
using measuring::Records;
using measuring::Summary;

// Compares the network's maps of a group's questions with each other and with those of the same
// questions in other words.
void add_moves(const Asker& asker, const Group& group, const LookOptions& look, MapMoves& moves) {
  AskOptions options;
  options.look.frame = look.frame;
  const auto page = asker.see(group.picture, options);
  std::vector<Query> queries;
  for (const auto& one : group.cases) queries.push_back(parse_query(one.item.question));
  const std::vector<Look> looks = page->looker->look(*page->seen, queries);
  for (size_t i = 0; i < looks.size(); ++i) {
    const Map& map = looks[i].relevance.map;
    for (size_t k = 0; k < i; ++k) {
      moves.distinct += static_cast<double>(cosine_distance(map, looks[k].relevance.map));
      ++moves.pairs;
    }
    if (group.cases[i].reworded.empty()) continue;
    const Query other = parse_query(group.cases[i].reworded);
    const auto again = page->looker->look(*page->seen, {&other, 1});
    moves.reworded += static_cast<double>(cosine_distance(map, again[0].relevance.map));
    ++moves.rewordings;
  }
}

std::string bucket_of(int tokens) {
  for (int edge : {64, 100, 160, 256, 400})
    if (tokens <= edge) return "<=" + std::to_string(edge);
  return ">400";
}

std::string complexity_name(const Record& r) {
  return r.complexity ? to_string(*r.complexity) : "";
}

// Records by a key; without one they are in no part.
template <class Key>
std::map<std::string, Records> parts_of(const std::vector<Record>& records, const Key& key) {
  std::map<std::string, Records> out;
  for (const Record& r : records)
    if (const std::string name = key(r); !name.empty()) out[name].push_back(&r);
  return out;
}

template <class Key>
ordered_json by(const std::vector<Record>& records, const Key& key) {
  ordered_json out = ordered_json::object();
  for (const auto& [name, part] : parts_of(records, key)) out[name] = to_json(summarise(part));
  return out;
}

ordered_json pair_of(const measuring::Interval& interval) {
  return {rounded(interval.low), rounded(interval.high)};
}

std::vector<Record> measured(const baselines::Askers& askers, const Group& group, EvalRow& row,
                             Predictions& predictions) {
  const measuring::Hearer hearer = predictions.of(row.name);
  try {
    const Asker& asker = askers.of(row.options);
    measuring::reset_peak();
    const measuring::FlopCounter counter;
    std::vector<Record> out = row.read ? measure(asker, group, row.options, hearer)
                                       : measure_looking(asker, group, row.options, hearer);
    forget_places(row.options, out);
    row.gflop += 1e-9 * counter.flops();
    row.peak_mb = std::max(row.peak_mb, measuring::peak_megabytes());
    return out;
  } catch (const Error& problem) {
    if (problem.code() != ErrorCode::unsupported || !row.optional) throw;
    row.refused = problem.what();
    return {};
  }
}

// Of one question.
double gflop_of(const EvalRow& row) {
  return row.gflop / static_cast<double>(std::max<size_t>(1, row.records.size()));
}

// Rows that the model could not go, below a table.
std::string refusals(const std::vector<EvalRow>& rows) {
  std::string out;
  for (const EvalRow& row : rows)
    if (!row.refused.empty()) out += row.name + ": not with this model: " + row.refused + "\n";
  return out;
}

}  // namespace

void measure_rows(const baselines::Askers& askers, const measuring::GroupSource& source,
                  size_t total, const std::string& what, std::vector<EvalRow>& rows,
                  Predictions& predictions, MapMoves* moves) {
  Progress progress(what, total);
  std::map<std::pair<std::string, std::string>, int> asked;  // by suite and row
  while (const std::optional<Group> group = source()) {
    for (EvalRow& row : rows) {
      int& done = asked[{group->suite, row.name}];
      if ((row.limit > 0 && done >= row.limit) || !row.refused.empty()) continue;
      done += static_cast<int>(group->cases.size());
      for (Record& r : measured(askers, *group, row, predictions))
        row.records.push_back(std::move(r));
    }
    if (moves) add_moves(askers.of({}), *group, rows[0].options.look, *moves);
    progress.step(group->cases.size());
  }
  if (moves && moves->pairs > 0) moves->distinct /= moves->pairs;
  if (moves && moves->rewordings > 0) moves->reworded /= moves->rewordings;
}

ordered_json to_json(const Summary& s) {
  ordered_json out = {{"questions", s.questions}};
  if (s.answered > 0) {
    out["exact_match"] = rounded(s.exact_match.mean);
    out["exact_match_95"] = pair_of(s.exact_match);
    out["anls"] = rounded(s.anls.mean);
    out["anls_95"] = pair_of(s.anls);
    out["relaxed_accuracy"] = rounded(s.relaxed.mean);
    out["relaxed_accuracy_95"] = pair_of(s.relaxed);
    if (s.metric != to_string(measuring::Metric::exact)) {
      out["metric"] = s.metric;
      out["score"] = rounded(s.score.mean);
      out["score_95"] = pair_of(s.score);
    }
    out["answered"] = s.answered;
    out["unsure"] = rounded(s.unsure);
    out["right_when_sure"] = rounded(s.right_when_sure);
    out["calibration_error"] = rounded(s.calibration_error);
    out["auroc"] = rounded(s.auroc);
  }
  if (s.boxes > 0) {
    out["answer_region_recall"] = rounded(s.recall.mean);
    out["answer_region_recall_95"] = pair_of(s.recall);
    out["recall_with_alternates"] = rounded(s.lenient);
    out["lift"] = rounded(s.lift);
    out["pointing"] = rounded(s.pointing.mean);
    out["pointing_95"] = pair_of(s.pointing);
  }
  if (s.answered > 0) {
    out["answer_box_hit"] = rounded(s.box_hit);
    out["answer_box_overlap"] = rounded(s.overlap);
    out["worst_decile_anls"] = rounded(s.worst_decile);
  }
  if (s.placed > 0) {
    out["qc3"] = rounded(s.qc3.mean);
    out["qc3_95"] = pair_of(s.qc3);
  }
  out["mean_tokens"] = rounded(s.mean_tokens);
  out["most_tokens"] = s.most_tokens;
  for (double tokens : s.depths) out["depths"].push_back(rounded(tokens));
  if (s.mean_passes > 1) out["mean_passes"] = rounded(s.mean_passes);
  out["complex_below_160"] = rounded(s.starved);
  out["milliseconds"] = {{"p50", rounded(s.p50)}, {"p95", rounded(s.p95)}};
  return out;
}

ordered_json to_json(const std::vector<Record>& records) {
  ordered_json out = to_json(summarise(measuring::all_of(records)));
  out["suites"] = by(records, [](const Record& r) { return r.suite; });
  out["kinds"] = by(records, [](const Record& r) { return r.kind; });
  out["complexity"] = by(records, complexity_name);
  out["budgets"] = by(records, [](const Record& r) { return bucket_of(r.tokens); });
  return out;
}

ordered_json to_json(const EvalRow& row) {
  if (!row.refused.empty()) return {{"refused", row.refused}};
  ordered_json out = to_json(row.records);
  out["gflop"] = rounded(gflop_of(row));
  out["peak_mb"] = rounded(row.peak_mb);
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
                                                  "anls", "recall", "tokens", "passes", "ms",
                                                  "GFLOP", "peak MB"}};
  for (const EvalRow& row : rows) {
    if (!row.refused.empty()) continue;
    const auto add = [&](const std::string& part, const Records& records) {
      const Summary s = summarise(records);
      lines.push_back({row.name, part, std::to_string(s.questions), fixed(s.exact_match.mean, 3),
                       fixed(s.exact_match.low, 2) + "-" + fixed(s.exact_match.high, 2),
                       fixed(s.anls.mean, 3), s.boxes > 0 ? fixed(s.recall.mean, 3) : "-",
                       fixed(s.mean_tokens, 1), fixed(s.mean_passes, 2), fixed(s.p50, 0), "", ""});
    };
    add("all", measuring::all_of(row.records));
    lines.back()[10] = fixed(gflop_of(row), 2);
    lines.back()[11] = fixed(row.peak_mb, 0);
    const auto suites = parts_of(row.records, [](const Record& r) { return r.suite; });
    if (suites.size() > 1)
      for (const auto& [name, records] : suites) add(name, records);
    const auto complexity = parts_of(row.records, complexity_name);
    for (const Complexity c : {Complexity::simple, Complexity::medium, Complexity::complex})
      if (const auto part = complexity.find(to_string(c)); part != complexity.end())
        add(part->first, part->second);
  }
  return table(lines) + refusals(rows);
}

std::string data_table(const std::vector<EvalRow>& rows) {
  std::vector<std::vector<std::string>> lines = {
      {"policy", "kind", "questions", "recall", "with alternates", "lift", "pointing", "tokens",
       "exact match", "relaxed", "anls", "own metric", "ms", "GFLOP", "peak MB"}};
  for (const EvalRow& row : rows) {
    if (!row.refused.empty()) continue;
    auto kinds = parts_of(row.records, [](const Record& r) { return r.kind; });
    if (kinds.size() == 1) kinds.clear();  // one kind says what all says
    kinds[""] = measuring::all_of(row.records);
    for (const auto& [kind, records] : kinds) {
      const Summary s = summarise(records);
      const auto of_boxes = [&](double v, int digits) {
        return s.boxes > 0 ? fixed(v, digits) : std::string("-");
      };
      const auto of_answers = [&](double v) { return s.answered > 0 ? fixed(v, 3) : "-"; };
      lines.push_back(
          {row.name, kind.empty() ? "all" : kind, std::to_string(s.questions),
           of_boxes(s.recall.mean, 3), of_boxes(s.lenient, 3), of_boxes(s.lift, 2),
           of_boxes(s.pointing.mean, 3), fixed(s.mean_tokens, 1), of_answers(s.exact_match.mean),
           of_answers(s.relaxed.mean), of_answers(s.anls.mean),
           s.answered > 0 ? fixed(s.score.mean, 3) + " " + s.metric : "-", fixed(s.p50, 0),
           kind.empty() ? fixed(gflop_of(row), 2) : "", kind.empty() ? fixed(row.peak_mb, 0) : ""});
    }
  }
  return table(lines) + refusals(rows) +
         "recall: share of the answer box under leaves of at most " + fixed(measuring::kFine, 0) +
         " px, longer side " + std::to_string(measuring::kFrame) + "\n";
}

}  // namespace arrcoc::cli
