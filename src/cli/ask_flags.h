// Flags of `ask` that say how: options, passes, and which model answers.
#pragma once

#include "cli/cli.h"

namespace arrcoc::cli {

inline constexpr const char* kDepthHelp =
    "Qwen3-VL, prune and patches: less relevant tokens leave the encoder early; shares of each "
    "level (0.25,0.25,0.25,0.25), relevance:0.2,0.4,0.7 or full";

// --passes, --total-budget, --confident, --pass-policy.
class PassFlags {
 public:
  explicit PassFlags(CLI::App& app);
  // Error{not_found, bad_json} for a policy file that cannot be read.
  void apply(AskOptions& options) const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

// --gaze X Y: a soft spot of a twelfth of the picture where somebody looked.
class GazeFlag {
 public:
  explicit GazeFlag(CLI::App& app);
  // Error{bad_argument} for a pixel outside the picture.
  void apply(const Picture& picture, AskOptions& options) const;

 private:
  std::shared_ptr<std::vector<double>> at_;
};

// All of them, and --model with its own.
class AskFlags {
 public:
  explicit AskFlags(CLI::App& app);
  AskOptions options(const Picture& picture) const;
  // Reads the bundle and, with --model, that model.
  std::shared_ptr<const Asker> asker() const;

 private:
  struct Model;
  CLI::App* app_;
  OptionFlags options_;
  PassFlags passes_;
  GazeFlag gaze_;
  std::shared_ptr<Model> model_;
};

}  // namespace arrcoc::cli
