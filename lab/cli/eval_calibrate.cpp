// arrcoc eval --calibrate FOLDER [--data DIR...]: confidence and budgets of these weights, on
// held-out scenes and on questions about real pictures that were held aside.
#include <filesystem>
#include <iostream>

#include "lab/cli/eval.h"
#include "lab/fit/calibration_fit.h"
#include "models/tiny/tiny.h"

namespace arrcoc::cli {

namespace {

ordered_json confidence_json(const fitting::ConfidenceFit& fit) {
  return {{"set", fit.name},
          {"questions", fit.questions},
          {"right", rounded(fit.right)},
          {"calibration_error_before", rounded(fit.error_before)},
          {"calibration_error_after", rounded(fit.error_after)},
          {"sure", rounded(fit.sure)},
          {"right_when_sure", rounded(fit.right_when_sure)}};
}

std::vector<QuestionFolder> open_folders(const std::vector<std::string>& data) {
  std::vector<QuestionFolder> out;
  for (const std::string& name : data) {
    out.push_back(open_data(name, 0, 0));
    if (!out.back().answers)
      throw Error(ErrorCode::bad_argument, name + " has no answers to calibrate with");
  }
  return out;
}

std::vector<fitting::RealTrials> try_folders(const Asker& asker, const tiny::KindTable* kinds,
                                             const std::vector<std::string>& data,
                                             const std::vector<QuestionFolder>& folders) {
  std::vector<fitting::RealTrials> out;
  for (size_t i = 0; i < folders.size(); ++i) {
    Progress progress(data[i], folders[i].questions);
    const std::string name = std::filesystem::path(data[i]).lexically_normal().filename().string();
    out.push_back(
        {name, fitting::try_budgets(asker, kinds, folders[i].groups, fitting::kRealBudgets,
                                    [&](int done) { progress.step(static_cast<size_t>(done)); })});
  }
  return out;
}

}  // namespace

void calibrate(const std::string& folder, const std::vector<std::string>& data, int questions,
               bool json) {
  const auto fitted = load_bundle(folder);
  const std::vector<QuestionFolder> folders = open_folders(data);  // what is wrong is said at once
  auto neutral = std::make_shared<Bundle>(*make_bundle(fitted->networks));
  neutral->experts = fitted->experts;
  const Asker asker(neutral);
  const auto kinds = tiny::kinds_of(folder);
  Progress progress("calibrating", static_cast<size_t>(questions));
  const fitting::Trials scenes = fitting::try_budgets(
      asker, kinds.get(), measuring::ahead(measuring::held_out_groups(questions)),
      fitting::kFitBudgets, [&](int done) { progress.step(static_cast<size_t>(done)); });
  const std::vector<fitting::RealTrials> real = try_folders(asker, kinds.get(), data, folders);
  const auto fit = fitting::fit_calibration(scenes, real, fitted->networks->fingerprint());
  ordered_json out = ordered_json::parse(tiny::to_json({fit.calibration, fit.place, fit.kind}));
  out["measured"] = {{"questions", fit.questions},
                     {"mean_tokens", rounded(fit.mean_tokens)},
                     {"simple_tokens", rounded(fit.simple)},
                     {"complex_tokens", rounded(fit.complex)},
                     {"targets_met", fit.met},
                     {"exact_match", rounded(fit.exact_match)},
                     {"exact_match_at_180", rounded(fit.exact_match_180)},
                     {"confidence", ordered_json::array()}};
  for (const fitting::ConfidenceFit& one : fit.confidence)
    out["measured"]["confidence"].push_back(confidence_json(one));
  const std::string text = out.dump(2) + "\n";
  const std::string path = (std::filesystem::path(folder) / "calibration.json").string();
  write_text(path, text);
  std::cout << (json ? out.dump() + "\n" : path + "\n" + text);
}

}  // namespace arrcoc::cli
