// Cells against each other, on the questions that both were asked.
#include <algorithm>
#include <map>

#include "lab/cli/bench.h"

namespace arrcoc::cli {

namespace {

using answering::Record;
using nlohmann::ordered_json;

// A question of a cell: suite, picture, and its place among the picture's questions.
using Place = std::tuple<std::string, int, int>;

std::map<Place, const Record*> places(const BenchCell& cell) {
  std::map<std::pair<std::string, int>, int> seen;
  std::map<Place, const Record*> out;
  for (const Record& r : cell.records) out[{r.suite, r.group, seen[{r.suite, r.group}]++}] = &r;
  return out;
}

ordered_json to_json(const measuring::Interval& i) {
  return {rounded(100 * i.mean), rounded(100 * i.low), rounded(100 * i.high)};
}

std::string points(const measuring::Interval& i) {
  return fixed(100 * i.mean, 1) + " points (" + fixed(100 * i.low, 1) + " to " +
         fixed(100 * i.high, 1) + ")";
}

}  // namespace

std::string fixed(double value, int digits) {
  char text[48];
  std::snprintf(text, sizeof text, "%.*f", digits, value);
  return text;
}

answering::Summary summary_of(const BenchCell& cell) {
  std::vector<const Record*> all;
  for (const Record& r : cell.records) all.push_back(&r);
  return answering::summarise(all);
}

const BenchCell* middle_cell(const BenchReport& report, const std::string& policy) {
  std::vector<const BenchCell*> all;
  for (const BenchCell& cell : report.cells)
    if (cell.policy == policy && !cell.ablation && !cell.extra) all.push_back(&cell);
  // A policy that was named with budgets of its own only.
  if (all.empty())
    for (const BenchCell& cell : report.cells)
      if (cell.policy == policy && !cell.ablation) all.push_back(&cell);
  return all.empty() ? nullptr : all[all.size() / 2];
}

Paired paired(const BenchCell& a, const BenchCell& b) {
  Paired out;
  const auto first = places(a), second = places(b);
  std::vector<double> differences;
  std::vector<int> groups;
  for (const auto& [place, r] : first) {
    const auto other = second.find(place);
    if (other == second.end() || !r->answered || !other->second->answered) continue;
    ++out.questions;
    out.a += r->right ? 1 : 0;
    out.b += other->second->right ? 1 : 0;
    differences.push_back((other->second->right ? 1.0 : 0.0) - (r->right ? 1.0 : 0.0));
    groups.push_back(r->group);
  }
  out.a /= std::max(1, out.questions);
  out.b /= std::max(1, out.questions);
  out.difference = measuring::bootstrap(differences, groups);
  return out;
}

std::vector<std::string> bench_conclusion(const BenchReport& report) {
  std::vector<std::pair<double, std::string>> losses, wins;
  for (const BenchCell& cell : report.cells) {
    if (cell.policy == "realized" || cell.policy == "oracle" || cell.ablation) continue;
    for (const BenchCell& mine : report.cells) {
      if (mine.policy != "realized" || mine.ablation) continue;
      if (mine.extra && cell.budget == "own") continue;
      if (cell.budget != "own" && cell.budget != mine.budget) continue;
      const Paired p = paired(mine, cell);
      if (p.questions == 0) continue;
      const bool apart = p.difference.low > 0 || p.difference.high < 0;
      const std::string line = cell.policy + " (" + fixed(summary_of(cell).mean_tokens, 0) +
                               " tokens) " + fixed(p.b, 3) + ", realized at " + mine.budget + " " +
                               fixed(p.a, 3) + ": " + points(p.difference) + ", " +
                               std::to_string(p.questions) + " questions" +
                               (apart ? "" : "; not told apart");
      (p.difference.mean >= 0 ? losses : wins).emplace_back(-p.difference.mean, line);
    }
  }
  std::stable_sort(losses.begin(), losses.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::string> out;
  for (const auto& [by, line] : losses) out.push_back("Not beaten: " + line);
  if (losses.empty() && !wins.empty())
    out.emplace_back("No baseline of this run does as well as realized at the same budget");
  const BenchCell* mine = middle_cell(report, "realized");
  for (const BenchCell& oracle : report.cells) {
    if (!mine || oracle.policy != "oracle" || oracle.budget != mine->budget) continue;
    if (const Paired p = paired(*mine, oracle); p.questions > 0)
      out.push_back("Left to the oracle at " + mine->budget + " tokens: " + points(p.difference) +
                    ", " + std::to_string(p.questions) + " questions");
  }
  for (const auto& [by, line] : wins) out.push_back("Beaten: " + line);
  return out;
}

ordered_json bench_counts(const BenchReport& report) {
  ordered_json out = ordered_json::array();
  const BenchCell* middle = middle_cell(report, "realized");
  for (const BenchCell& cell : report.cells) {
    if (cell.policy != "realized" || cell.ablation) continue;
    const Paired p = paired(*middle, cell);
    if (p.questions == 0) continue;
    out.push_back({{"budget", cell.budget},
                   {"mean_tokens", rounded(summary_of(cell).mean_tokens)},
                   {"questions", p.questions},
                   {"exact_match", rounded(p.b)},
                   {"against", middle->budget},
                   {"points", to_json(p.difference)}});
  }
  std::stable_sort(out.begin(), out.end(), [](const ordered_json& a, const ordered_json& b) {
    return a["mean_tokens"] < b["mean_tokens"];
  });
  return out;
}

ordered_json bench_ablation(const BenchReport& report) {
  ordered_json out = ordered_json::array();
  const BenchCell* whole = nullptr;
  for (const BenchCell& cell : report.cells) {
    if (!cell.ablation || cell.records.empty()) continue;
    if (!whole) whole = &cell;
    const answering::Summary s = summary_of(cell);
    const Paired p = paired(*whole, cell);
    out.push_back({{"pipeline", cell.policy},
                   {"budget", cell.budget},
                   {"questions", s.questions},
                   {"exact_match", rounded(s.exact_match.mean)},
                   {"exact_match_95", {rounded(s.exact_match.low), rounded(s.exact_match.high)}},
                   {"points_against_the_whole", to_json(p.difference)},
                   {"answer_region_recall", rounded(s.recall.mean)},
                   {"qc3", rounded(s.qc3.mean)},
                   {"mean_tokens", rounded(s.mean_tokens)}});
  }
  return out;
}

}  // namespace arrcoc::cli
