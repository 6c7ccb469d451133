// Wrong answers counted by cause, and what changed since an earlier run.
#include <map>

#include "arrcoc/error.h"
#include "lab/cli/bench.h"

namespace arrcoc::cli {

namespace {

using measuring::Cause;
using measuring::Record;

constexpr auto& kCauses = EnumNames<Cause>::kNames;

ordered_json counts_of(const measuring::Records& records) {
  int answered = 0, close = 0;
  std::map<Cause, int> counts;
  for (const Record* r : records) {
    answered += r->answered ? 1 : 0;
    if (r->cause) ++counts[*r->cause];
    if (r->cause == Cause::unknown_place && r->anls > 0) ++close;
  }
  ordered_json out = {{"answered", answered}, {"wrong", 0}};
  int wrong = 0;
  for (const auto& [cause, name] : kCauses) {
    out[name] = counts[cause];
    wrong += counts[cause];
  }
  out["wrong"] = wrong;
  out["not known where, half of the letters right"] = close;
  return out;
}

// A question of any run: how its folder is reached and which folders come before it do not matter.
using Asked = std::tuple<std::string, int, int>;
std::map<Asked, const Record*> asked(const BenchCell& cell) {
  std::map<Asked, const Record*> out;
  for (const auto& [place, r] : places(cell)) {
    const auto& [suite, group, index] = place;
    out[{leaf_name(suite), group % kGroupsApart, index}] = r;
  }
  return out;
}

ordered_json changed(const Record& before, const Record& after) {
  const auto& wrong = before.cause ? before.cause : after.cause;
  return {{"suite", leaf_name(after.suite)}, {"question", after.question},
          {"wanted", after.wanted},          {"before", before.answer},
          {"after", after.answer},           {"cause", wrong ? to_string(*wrong) : ""}};
}

}  // namespace

ordered_json bench_causes(const BenchCell& cell) {
  ordered_json out = {{"policy", cell.policy}, {"budget", cell.budget}};
  out["all"] = counts_of(measuring::all_of(cell.records));
  std::map<std::string, measuring::Records> suites;
  for (const Record& r : cell.records) suites[leaf_name(r.suite)].push_back(&r);
  for (const auto& [name, records] : suites) out["suites"][name] = counts_of(records);
  return out;
}

ordered_json bench_change(const BenchCell& before, const BenchCell& after) {
  const auto first = asked(before);
  measuring::Records mine, others;
  ordered_json gained = ordered_json::array(), lost = ordered_json::array();
  for (const auto& [place, r] : asked(after)) {
    const auto other = first.find(place);
    if (other == first.end() || other->second->question != r->question) continue;
    const Record& was = *other->second;
    if (!r->answered || !was.answered) continue;
    mine.push_back(r);
    others.push_back(&was);
    if (was.right != r->right) (r->right ? gained : lost).push_back(changed(was, *r));
  }
  if (mine.empty())
    throw Error(ErrorCode::bad_argument, "--before holds no question that this run was asked");
  const measuring::Difference d = compare(others, mine);
  const ordered_json was = counts_of(others), is = counts_of(mine);
  ordered_json out = {{"paired", d.questions},
                      {"exact_match", {rounded(d.first_right), rounded(d.second_right)}},
                      {"points",
                       {rounded(100 * d.exact_match.mean), rounded(100 * d.exact_match.low),
                        rounded(100 * d.exact_match.high)}}};
  for (const auto& [cause, name] : kCauses) out["causes"][name] = {was[name], is[name]};
  out["gained"] = std::move(gained);
  out["lost"] = std::move(lost);
  return out;
}

std::string causes_markdown(const ordered_json& report) {
  const ordered_json& causes = report["causes"];
  std::string out = "\n## Wrong answers by cause (" + causes["policy"].get<std::string>() + " at " +
                    causes["budget"].get<std::string>() + ")\n\n| set | answered | wrong |";
  for (const auto& [cause, name] : kCauses) out += std::string(" ") + name + " |";
  out += "\n|---|---|---|---|---|---|---|---|\n";
  const auto row = [&](const std::string& set, const ordered_json& counts) {
    out += "| " + set + " | " + counts["answered"].dump() + " | " + counts["wrong"].dump() + " |";
    for (const auto& [cause, name] : kCauses) out += " " + counts[name].dump() + " |";
    out += "\n";
  };
  if (causes.contains("suites"))
    for (const auto& [set, counts] : causes["suites"].items()) row(set, counts);
  row("all", causes["all"]);
  out += "\nOf those whose place is not known, " +
         causes["all"]["not known where, half of the letters right"].dump() +
         " have at least half of the letters right. What each cause means: docs/bench.md.\n";
  if (!report.contains("change")) return out;
  const ordered_json& change = report["change"];
  out += "\nBefore and after, on " + change["paired"].dump() +
         " questions of both runs: exact match " + fixed(change["exact_match"][0], 3) + " and " +
         fixed(change["exact_match"][1], 3) + ", " + fixed(change["points"][0], 1) + " points (" +
         fixed(change["points"][1], 1) + " to " + fixed(change["points"][2], 1) + "); gained " +
         std::to_string(change["gained"].size()) + ", lost " +
         std::to_string(change["lost"].size()) + ".\n\n| cause | before | after |\n|---|---|---|\n";
  for (const auto& [name, pair] : change["causes"].items())
    out += "| " + name + " | " + pair[0].dump() + " | " + pair[1].dump() + " |\n";
  return out;
}

}  // namespace arrcoc::cli
