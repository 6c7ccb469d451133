// arrcoc train --config FILE with "vlm": small vision-language models, or what stands before one.
#include <iostream>

#include "lab/cli/train.h"

namespace arrcoc::cli {

void train_vlm(const training::VlmOptions& options, bool json_out) {
  const auto r =
      training::train_vlm(options, [](const std::string& line) { std::cerr << line << std::endl; });
  if (json_out) {
    std::cout << json{{"stage", to_string(options.stage)},
                      {"steps", r.steps},
                      {"first_loss", rounded(r.first_loss)},
                      {"loss", rounded(r.loss)},
                      {"exact_match", rounded(r.exact)},
                      {"majority", rounded(r.majority)},
                      {"tokens", rounded(r.tokens)},
                      {"frozen_alike", r.frozen_alike},
                      {"processor_seconds", rounded(r.seconds)},
                      {"out", options.out}}
              << "\n";
    return;
  }
  std::cout << to_string(options.stage) << ": " << r.steps << " steps in " << fixed(r.seconds, 0)
            << " s of processor time; " << (options.examples > 0 ? "examples" : "held out")
            << ": loss " << fixed(r.first_loss, 3) << " before, " << fixed(r.loss, 3)
            << " after, exact match " << fixed(r.exact, 3) << " (always the commonest answer "
            << fixed(r.majority, 3) << ") from " << fixed(r.tokens, 1) << " visual tokens\n"
            << options.out << "\n";
}

}  // namespace arrcoc::cli
