// The report as one self-contained page: curves and bars as SVG, pictures inside.
#include <algorithm>
#include <cmath>
#include <sstream>

#include "cli/bench.h"

namespace arrcoc::cli {

namespace {

using answering::Record;
using answering::Summary;

const char* const kColours[] = {"#1b6ac9", "#2a9d4a", "#d1495b", "#8a5fbf", "#c98a1b",
                                "#3aa6a6", "#777777", "#b03a8c", "#5a7d2a", "#a0522d"};

std::string escape(const std::string& text) {
  std::string out;
  for (char c : text) {
    if (c == '<') {
      out += "&lt;";
    } else if (c == '&') {
      out += "&amp;";
    } else if (c == '"') {
      out += "&quot;";
    } else {
      out += c;
    }
  }
  return out;
}

std::string base64(const std::string& bytes) {
  static const char* const kLetters =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (size_t i = 0; i < bytes.size(); i += 3) {
    uint32_t group = 0;
    for (size_t k = 0; k < 3; ++k)
      group = group << 8 | (i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0);
    for (size_t k = 0; k < 4; ++k)
      out += i + k <= bytes.size() ? kLetters[group >> (18 - 6 * k) & 63] : '=';
  }
  return out;
}

std::string number(double v) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", v);
  return text;
}

struct Curve {
  std::string name;
  std::vector<std::array<double, 4>> points;  // x, mean, low, high
};

// Accuracy over something that costs, the cost on a logarithmic axis.
std::string curves_svg(const std::vector<Curve>& curves, const std::string& axis) {
  constexpr double kWidth = 640, kHeight = 360, kLeft = 50, kBottom = 40;
  double low = 1e300, high = 0;
  for (const Curve& c : curves)
    for (const auto& p : c.points) low = std::min(low, p[0]), high = std::max(high, p[0]);
  if (!(high > 0)) return "";
  const double span = std::max(1e-6, std::log(high) - std::log(low));
  const auto x = [&](double v) {
    return kLeft + 10 + (kWidth - kLeft - 160) * (std::log(v) - std::log(low)) / span;
  };
  const auto y = [&](double v) { return 10 + (kHeight - kBottom - 10) * (1 - v); };
  std::ostringstream out;
  out << "<svg viewBox='0 0 " << kWidth << " " << kHeight << "' role='img'>";
  for (double t = 0; t <= 1.001; t += 0.2)
    out << "<line x1='" << kLeft << "' x2='" << kWidth - 150 << "' y1='" << y(t) << "' y2='" << y(t)
        << "' stroke='#ddd'/><text x='" << kLeft - 6 << "' y='" << y(t) + 4
        << "' text-anchor='end'>" << number(t) << "</text>";
  out << "<text x='" << (kWidth - 100) / 2 << "' y='" << kHeight - 6 << "' text-anchor='middle'>"
      << escape(axis) << ": " << number(low) << " to " << number(high) << "</text>";
  for (size_t i = 0; i < curves.size(); ++i) {
    const char* colour = kColours[i % std::size(kColours)];
    std::string line;
    for (const auto& p : curves[i].points) {
      line += (line.empty() ? "" : " ") + number(x(p[0])) + "," + number(y(p[1]));
      out << "<line x1='" << x(p[0]) << "' x2='" << x(p[0]) << "' y1='" << y(p[2]) << "' y2='"
          << y(p[3]) << "' stroke='" << colour << "' opacity='.45'/><circle cx='" << x(p[0])
          << "' cy='" << y(p[1]) << "' r='3.5' fill='" << colour << "'/>";
    }
    out << "<polyline points='" << line << "' fill='none' stroke='" << colour << "'/>"
        << "<text x='" << kWidth - 140 << "' y='" << 24 + 18 * i << "' fill='" << colour << "'>"
        << escape(curves[i].name) << "</text>";
  }
  return out.str() + "</svg>";
}

Summary summary_of(const std::vector<const Record*>& records) {
  return answering::summarise(records);
}

template <class Cost>
std::vector<Curve> curves_of(const BenchReport& report, const Cost& cost) {
  std::vector<Curve> out;
  for (const BenchCell& cell : report.cells) {
    if (cell.records.empty()) continue;
    if (out.empty() || out.back().name != cell.policy) out.push_back({cell.policy, {}});
    std::vector<const Record*> all;
    for (const Record& r : cell.records) all.push_back(&r);
    const Summary s = summary_of(all);
    out.back().points.push_back(
        {std::max(1e-3, cost(s)), s.exact_match.mean, s.exact_match.low, s.exact_match.high});
  }
  for (Curve& c : out) std::sort(c.points.begin(), c.points.end());
  return out;
}

// Exact match of every kind for the realized policy at its middle budget and its rivals there.
std::string kind_bars(const BenchReport& report) {
  std::vector<const BenchCell*> mine;
  for (const BenchCell& cell : report.cells)
    if (cell.policy == "realized" && !cell.records.empty()) mine.push_back(&cell);
  if (mine.empty()) return "";
  const std::string budget = mine[mine.size() / 2]->budget;
  std::ostringstream out;
  out << "<h2>By kind, " << escape(budget)
      << " tokens</h2><table><tr><th>kind<th>policy<th>exact "
         "match</tr>";
  std::map<std::string, std::vector<std::pair<std::string, double>>> kinds;
  for (const BenchCell& cell : report.cells) {
    if (cell.budget != budget && cell.budget != "own") continue;
    std::map<std::string, std::vector<const Record*>> parts;
    for (const Record& r : cell.records) parts[r.kind].push_back(&r);
    for (const auto& [kind, records] : parts)
      kinds[kind].emplace_back(cell.policy, summary_of(records).exact_match.mean);
  }
  for (const auto& [kind, rows] : kinds)
    for (const auto& [policy, value] : rows)
      out << "<tr><td>" << escape(kind) << "<td>" << escape(policy) << "<td><span class=bar style='"
          << "width:" << number(240 * value) << "px'></span> " << number(value) << "</tr>";
  return out.str() + "</table>";
}

std::string full_table(const BenchReport& report) {
  const auto json = bench_json(report);
  std::ostringstream out;
  out << "<h2>All cells</h2><table><tr><th>policy<th>budget<th>questions<th>exact match<th>95 %"
         "<th>anls<th>recall<th>tokens<th>GFLOP<th>p50 ms<th>p95 ms<th>peak MB</tr>";
  if (!json.contains("cells")) return "";
  for (const auto& c : json["cells"]) {
    const auto value = [&](const char* key) { return c.contains(key) ? c[key].dump() : "-"; };
    out << "<tr><td>" << escape(c["policy"].get<std::string>()) << "<td>"
        << escape(c["budget"].get<std::string>());
    for (const char* key : {"questions", "exact_match", "exact_match_95", "anls",
                            "answer_region_recall", "mean_tokens", "gflop"})
      out << "<td>" << value(key);
    out << "<td>" << c["milliseconds"]["p50"].dump() << "<td>" << c["milliseconds"]["p95"].dump()
        << "<td>" << value("peak_mb") << "</tr>";
  }
  return out.str() + "</table>";
}

}  // namespace

