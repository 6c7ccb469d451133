#include "lab/cli/train_policies.h"

#include <cstdio>
#include <iostream>

#include "arrcoc/error.h"
#include "cli/cli.h"
#include "lab/fit/policies_fit.h"

namespace arrcoc::cli {

training::PolicyOptions policy_options(const nlohmann::json& given) {
  training::PolicyOptions options;
  if (!given.is_object()) throw Error(ErrorCode::bad_json, "policies: no JSON object");
  for (const auto& [key, value] : given.items()) {
    try {
      if (key == "questions") {
        options.questions = value.get<int>();
      } else if (key == "seed") {
        options.seed = value.get<uint64_t>();
      } else if (key == "steps") {
        options.steps = value.get<int>();
      } else if (key == "couplings") {
        options.couplings = value.get<std::vector<std::string>>();
      } else {
        throw Error(ErrorCode::bad_json, "policies: unknown key '" + key + "'");
      }
    } catch (const nlohmann::json::exception& problem) {
      throw Error(ErrorCode::bad_json, "policies: '" + key + "': " + problem.what());
    }
  }
  if (options.questions < 72 || options.questions > 100000 || options.steps < 1)
    throw Error(ErrorCode::bad_argument, "policies: questions from 72 to 100000, steps from 1");
  return options;
}

void train_policies(const training::PolicyOptions& options, const std::string& out, bool json) {
  if (out.empty()) throw Error(ErrorCode::bad_argument, "--policies needs --out FILE");
  require_writable(out);
  Progress progress("looking", static_cast<size_t>(options.questions));
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
