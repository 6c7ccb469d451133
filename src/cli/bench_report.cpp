// The report as JSON and Markdown.
#include <algorithm>
#include <cmath>
#include <sstream>

#include "cli/bench.h"

namespace arrcoc::cli {

namespace {

using answering::Record;
using answering::Summary;
using nlohmann::ordered_json;

std::string fixed(double value, int digits) {
  char text[48];
  std::snprintf(text, sizeof text, "%.*f", digits, value);
  return text;
}

Summary summary_of(const BenchCell& cell) {
  std::vector<const Record*> all;
  for (const Record& r : cell.records) all.push_back(&r);
  return answering::summarise(all);
}

double mean(const std::vector<double>& values) {
  double sum = 0;
  for (double v : values) sum += v;
  return values.empty() ? 0 : sum / static_cast<double>(values.size());
}

const BenchCell* find(const BenchReport& report, const std::string& policy,
                      const std::string& budget) {
  for (const BenchCell& cell : report.cells)
    if (cell.policy == policy && cell.budget == budget && !cell.records.empty()) return &cell;
  return nullptr;
}

}  // namespace

ordered_json bench_json(const BenchReport& report) {
  ordered_json out;
  out["settings"] = report.settings;
  out["machine"] = report.machine;
  out["conclusion"] = bench_conclusion(report);
  double native_exact = -1;
  for (const BenchCell& cell : report.cells)
    if (cell.policy == "native" && !cell.records.empty())
      native_exact = summary_of(cell).exact_match.mean;
  for (const BenchCell& cell : report.cells) {
    if (cell.records.empty()) continue;
    const Summary s = summary_of(cell);
    EvalRow row{cell.policy, cell.options, true, 0, cell.records};
    ordered_json one = {{"policy", cell.policy}, {"budget", cell.budget}};
    one.update(to_json(row));
    const double gflop = mean(cell.gflops);
    one["gflop"] = rounded(gflop);
    one["peak_mb"] = rounded(cell.peak_mb);
    one["points_per_gflop"] = rounded(gflop > 0 ? 100 * s.exact_match.mean / gflop : 0);
    double native_tokens = 0;
    for (const Record& r : cell.records) native_tokens += static_cast<double>(r.native_tokens);
    const double saved = 1 - s.mean_tokens * s.questions / std::max(1.0, native_tokens);
    if (native_exact > 0) one["ecr"] = rounded(saved * s.exact_match.mean / native_exact);
    one["tokens_saved"] = rounded(saved);
    out["cells"].push_back(std::move(one));
  }
  for (const BenchFailure& f : report.failures)
    out["failures"].push_back({{"question", f.question},
                               {"wanted", f.wanted},
                               {"answer", f.answer},
                               {"confidence", rounded(f.confidence)}});
  return out;
}

std::vector<std::string> bench_conclusion(const BenchReport& report) {
  std::vector<std::string> losses, wins;
  for (const BenchCell& cell : report.cells) {
    if (cell.policy == "realized" || cell.policy == "oracle" || cell.records.empty()) continue;
    for (const BenchCell& mine : report.cells) {
      if (mine.policy != "realized" || mine.records.empty()) continue;
      if (cell.budget != "own" && cell.budget != mine.budget) continue;
      const Summary a = summary_of(mine), b = summary_of(cell);
      if (a.answered == 0 || b.answered == 0) continue;
      const std::string line = cell.policy + " (" + fixed(b.mean_tokens, 0) + " tokens, " +
                               std::to_string(b.questions) + " questions) " +
                               fixed(b.exact_match.mean, 3) + ", realized at " + mine.budget +
                               ": " + fixed(a.exact_match.mean, 3);
      const bool apart =
          b.exact_match.low > a.exact_match.high || a.exact_match.low > b.exact_match.high;
      (b.exact_match.mean >= a.exact_match.mean ? losses : wins)
          .push_back(line + (apart ? "" : " (intervals overlap)"));
    }
  }
  std::vector<std::string> out;
  for (const std::string& l : losses) out.push_back("Not beaten: " + l);
  if (const BenchCell* oracle = find(report, "oracle", "160"))
    if (const BenchCell* mine = find(report, "realized", "160"))
      out.push_back(
          "Left to the oracle at 160 tokens: " +
          fixed(100 * (summary_of(*oracle).exact_match.mean - summary_of(*mine).exact_match.mean),
                1) +
          " points");
  for (const std::string& w : wins) out.push_back("Beaten: " + w);
  return out;
}

std::string bench_markdown(const BenchReport& report) {
  std::ostringstream out;
  out << "# arrcoc bench\n\n";
  for (const std::string& line : bench_conclusion(report)) out << "- " << line << "\n";
  out << "\n| policy | budget | questions | exact match (95 %) | anls | recall | tokens | GFLOP | "
         "p50 "
         "ms | p95 ms | peak MB |\n|---|---|---|---|---|---|---|---|---|---|---|\n";
  for (const BenchCell& cell : report.cells) {
    if (cell.records.empty()) continue;
    const Summary s = summary_of(cell);
    out << "| " << cell.policy << " | " << cell.budget << " | " << s.questions << " | "
        << fixed(s.exact_match.mean, 3) << " (" << fixed(s.exact_match.low, 2) << "-"
        << fixed(s.exact_match.high, 2) << ") | " << fixed(s.anls.mean, 3) << " | "
        << fixed(s.recall.mean, 3) << " | " << fixed(s.mean_tokens, 1) << " | "
        << fixed(mean(cell.gflops), 2) << " | " << fixed(s.p50, 0) << " | " << fixed(s.p95, 0)
        << " | " << fixed(cell.peak_mb, 0) << " |\n";
  }
  out << "\nExact match: answers equal after lower case and trimming; intervals: bootstrap over "
         "pictures. FLOP: counted from the products that were run. ms: one question of a picture "
         "whose questions are read together.\n\nSettings: `"
      << report.settings.dump() << "`\n\nMachine: `" << report.machine.dump() << "`\n";
  return out.str();
}

}  // namespace arrcoc::cli
