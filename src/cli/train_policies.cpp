#include "cli/train_policies.h"

#include <cstdio>
#include <iostream>

#include "arrcoc/error.h"
#include "arrcoc/policies.h"
#include "cli/cli.h"

namespace arrcoc::cli {

void train_policies(int questions, const std::string& out, bool json) {
  if (out.empty()) throw Error(ErrorCode::bad_argument, "--policies needs --out FILE");
  require_writable(out);
  training::PolicyOptions options;
  options.questions = questions;
  Progress progress("looking", static_cast<size_t>(questions));
  int before = 0;
  const auto report = training::fit_policies(options, [&](int done, int) {
    for (; before < done; ++before) progress.step();
  });
  const std::string text = report.json + "\n";
  media::write_file(out, std::vector<uint8_t>(text.begin(), text.end()));
  if (json) {
    std::cout << nlohmann::json::parse(report.json).dump() << "\n";
    return;
  }
  std::vector<std::vector<std::string>> rows{
      {"coupling", "balancing, allocation", "questions", "recall, 100", "recall, 180"}};
  const auto figure = [](double value) {
    char shown[16];
    std::snprintf(shown, sizeof shown, "%.3f", value);
    return std::string(shown);
  };
  for (const auto& row : report.rows)
    rows.push_back({row.coupling, row.what, std::to_string(row.questions), figure(row.at_100),
                    figure(row.at_180)});
  std::cout << table(rows) << out << "\n";
}

}  // namespace arrcoc::cli
