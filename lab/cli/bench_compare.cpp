// Cells against each other, on the questions that both were asked.
#include <algorithm>
#include <map>

#include "lab/cli/bench.h"

namespace arrcoc::cli {

namespace {

using measuring::Difference;
using measuring::Record;

ordered_json to_json(const measuring::Interval& i) {
  return {rounded(100 * i.mean), rounded(100 * i.low), rounded(100 * i.high)};
}

std::string points(const measuring::Interval& i) {
  return fixed(100 * i.mean, 1) + " points (" + fixed(100 * i.low, 1) + " to " +
         fixed(100 * i.high, 1) + ")";
}

}  // namespace

std::map<Place, const Record*> places(const BenchCell& cell) {
  std::map<std::pair<std::string, int>, int> seen;
  std::map<Place, const Record*> out;
  for (const Record& r : cell.records) out[{r.suite, r.group, seen[{r.suite, r.group}]++}] = &r;
  return out;
}

const BenchCell& shown_cell(const BenchReport& report) {
  const BenchCell* mine = middle_cell(report, report.ours);
  if (!mine) mine = middle_cell(report, report.cells.front().policy);
  return mine ? *mine : report.cells.front();
}

measuring::Summary summary_of(const BenchCell& cell) {
  return summarise(measuring::all_of(cell.records));
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

Difference paired(const BenchCell& a, const BenchCell& b) {
  const auto first = places(a), second = places(b);
  measuring::Records mine, others;
  for (const auto& [place, r] : first) {
    const auto other = second.find(place);
    if (other == second.end()) continue;
    mine.push_back(r);
    others.push_back(other->second);
  }
  return compare(mine, others);
}

namespace {

// The rival's line of the conclusion; "" where both were never asked the same.
struct Verdict {
  double by = 0;
  std::string line;
};
std::optional<Verdict> verdict(const BenchCell& mine, const BenchCell& cell) {
  const Difference d = paired(mine, cell);
  if (d.questions == 0) return std::nullopt;
  const measuring::Summary s = summary_of(cell);
  const bool own = s.metric != to_string(measuring::Metric::exact);  // of a published set
  const measuring::Interval& by = own ? d.score : d.exact_match;
  const bool apart = by.low > 0 || by.high < 0;
  return Verdict{by.mean,
                 cell.policy + " (" + fixed(s.mean_tokens, 0) + " tokens) " +
                     fixed(own ? d.second_score : d.second_right, 3) + ", " + mine.policy + " at " +
                     mine.budget + " " + fixed(own ? d.first_score : d.first_right, 3) + ": " +
                     points(by) + ", " + std::to_string(d.questions) + " questions" +
                     (own ? " (" + s.metric + ")" : "") + (apart ? "" : "; not told apart")};
}

bool rivals(const std::string& ours, const BenchCell& mine, const BenchCell& cell) {
  if (mine.policy != ours || mine.ablation) return false;
  return cell.own_budget() ? !mine.extra : cell.budget == mine.budget;
}

}  // namespace

std::vector<std::string> bench_conclusion(const BenchReport& report) {
  std::vector<Verdict> losses, wins;
  for (const BenchCell& cell : report.cells) {
    if (cell.policy == report.ours || cell.policy == "oracle" || cell.ablation) continue;
    for (const BenchCell& mine : report.cells)
      if (rivals(report.ours, mine, cell))
        if (const auto found = verdict(mine, cell))
          (found->by >= 0 ? losses : wins).push_back(*found);
  }
  std::stable_sort(losses.begin(), losses.end(),
                   [](const Verdict& a, const Verdict& b) { return a.by > b.by; });
  std::vector<std::string> out;
  for (const Verdict& loss : losses) out.push_back("Not beaten: " + loss.line);
  if (losses.empty() && !wins.empty())
    out.push_back("No baseline of this run does as well as " + report.ours + " at the same budget");
  const BenchCell* mine = middle_cell(report, report.ours);
  for (const BenchCell& oracle : report.cells) {
    if (!mine || oracle.policy != "oracle" || oracle.budget != mine->budget) continue;
    if (const Difference d = paired(*mine, oracle); d.questions > 0)
      out.push_back("Left to the oracle at " + mine->budget + " tokens: " + points(d.exact_match) +
                    ", " + std::to_string(d.questions) + " questions");
  }
  for (const Verdict& win : wins) out.push_back("Beaten: " + win.line);
  std::string last;
  for (const BenchCell& cell : report.cells)
    if (!cell.refused.empty() && cell.policy != last) {
      out.push_back(cell.policy + ": not with this model: " + cell.refused);
      last = cell.policy;
    }
  return out;
}

ordered_json bench_counts(const BenchReport& report) {
  ordered_json out = ordered_json::array();
  const BenchCell* middle = middle_cell(report, report.ours);
  for (const BenchCell& cell : report.cells) {
    if (cell.policy != report.ours || cell.ablation) continue;
    const Difference d = paired(*middle, cell);
    if (d.questions == 0) continue;
    out.push_back({{"budget", cell.budget},
                   {"mean_tokens", rounded(summary_of(cell).mean_tokens)},
                   {"questions", d.questions},
                   {"exact_match", rounded(d.second_right)},
                   {"against", middle->budget},
                   {"points", to_json(d.exact_match)}});
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
    const measuring::Summary s = summary_of(cell);
    out.push_back({{"pipeline", cell.policy},
                   {"budget", cell.budget},
                   {"questions", s.questions},
                   {"exact_match", rounded(s.exact_match.mean)},
                   {"exact_match_95", {rounded(s.exact_match.low), rounded(s.exact_match.high)}},
                   {"points_against_the_whole", to_json(paired(*whole, cell).exact_match)},
                   {"answer_region_recall", rounded(s.recall.mean)},
                   {"qc3", rounded(s.qc3.mean)},
                   {"mean_tokens", rounded(s.mean_tokens)}});
  }
  return out;
}

}  // namespace arrcoc::cli