std::string bench_html(const BenchReport& report) {
  std::ostringstream out;
  out << "<!doctype html><html lang='en'><meta charset='utf-8'><title>arrcoc bench</title><style>"
         "body{font:15px/1.5 system-ui,sans-serif;max-width:960px;margin:2em auto;padding:0 1em}"
         "table{border-collapse:collapse;font-size:13px}td,th{padding:2px 8px;border-bottom:1px "
         "solid #ddd;text-align:left}svg{width:100%;font:12px sans-serif}.bar{display:inline-block;"
         "height:10px;background:#1b6ac9}figure{display:inline-block;width:300px;margin:8px;"
         "vertical-align:top}img{width:100%}</style><h1>arrcoc bench</h1><ul>";
  for (const std::string& line : bench_conclusion(report)) out << "<li>" << escape(line);
  out << "</ul><h2>Exact match against tokens</h2>"
      << curves_svg(curves_of(report, [](const Summary& s) { return s.mean_tokens; }),
                    "mean tokens (log)")
      << "<h2>Exact match against time</h2>"
      << curves_svg(curves_of(report, [](const Summary& s) { return s.p50; }),
                    "median milliseconds (log)")
      << kind_bars(report) << full_table(report);
  if (!report.failures.empty()) out << "<h2>Wrong answers of the realized policy</h2>";
  for (const BenchFailure& f : report.failures)
    out << "<figure><img alt='heat map' src='data:image/png;base64," << base64(f.png)
        << "'><figcaption>" << escape(f.question) << "<br>wanted <b>" << escape(f.wanted)
        << "</b>, got <b>" << escape(f.answer) << "</b> (" << number(100 * f.confidence)
        << " %)</figcaption></figure>";
  out << "<h2>Settings</h2><pre>" << escape(report.settings.dump(1))
      << "</pre><h2>Machine</h2><pre>" << escape(report.machine.dump(1)) << "</pre></html>\n";
  return out.str();
}

}  // namespace arrcoc::cli
