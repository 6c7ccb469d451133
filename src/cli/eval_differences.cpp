// Rows of `arrcoc eval` against the first one, question by question.
#include <map>

#include "cli/eval.h"

namespace arrcoc::cli {

namespace {

using answering::Difference;
using answering::Record;
using nlohmann::ordered_json;

// In all ("all" first) and by suite. A row with a limit was asked fewer questions: pairs are found
// by group and question.
std::vector<std::pair<std::string, Difference>> against(const EvalRow& first, const EvalRow& row) {
  std::map<std::pair<int, std::string>, const Record*> known;
  for (const Record& r : first.records) known[{r.group, r.question}] = &r;
  using Pair = std::pair<std::vector<const Record*>, std::vector<const Record*>>;
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
  out.emplace_back("all", answering::compare(all.first, all.second));
  if (parts.size() > 1)
    for (const auto& [suite, pair] : parts)
      out.emplace_back(suite, answering::compare(pair.first, pair.second));
  return out;
}

std::string cell(double value, const char* format) {
  char text[48];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

}  // namespace

ordered_json differences(const std::vector<EvalRow>& rows) {
  ordered_json out = ordered_json::object();
  for (size_t i = 1; i < rows.size(); ++i)
    for (const auto& [part, d] : against(rows[0], rows[i])) {
      if (d.questions == 0) continue;
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
    }
  return out;
}

std::string difference_table(const std::vector<EvalRow>& rows) {
  std::vector<std::vector<std::string>> lines = {{"less " + rows[0].name, "questions", "n",
                                                  "exact match", "95 %", "won", "lost", "tokens",
                                                  "of " + rows[0].name}};
  for (size_t i = 1; i < rows.size(); ++i)
    for (const auto& [part, d] : against(rows[0], rows[i])) {
      if (d.questions == 0) continue;
      lines.push_back({rows[i].name, part, std::to_string(d.questions),
                       cell(d.exact_match.mean, "%+.3f"),
                       cell(d.exact_match.low, "%+.3f") + cell(d.exact_match.high, " to %+.3f"),
                       std::to_string(d.only_second), std::to_string(d.only_first),
                       cell(d.second_tokens, "%.1f"), cell(d.first_tokens, "%.1f")});
    }
  return lines.size() > 1 ? table(lines) : "";
}

}  // namespace arrcoc::cli
