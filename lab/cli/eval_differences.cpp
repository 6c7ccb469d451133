// Rows of `arrcoc eval` against the first one, question by question.
#include <algorithm>
#include <cmath>

#include "arrcoc/error.h"
#include "lab/cli/eval.h"

namespace arrcoc::cli {

namespace {

using measuring::Difference;
using measuring::Record;
using measuring::Records;

// In all ("all" first) and by suite. A row with a limit was asked fewer questions: pairs are found
// by group and question.
std::vector<std::pair<std::string, Difference>> against(const EvalRow& first, const EvalRow& row) {
  std::map<std::pair<int, std::string>, const Record*> known;
  for (const Record& r : first.records) known[{r.group, r.question}] = &r;
  using Pair = std::pair<Records, Records>;
  std::map<std::string, Pair> parts;
  Pair all;
  for (const Record& r : row.records) {
    const auto found = known.find({r.group, r.question});
    if (found == known.end()) continue;
    for (Pair* pair : {&all, &parts[r.suite]}) {
      pair->first.push_back(found->second);
      pair->second.push_back(&r);
    }
  }
  std::vector<std::pair<std::string, Difference>> out;
  out.emplace_back("all", compare(all.first, all.second));
  if (parts.size() > 1)
    for (const auto& [suite, pair] : parts)
      out.emplace_back(suite, compare(pair.first, pair.second));
  std::erase_if(out, [](const auto& part) { return part.second.questions == 0; });
  return out;
}

// Groups of one suite keep their places among those of all suites.
measuring::GroupSource numbered_from(measuring::GroupSource source, int first) {
  return [source = std::move(source), first]() mutable {
    std::optional<measuring::Group> group = source();
    if (group) group->number += first;
    return group;
  };
}

double mean_tokens(const std::vector<Record>& records, size_t from) {
  double sum = 0;
  for (size_t i = from; i < records.size(); ++i) sum += records[i].tokens;
  return sum / static_cast<double>(std::max<size_t>(1, records.size() - from));
}

constexpr int kTries = 2;           // of another budget
constexpr double kNearly = 0.0125;  // of the tokens that others spent

using Run = std::function<void(std::vector<EvalRow>&, Predictions&)>;

// A row after it was asked with another budget; its nominal one stays.
void take(EvalRow& row, EvalRow asked) {
  asked.options.budget = row.options.budget;
  row = std::move(asked);
}

// Asks a row that looks again until it spends about so many tokens, the last time as it comes.
// Answers that are written out are those of the run that counts.
void measure_near(const Run& run, double tokens, EvalRow& row, Predictions& predictions) {
  const size_t before = row.records.size();
  double budget = tokens;
  std::vector<EvalRow> trial;
  const auto ask = [&](Predictions& heard) {
    trial = {row};
    trial[0].options.budget = std::to_string(std::max(1L, std::lround(budget)));
    run(trial, heard);
    return mean_tokens(trial[0].records, before);
  };
  bool near = false;
  for (int i = 0; i < kTries && !near; ++i) {
    Predictions nobody;
    const double spent = ask(nobody);
    near = !(spent > 0) || std::abs(spent / tokens - 1) <= kNearly;
    if (!near) budget *= tokens / spent;
  }
  if (!near || predictions.wanted()) ask(predictions);
  take(row, std::move(trial[0]));
}

}  // namespace

void measure_at_equal_totals(const std::string& leader, const std::vector<EvalPart>& parts,
                             const baselines::Askers& askers, std::vector<EvalRow>& rows,
                             Predictions& predictions) {
  const auto found = std::find_if(rows.begin(), rows.end(),
                                  [&](const EvalRow& row) { return row.name == leader; });
  if (found == rows.end())
    throw Error(ErrorCode::bad_argument,
                "--equal-totals names a policy of --policy, not '" + leader + "'");
  const auto at = static_cast<size_t>(found - rows.begin());
  for (size_t s = 0; s < parts.size(); ++s) {
    const auto run = [&](std::vector<EvalRow>& some, Predictions& heard) {
      measure_rows(askers, numbered_from(parts[s].groups(), static_cast<int>(s) * kGroupsApart),
                   parts[s].questions, parts[s].name + " " + some[0].name, some, heard, nullptr);
    };
    std::vector<EvalRow> first = {rows[at]};
    const size_t before = first[0].records.size();
    run(first, predictions);
    rows[at] = std::move(first[0]);
    const double tokens = mean_tokens(rows[at].records, before);
    std::vector<EvalRow> single;
    std::vector<size_t> which;
    for (size_t i = 0; i < rows.size(); ++i) {
      if (i == at) continue;
      if (rows[i].options.passes.passes > 1) {
        measure_near(run, tokens, rows[i], predictions);
        continue;
      }
      which.push_back(i);
      single.push_back(rows[i]);
      single.back().options.budget = std::to_string(std::lround(tokens));
    }
    if (!single.empty()) run(single, predictions);
    for (size_t k = 0; k < which.size(); ++k) take(rows[which[k]], std::move(single[k]));
  }
}

ordered_json differences(const std::vector<EvalRow>& rows) {
  ordered_json out = ordered_json::object();
  for (size_t i = 1; i < rows.size(); ++i)
    for (const auto& [part, d] : against(rows[0], rows[i]))
      out[rows[i].name][part] = {
          {"questions", d.questions},
          {"exact_match", rounded(d.exact_match.mean)},
          {"exact_match_95", {rounded(d.exact_match.low), rounded(d.exact_match.high)}},
          {"anls", rounded(d.anls.mean)},
          {"anls_95", {rounded(d.anls.low), rounded(d.anls.high)}},
          {"right_only_with_first", d.only_first},
          {"right_only_with_this", d.only_second},
          {"tokens_of_first", rounded(d.first_tokens)},
          {"tokens", rounded(d.second_tokens)}};
  return out;
}

std::string difference_table(const std::vector<EvalRow>& rows) {
  std::vector<std::vector<std::string>> lines = {{"less " + rows[0].name, "questions", "n",
                                                  "exact match", "95 %", "won", "lost", "tokens",
                                                  "of " + rows[0].name}};
  for (size_t i = 1; i < rows.size(); ++i)
    for (const auto& [part, d] : against(rows[0], rows[i]))
      lines.push_back(
          {rows[i].name, part, std::to_string(d.questions), signed_fixed(d.exact_match.mean, 3),
           signed_fixed(d.exact_match.low, 3) + " to " + signed_fixed(d.exact_match.high, 3),
           std::to_string(d.only_second), std::to_string(d.only_first), fixed(d.second_tokens, 1),
           fixed(d.first_tokens, 1)});
  return lines.size() > 1 ? table(lines) : "";
}

}  // namespace arrcoc::cli
