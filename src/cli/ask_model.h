// arrcoc ask --model DIR IMAGE... "QUESTION": the part of `ask` that talks to a Hugging Face model.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/cli.h"

namespace arrcoc::cli {

// What `ask` has parsed besides.
struct AskBasics {
  std::string image;
  std::string question;
  std::vector<std::string> more;  // further words: all but the last one are pictures then
  std::string heatmap;
  bool json = false;
};

// Adds --model and what belongs to it.
class ModelFlags {
 public:
  explicit ModelFlags(CLI::App& app);
  // True when --model names a Hugging Face model. Other weights of the bundled model are installed
  // instead of it. Error{bad_argument} for what makes no sense then.
  bool given() const;
  void ask(const AskBasics& basics, const OptionFlags& flags, const media::LoadOptions& load) const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace arrcoc::cli
