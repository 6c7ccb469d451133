// Several passes and several pictures: what `ask` adds with two lines.
#pragma once

#include "arrcoc/answering.h"
#include "cli/cli.h"

namespace arrcoc::cli {

// --confident and --pass-policy, for policy passes.
class PassFlags {
 public:
  void add(CLI::App& app);
  // Error{not_found, bad_json} for a policy file that cannot be read.
  void apply(answering::AskOptions& options) const;

 private:
  double confident_ = -1;  // below 0: as the options have it
  std::string policy_;
};

class LookAgainFlags {
 public:
  // Adds --passes, --total-budget, --strip, --gaze and those of PassFlags.
  explicit LookAgainFlags(CLI::App& app);
  // True when something was asked for that a single look at a single picture does not do.
  bool wanted(const std::vector<std::string>& more) const;
  // Answers and prints. With more words (A B C "QUESTION") `image` is the first picture and the
  // last word is the question.
  void run(const std::string& image, const std::string& question,
           const std::vector<std::string>& more, const nlohmann::json& given,
           const media::LoadOptions& load, bool json) const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace arrcoc::cli
