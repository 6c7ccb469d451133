// arrcoc train --policies N --out FILE
#include <iostream>

#include "arrcoc/error.h"
#include "lab/cli/train.h"

namespace arrcoc::cli {

fitting::PolicyOptions policy_options(const json& given) {
  fitting::PolicyOptions options;
  JsonFields("policies", given)
      .field("questions", options.questions)
      .field("seed", options.seed)
      .field("steps", options.steps)
      .field("couplings", options.couplings)
      .done();
  if (options.questions < 72 || options.questions > 100000 || options.steps < 1)
    throw Error(ErrorCode::bad_argument, "policies: questions from 72 to 100000, steps from 1");
  return options;
}

void train_policies(const fitting::PolicyOptions& options, const std::string& out, bool json) {
  if (out.empty()) throw Error(ErrorCode::bad_argument, "--policies needs --out FILE");
  const auto kept = kept_of(out);
  require_writable(out);
  Progress progress("looking", static_cast<size_t>(options.questions));
  int before = 0;
  const auto network = find_bundle().empty() ? nullptr : bundle()->looker;
  const auto report = fitting::fit_policies(options, network, [&](int done, int) {
    progress.step(static_cast<size_t>(done - before));
    before = done;
  });
  std::string text = report.json;
  if (kept.contains("outcome")) {
    auto file = arrcoc::json::parse(text);
    file["outcome"] = kept["outcome"];
    text = file.dump(1);
  }
  write_text(out, text + "\n");
  if (json) {
    std::cout << arrcoc::json::parse(report.json).dump() << "\n";
    return;
  }
  std::vector<std::vector<std::string>> rows{
      {"coupling", "balancing, allocation", "questions", "recall, 100", "recall, 180"}};
  for (const auto& row : report.rows)
    rows.push_back({row.coupling, row.what, std::to_string(row.questions), fixed(row.at_100, 3),
                    fixed(row.at_180, 3)});
  std::cout << table(rows) << out << "\n";
}

}  // namespace arrcoc::cli
