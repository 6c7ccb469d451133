// arrcoc eval --calibrate FOLDER: confidence and budgets of these weights, on held-out scenes.
#include <filesystem>
#include <iostream>

#include "lab/cli/eval.h"
#include "lab/fit/calibration_fit.h"

namespace arrcoc::cli {

void calibrate(const std::string& folder, int questions, bool json) {
  using nlohmann::ordered_json;
  const auto model = tiny::TinyModel::load(folder);
  const answering::Answerer fresh(model, {});
  Progress progress("calibrating", static_cast<size_t>(questions));
  const auto trials = answering::try_budgets(
      fresh, answering::ahead(answering::held_out_groups(questions)), [&](int done) {
        for (int i = 0; i < done; ++i) progress.step();
      });
  const answering::Fit fit = answering::fit(trials, model->fingerprint());
  ordered_json out = ordered_json::parse(answering::to_json(fit.calibration));
  out["measured"] = {{"questions", fit.questions},
                     {"mean_tokens", rounded(fit.mean_tokens)},
                     {"simple_tokens", rounded(fit.simple)},
                     {"complex_tokens", rounded(fit.complex)},
                     {"targets_met", fit.met},
                     {"exact_match", rounded(fit.exact_match)},
                     {"exact_match_at_180", rounded(fit.exact_match_180)},
                     {"calibration_error_before", rounded(fit.error_before)},
                     {"calibration_error_after", rounded(fit.error_after)}};
  const std::string text = out.dump(2) + "\n";
  const std::string path = (std::filesystem::path(folder) / "calibration.json").string();
  media::write_file(path, std::vector<uint8_t>(text.begin(), text.end()));
  std::cout << (json ? out.dump() + "\n" : path + "\n" + text);
}

}  // namespace arrcoc::cli
