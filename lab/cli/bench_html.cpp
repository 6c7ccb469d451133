// The report as one self-contained page: curves and bars as SVG, pictures inside.
#include <algorithm>
#include <map>
#include <sstream>

#include "lab/cli/bench.h"
#include "lab/cli/bench_svg.h"

namespace arrcoc::cli {

namespace {

using answering::Record;
using answering::Summary;
using nlohmann::ordered_json;

template <class Cost>
std::vector<Curve> curves_of(const BenchReport& report, const Cost& cost) {
  std::vector<Curve> out;
  for (const BenchCell& cell : report.cells) {
    if (cell.records.empty() || cell.ablation) continue;
    if (out.empty() || out.back().name != cell.policy) out.push_back({cell.policy, {}});
    const Summary s = summary_of(cell);
    out.back().points.push_back(
        {std::max(1e-3, cost(s)), s.exact_match.mean, s.exact_match.low, s.exact_match.high});
  }
  for (Curve& c : out) std::sort(c.points.begin(), c.points.end());
  return out;
}

// Exact match of every kind for the realized policy at its middle budget and its rivals there.
std::string kind_bars(const BenchReport& report) {
  const BenchCell* mine = middle_cell(report, "realized");
  if (!mine) return "";
  const std::string& budget = mine->budget;
  std::ostringstream out;
  out << "<h2>By kind, " << escape(budget)
      << " tokens</h2><table><tr><th>kind<th>policy<th>exact "
         "match</tr>";
  std::map<std::string, std::vector<std::pair<std::string, double>>> kinds;
  for (const BenchCell& cell : report.cells) {
    if ((cell.budget != budget && cell.budget != "own") || cell.ablation) continue;
    std::map<std::string, std::vector<const Record*>> parts;
    for (const Record& r : cell.records) parts[r.kind].push_back(&r);
    for (const auto& [kind, records] : parts)
      kinds[kind].emplace_back(cell.policy, answering::summarise(records).exact_match.mean);
  }
  for (const auto& [kind, rows] : kinds)
    for (const auto& [policy, value] : rows)
      out << "<tr><td>" << escape(kind) << "<td>" << escape(policy) << "<td><span class=bar style='"
          << "width:" << number(240 * value) << "px'></span> " << number(value) << "</tr>";
  return out.str() + "</table>";
}

std::string text_of(const ordered_json& value) {
  return escape(value.is_string() ? value.get<std::string>() : value.dump());
}

// One row an object, one column a key.
std::string table_of(const ordered_json& rows,
                     const std::vector<std::pair<std::string, std::string>>& columns) {
  std::ostringstream out;
  out << "<table><tr>";
  for (const auto& [key, title] : columns) out << "<th>" << title;
  for (const auto& row : rows) {
    out << "<tr>";
    for (const auto& [key, title] : columns)
      out << "<td>" << (row.contains(key) ? text_of(row[key]) : "-");
  }
  return out.str() + "</table>";
}

std::string full_table(const ordered_json& json) {
  if (!json.contains("cells")) return "";
  ordered_json rows = json["cells"];
  for (auto& row : rows) {
    row["p50"] = row["milliseconds"]["p50"];
    row["p95"] = row["milliseconds"]["p95"];
  }
  return "<h2>All cells</h2>" + table_of(rows, {{"policy", "policy"},
                                                {"budget", "budget"},
                                                {"questions", "questions"},
                                                {"exact_match", "exact match"},
                                                {"exact_match_95", "95 %"},
                                                {"anls", "anls"},
                                                {"worst_decile_anls", "worst tenth"},
                                                {"answer_region_recall", "recall"},
                                                {"qc3", "QC3"},
                                                {"mean_tokens", "tokens"},
                                                {"complex_below_160", "hard &lt; 160"},
                                                {"gflop", "GFLOP"},
                                                {"p50", "p50 ms"},
                                                {"p95", "p95 ms"},
                                                {"peak_mb", "peak MB"},
                                                {"p3", "P3"},
                                                {"p2f", "P2F"},
                                                {"ecr", "ECR"}});
}

std::string counts_section(const ordered_json& json) {
  if (!json.contains("counts")) return "";
  return "<h2>How many tokens</h2><p>The realized policy at each budget against the middle one, on "
         "the same questions; points: mean, low, high.</p>" +
         table_of(json["counts"], {{"budget", "budget"},
                                   {"mean_tokens", "mean tokens"},
                                   {"questions", "questions"},
                                   {"exact_match", "exact match"},
                                   {"points", "points"}});
}

std::string ablation_section(const ordered_json& json) {
  if (!json.contains("ablation")) return "";
  return "<h2>Ablation</h2><p>The whole pipeline stands first; points: difference to it on the "
         "same "
         "questions, mean, low, high.</p>" +
         table_of(json["ablation"], {{"pipeline", "pipeline"},
                                     {"budget", "budget"},
                                     {"questions", "questions"},
                                     {"exact_match", "exact match"},
                                     {"exact_match_95", "95 %"},
                                     {"points_against_the_whole", "points"},
                                     {"answer_region_recall", "recall"},
                                     {"qc3", "QC3"}});
}

std::string patterns_section(const ordered_json& json) {
  if (!json.contains("patterns")) return "";
  std::ostringstream out;
  out << "<h2 id='patterns'>Where the tokens go</h2><p>k-means over the allocation maps of the "
         "realized policy, most frequent first; the questions closest to each mean.</p>";
  for (const auto& p : json["patterns"]) {
    out << "<figure>" << heat_svg(p["density"].get<std::vector<double>>(), p["cols"])
        << "<figcaption>" << p["questions"] << " questions, exact match " << p["exact_match"]
        << ", recall " << p["answer_region_recall"] << "<br>" << text_of(p["kinds"]) << "<ul>";
    for (const auto& example : p["examples"]) out << "<li>" << text_of(example);
    out << "</ul></figcaption></figure>";
  }
  return out.str();
}

std::string growth_section(const ordered_json& json) {
  if (!json.contains("growth")) return "";
  std::ostringstream out;
  out << "<h2>Growth</h2>";
  const std::pair<const char*, const char*> figures[] = {
      {"cpu_ms", "CPU ms"}, {"gflop", "GFLOP"}, {"peak_mb", "peak MB"}};
  for (const char* over : {"megapixels", "tokens"}) {
    if (!json["growth"].contains(over)) continue;
    for (const auto& [key, title] : figures) {
      std::vector<Curve> curves;
      for (const auto& row : json["growth"][over]) {
        const std::string policy = row["policy"];
        if (curves.empty() || curves.back().name != policy) curves.push_back({policy, {}});
        const double y = row[key];
        curves.back().points.push_back({row[over].get<double>(), y, y, y});
      }
      out << "<h3>" << title << " over " << over << "</h3>"
          << curves_svg(curves, over, Height::logarithmic);
    }
  }
  return out.str();
}

std::string gallery_section(const BenchReport& report) {
  if (report.failures.empty()) return "";
  std::ostringstream out;
  out << "<h2>Most confident wrong answers of the realized policy</h2>";
  for (const BenchFailure& f : report.failures)
    out << "<figure><img alt='heat map' src='data:image/png;base64," << base64(f.png)
        << "'><figcaption>" << escape(f.question) << "<br>wanted <b>" << escape(f.wanted)
        << "</b>, got <b>" << escape(f.answer) << "</b> (" << number(100 * f.confidence)
        << " %)</figcaption></figure>";
  return out.str();
}

}  // namespace

std::string bench_html(const BenchReport& report, const ordered_json& json) {
  std::ostringstream out;
  out << "<!doctype html><html lang='en'><meta charset='utf-8'><title>arrcoc bench</title><style>"
         "body{font:15px/1.5 system-ui,sans-serif;max-width:960px;margin:2em auto;padding:0 1em}"
         "table{border-collapse:collapse;font-size:13px;display:block;overflow-x:auto}"
         "td,th{padding:2px 8px;border-bottom:1px solid #ddd;text-align:left}"
         "svg{width:100%;font:12px sans-serif}.heat{border:1px solid #ccc}"
         ".bar{display:inline-block;height:10px;background:#1b6ac9}figure{display:inline-block;"
         "width:280px;margin:8px;vertical-align:top;font-size:13px}img{width:100%}ul{padding-left:"
         "1.2em}</style><h1>arrcoc bench</h1><ul>";
  for (const auto& line : json["conclusion"]) out << "<li>" << text_of(line);
  out << "</ul><h2>Exact match against tokens</h2>"
      << curves_svg(curves_of(report, [](const Summary& s) { return s.mean_tokens; }),
                    "mean tokens (log)", Height::share)
      << "<h2>Exact match against time</h2>"
      << curves_svg(curves_of(report, [](const Summary& s) { return s.p50; }),
                    "median milliseconds (log)", Height::share)
      << kind_bars(report) << full_table(json) << counts_section(json) << ablation_section(json)
      << patterns_section(json) << growth_section(json) << gallery_section(report)
      << "<h2>Settings</h2><pre>" << escape(report.settings.dump(1))
      << "</pre><h2>Machine</h2><pre>" << escape(report.machine.dump(1)) << "</pre></html>\n";
  return out.str();
}

}  // namespace arrcoc::cli
