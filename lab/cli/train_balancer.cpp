// arrcoc train --balancer N [--data DIR]... --out FILE
#include <filesystem>
#include <iostream>

#include "arrcoc/error.h"
#include "lab/cli/train.h"

namespace arrcoc::cli {

namespace {

using fitting::BalanceReport;
using measuring::Interval;

ordered_json interval_json(const Interval& i) {
  return {rounded(i.mean), rounded(i.low), rounded(i.high)};
}

std::string with_interval(const Interval& i, int digits) {
  return signed_fixed(i.mean, digits) + " (" + signed_fixed(i.low, digits) + " to " +
         signed_fixed(i.high, digits) + ")";
}

ordered_json measured(const BalanceReport& report) {
  ordered_json out = {{"fitted_on", report.fitted_on},
                      {"expected_before", rounded(report.expected_before)},
                      {"expected_after", rounded(report.expected_after)}};
  for (const auto& row : report.rows)
    out["kept_back"].push_back({{"what", row.what},
                                {"questions", row.questions},
                                {"right", rounded(row.right)},
                                {"score", rounded(row.score)},
                                {"reward", rounded(row.reward)},
                                {"points", interval_json(row.points)},
                                {"reward_gain", interval_json(row.gain)}});
  for (const auto& kind : report.kinds) {
    ordered_json means = ordered_json::array();
    for (const Interval& one : kind.mean) means.push_back(interval_json(one));
    out["means"][kind.kind] = {{"questions", kind.questions}, {"weights_and_tensions", means}};
  }
  return out;
}

void print(const BalanceReport& report) {
  std::vector<std::vector<std::string>> rows{
      {"balance", "questions", "right", "score", "reward", "points (95 %)", "reward (95 %)"}};
  for (const auto& r : report.rows)
    rows.push_back({r.what, std::to_string(r.questions), fixed(r.right, 3), fixed(r.score, 3),
                    fixed(r.reward, 3), with_interval(r.points, 1), with_interval(r.gain, 3)});
  std::cout << table(rows) << "\n";
  std::vector<std::vector<std::string>> kinds{
      {"kind", "questions", "information", "salience", "coupling", "compress", "exploit", "focus"}};
  for (const auto& k : report.kinds) {
    auto& row = kinds.emplace_back(std::vector{k.kind, std::to_string(k.questions)});
    for (const Interval& m : k.mean)
      row.push_back(fixed(m.mean, 3) + " (" + fixed(m.low, 3) + "-" + fixed(m.high, 3) + ")");
  }
  std::cout << table(kinds) << "reward expected of the " << report.fitted_on
            << " fitted on: " << fixed(report.expected_before, 4) << " before, "
            << fixed(report.expected_after, 4) << " after\n";
}

}  // namespace

json kept_of(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) return json::object();
  json out = json::parse(read_text(path), nullptr, false);
  if (!out.is_object()) throw Error(ErrorCode::bad_json, path + " is no JSON object");
  return out;
}

void train_balancer(const fitting::BalanceFitOptions& options, const std::vector<std::string>& data,
                    const std::string& out, bool json_out) {
  if (out.empty()) throw Error(ErrorCode::bad_argument, "--balancer needs --out FILE");
  json file = kept_of(out);
  require_writable(out);
  const auto bundle = load_bundle();
  std::vector<fitting::BalanceSource> sources{
      {"", measuring::ahead(measuring::held_out_groups(options.questions))}};
  size_t total = static_cast<size_t>(options.questions);
  for (const std::string& folder : data) {
    const QuestionFolder opened = open_data(folder, 0, 0);
    sources.push_back({leaf_name(folder), opened.groups});
    total += std::min(opened.questions, static_cast<size_t>(options.questions));
  }
  Progress progress("answering", total);
  const BalanceReport report = fit_balance(options, *bundle, sources, [&] { progress.step(1); });
  file["outcome"] = json::parse(to_json(report.net));
  write_text(out, file.dump(1) + "\n");
  if (json_out)
    std::cout << measured(report).dump() << "\n";
  else
    print(report);
}

}  // namespace arrcoc::cli
