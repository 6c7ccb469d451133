// The report as JSON, Markdown and a page.
#include <algorithm>
#include <sstream>

#include "base/base64.h"
#include "lab/cli/bench.h"

namespace arrcoc::cli {

namespace {

using measuring::Record;
using measuring::Summary;

double mean(const std::vector<double>& values) {
  double sum = 0;
  for (double v : values) sum += v;
  return values.empty() ? 0 : sum / static_cast<double>(values.size());
}

ordered_json cell_json(const BenchReport& report, const BenchCell& cell, const BenchCell* native) {
  const Summary s = summary_of(cell);
  ordered_json one = {{"policy", cell.policy}, {"budget", cell.budget}};
  one.update(to_json(cell.records));
  const double gflop = mean(cell.gflops), right = 100 * s.exact_match.mean;
  one["gflop"] = rounded(gflop);
  one["peak_mb"] = rounded(cell.peak_mb);
  double native_tokens = 0;
  for (const Record& r : cell.records) native_tokens += static_cast<double>(r.native_tokens);
  const double saved = 1 - s.mean_tokens * s.questions / std::max(1.0, native_tokens);
  one["tokens_saved"] = rounded(saved);
  if (s.answered == 0) return one;
  one["p3"] = rounded(right / (1e-9 * report.parameters));
  one["p2f"] = rounded(gflop > 0 ? right / gflop : 0);
  if (!native) return one;
  // Kept accuracy on the questions that native was asked, too.
  const measuring::Difference d = paired(*native, cell);
  if (d.first_right > 0) one["ecr"] = rounded(saved * d.second_right / d.first_right);
  return one;
}

void cells_table(const ordered_json& json, std::ostringstream& out) {
  out << "\n| policy | budget | questions | exact match (95 %) | anls | own metric | recall | "
         "tokens "
         "| GFLOP | p50 ms | p95 ms | peak MB | QC3 | P2F | ECR |\n"
         "|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n";
  if (!json.contains("cells")) return;
  for (const auto& c : json["cells"]) {
    const auto value = [&](const char* key, int digits) {
      return c.contains(key) ? fixed(c[key].get<double>(), digits) : std::string("-");
    };
    out << "| " << c["policy"].get<std::string>() << " | " << c["budget"].get<std::string>()
        << " | " << c["questions"] << " | " << value("exact_match", 3);
    if (c.contains("exact_match_95"))
      out << " (" << fixed(c["exact_match_95"][0], 2) << "-" << fixed(c["exact_match_95"][1], 2)
          << ")";
    out << " | " << value("anls", 3) << " | " << value("score", 3)
        << (c.contains("metric") ? " " + c["metric"].get<std::string>() : "") << " | "
        << value("answer_region_recall", 3) << " | " << value("mean_tokens", 1) << " | "
        << value("gflop", 2) << " | " << fixed(c["milliseconds"]["p50"], 0) << " | "
        << fixed(c["milliseconds"]["p95"], 0) << " | " << value("peak_mb", 0) << " | "
        << value("qc3", 3) << " | " << value("p2f", 2) << " | " << value("ecr", 3) << " |\n";
  }
  if (!json.contains("refused")) return;
  for (const auto& r : json["refused"])
    out << "| " << r["policy"].get<std::string>() << " | " << r["budget"].get<std::string>()
        << " | - | not with this model | - | - | - | - | - | - | - | - | - | - | - |\n";
}

ordered_json failure_json(const BenchFailure& f) {
  const Record& r = f.record;
  ordered_json out = {{"cause", to_string(*r.cause)},
                      {"suite", leaf_name(r.suite)},
                      {"question", r.question},
                      {"wanted", r.wanted},
                      {"accepted", f.accepted},
                      {"answer", r.answer},
                      {"confidence", rounded(r.confidence)}};
  if (r.boxes > 0) out["recall"] = rounded(r.lenient);
  if (r.relaxed) out["within_5_percent"] = true;
  return out;
}

std::vector<std::string> data_of(const BenchReport& report) {
  return report.settings.value("data", std::vector<std::string>{});
}

void counts_table(const ordered_json& rows, std::ostringstream& out) {
  out << "\n## How many tokens\n\n| ours at | mean tokens | questions | exact match | points "
         "against "
      << rows[0]["against"].get<std::string>() << " (95 %) |\n|---|---|---|---|---|\n";
  for (const auto& r : rows)
    out << "| " << r["budget"].get<std::string>() << " | " << fixed(r["mean_tokens"], 1) << " | "
        << r["questions"] << " | " << fixed(r["exact_match"], 3) << " | "
        << fixed(r["points"][0], 1) << " (" << fixed(r["points"][1], 1) << " to "
        << fixed(r["points"][2], 1) << ") |\n";
}

void ablation_table(const ordered_json& rows, std::ostringstream& out) {
  out << "\n## Ablation\n\n| pipeline | budget | questions | exact match (95 %) | points against "
         "the whole (95 %) | recall | QC3 |\n|---|---|---|---|---|---|---|\n";
  for (const auto& r : rows) {
    const auto& d = r["points_against_the_whole"];
    out << "| " << r["pipeline"].get<std::string>() << " | " << r["budget"].get<std::string>()
        << " | " << r["questions"] << " | " << fixed(r["exact_match"], 3) << " ("
        << fixed(r["exact_match_95"][0], 2) << "-" << fixed(r["exact_match_95"][1], 2) << ") | "
        << fixed(d[0], 1) << " (" << fixed(d[1], 1) << " to " << fixed(d[2], 1) << ") | "
        << fixed(r["answer_region_recall"], 3) << " | " << fixed(r["qc3"], 3) << " |\n";
  }
}

void patterns_list(const ordered_json& patterns, std::ostringstream& out) {
  out << "\n## Where the tokens go\n\n";
  for (const auto& p : patterns) {
    out << "- " << p["questions"] << " questions, exact match " << fixed(p["exact_match"], 3)
        << ":";
    for (const auto& example : p["examples"]) out << " \"" << example.get<std::string>() << "\"";
    out << "\n";
  }
}

}  // namespace

ordered_json bench_json(const BenchReport& report) {
  ordered_json out;
  out["settings"] = report.settings;
  out["machine"] = report.machine;
  out["parameters"] = report.parameters;
  out["conclusion"] = bench_conclusion(report);
  const BenchCell* native = middle_cell(report, "native");
  for (const BenchCell& cell : report.cells)
    if (!cell.records.empty() && !cell.ablation)
      out["cells"].push_back(cell_json(report, cell, native));
  for (const BenchCell& cell : report.cells)
    if (!cell.refused.empty())
      out["refused"].push_back(
          {{"policy", cell.policy}, {"budget", cell.budget}, {"why", cell.refused}});
  if (auto rows = bench_counts(report); rows.size() > 1) out["counts"] = std::move(rows);
  if (auto rows = bench_ablation(report); !rows.empty()) out["ablation"] = std::move(rows);
  if (auto patterns = bench_patterns(report); !patterns.empty())
    out["patterns"] = std::move(patterns);
  if (!report.growth.is_null()) out["growth"] = report.growth;
  const BenchCell& shown = shown_cell(report);
  out["causes"] = bench_causes(shown);
  if (!report.change.is_null()) out["change"] = report.change;
  out["reliability"] = reliability_json(shown.records, data_of(report));
  for (const BenchFailure& f : report.failures) out["failures"].push_back(failure_json(f));
  return out;
}

std::string bench_markdown(const BenchReport& report, const ordered_json& json) {
  std::ostringstream out;
  out << "# arrcoc bench\n\n";
  for (const auto& line : json["conclusion"]) out << "- " << line.get<std::string>() << "\n";
  cells_table(json, out);
  out << "\nExact match: answers equal after lower case and trimming; intervals: 95 %, bootstrap "
         "over pictures; comparisons: on the questions that both were asked. FLOP: counted from "
         "the products that were run. ms: one question of a "
      << (report.settings.value("remember", false) ? "known" : "new")
      << " picture whose questions are read together. QC3: correlation of tokens per cell with the "
         "evidence. P2F: points per GFLOP. "
         "ECR: tokens saved x accuracy kept of native's.\n";
  out << causes_markdown(json) << reliability_markdown(json["reliability"]);
  if (json.contains("counts")) counts_table(json["counts"], out);
  if (json.contains("ablation")) ablation_table(json["ablation"], out);
  if (json.contains("patterns")) patterns_list(json["patterns"], out);
  if (!report.growth.is_null()) out << "\n## Growth\n" << growth_markdown(report.growth);
  out << "\nSettings: `" << report.settings.dump() << "`\n\nMachine: `" << report.machine.dump()
      << "`\n";
  return out.str();
}

std::string bench_html(const BenchReport& report, ordered_json json) {
  if (const BenchCell* mine = middle_cell(report, report.ours)) json["middle"] = mine->budget;
  for (size_t i = 0; i < report.failures.size(); ++i) {
    json["failures"][i]["map"] = "data:image/png;base64," + to_base64(report.failures[i].map);
    json["failures"][i]["seen"] = "data:image/png;base64," + to_base64(report.failures[i].seen);
  }
  std::string data = json.dump();
  // "<" would end the script that holds the report.
  for (size_t at = 0; (at = data.find('<', at)) != std::string::npos;)
    data.replace(at, 1, "\\u003c");
  std::string page = read_text(scenes::find_assets() + "/bench.html");
  const std::string place = "@REPORT@";
  return page.replace(page.find(place), place.size(), data);
}

}  // namespace arrcoc::cli
