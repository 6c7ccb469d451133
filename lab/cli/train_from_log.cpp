// arrcoc train --from-log DB: the tier head learns from what people thought of answers.
#include <filesystem>
#include <iostream>

#include "arrcoc/bundle.h"
#include "arrcoc/error.h"
#include "arrcoc/serve.h"
#include "lab/cli/train.h"
#include "lab/train/feedback.h"

namespace arrcoc::cli {

namespace {

std::vector<training::Feedback> rated(const std::string& file,
                                      const serving::ExampleFilter& filter) {
  if (!std::filesystem::exists(file)) throw Error(ErrorCode::not_found, "no file " + file);
  const serving::ExampleLog log(file);
  std::vector<training::Feedback> out;
  auto examples = log.list(int64_t{1} << 40, filter);
  std::reverse(examples.begin(), examples.end());  // oldest first: the same split as it grows
  for (const serving::Example& e : examples) {
    if (e.rating == serving::Rating::none || e.picture.empty()) continue;
    out.push_back({media::decode(e.picture, e.id), e.question, e.kept, e.native,
                   e.rating == serving::Rating::up});
  }
  return out;
}

ordered_json to_json(const training::GuardScore& score) {
  return {{"questions", score.questions},
          {"right", score.right},
          {"mean_tokens", rounded(score.mean_tokens)}};
}

}  // namespace

void train_from_log(const FromLog& wanted) {
  training::FeedbackOptions options;
  options.weights = wanted.init.empty() ? find_bundle() : wanted.init;
  if (options.weights.empty())
    throw Error(ErrorCode::not_found, "the bundled model was not found: give --init FOLDER");
  if (wanted.out.empty()) throw Error(ErrorCode::bad_argument, "--from-log needs --out FOLDER");
  options.out = wanted.out;
  options.guard_questions = wanted.guard_questions;
  if (wanted.steps > 0) options.steps = static_cast<int>(wanted.steps);
  const training::FeedbackReport report =
      training::learn_from(rated(wanted.file, wanted.filter), options);
  if (wanted.json_out) {
    std::cout << ordered_json{{"kept", report.kept},
                              {"why", report.why},
                              {"up", report.good},
                              {"down", report.bad},
                              {"held_out", report.held_out},
                              {"loss", {report.loss_before, report.loss_after}},
                              {"tokens", {report.tokens_before, report.tokens_after}},
                              {"guard",
                               {to_json(report.guard_before), to_json(report.guard_after)}},
                              {"weights", report.kept ? wanted.out : ""}}
              << "\n";
    return;
  }
  std::cout << report.why << "\n"
            << report.good << " up, " << report.bad << " down, " << report.held_out
            << " of them held out: loss " << rounded(report.loss_before) << " -> "
            << rounded(report.loss_after) << ", tokens asked for " << rounded(report.tokens_before)
            << " -> " << rounded(report.tokens_after) << "\nguard: " << report.guard_before.right
            << " -> " << report.guard_after.right << " of " << report.guard_after.questions
            << " right, tokens " << rounded(report.guard_before.mean_tokens) << " -> "
            << rounded(report.guard_after.mean_tokens) << "\n";
  if (report.kept) std::cout << "weights " << wanted.out << "\n";
}

}  // namespace arrcoc::cli
