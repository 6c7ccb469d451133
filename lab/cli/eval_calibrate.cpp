// arrcoc eval --calibrate FOLDER: confidence and budgets of these weights, on held-out scenes.
#include <filesystem>
#include <iostream>

#include "lab/cli/eval.h"
#include "lab/fit/calibration_fit.h"
#include "models/tiny/tiny.h"

namespace arrcoc::cli {

void calibrate(const std::string& folder, int questions, bool json) {
  const auto fitted = load_bundle(folder);
  auto neutral = std::make_shared<Bundle>(*make_bundle(fitted->networks));
  neutral->experts = fitted->experts;
  Progress progress("calibrating", static_cast<size_t>(questions));
  const auto trials =
      fitting::try_budgets(Asker(neutral), measuring::ahead(measuring::held_out_groups(questions)),
                           [&](int done) { progress.step(static_cast<size_t>(done)); });
  const auto fit = fitting::fit_calibration(trials, fitted->networks->fingerprint());
  ordered_json out = ordered_json::parse(to_json(fit.calibration));
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
  write_text(path, text);
  std::cout << (json ? out.dump() + "\n" : path + "\n" + text);
}

}  // namespace arrcoc::cli
