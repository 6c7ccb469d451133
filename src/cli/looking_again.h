// Several passes and several pictures: what `ask` adds with two lines.
#pragma once

#include "cli/cli.h"

namespace arrcoc::cli {

class LookAgainFlags {
 public:
  // Adds --passes, --total-budget, --strip.
  explicit LookAgainFlags(CLI::App& app);
  // True when something was asked for that a single look at a single picture does not do.
  bool wanted(const std::vector<std::string>& more) const;
  // Answers and prints. With more words (A B C "QUESTION") `image` is the first picture and the
  // last word is the question.
  void run(const std::string& image, const std::string& question,
           const std::vector<std::string>& more, const Options& look,
           const media::LoadOptions& load, bool json) const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace arrcoc::cli
