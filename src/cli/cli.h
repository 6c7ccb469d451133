// The command line: one file per subcommand, each with an add_<name>(app) listed in cli.cpp.
//
// A subcommand sets a callback; what it throws becomes one line on standard error and exit code 1
// (2 for wrong usage). Results go to standard output, progress and notes to standard error.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "allocate/leaves_json.h"
#include "arrcoc/media.h"
#include "arrcoc/realize.h"
#include "base/rounded.h"

namespace arrcoc::cli {

int run(int argc, char** argv);

void add_look(CLI::App& app);
void add_ask(CLI::App& app);
void add_eval(CLI::App& app);
void add_info(CLI::App& app);
void add_models(CLI::App& app);
void add_serve(CLI::App& app);
void add_log(CLI::App& app);
void add_synth(CLI::App& app);
void add_train(CLI::App& app);
void add_clips(CLI::App& app);
void add_passes(CLI::App& app);

// Adds --policy (`policy` unless given, also in the file), --config FILE and one flag per option
// field; `options()` is valid in the callback.
class OptionFlags {
 public:
  explicit OptionFlags(CLI::App& app);
  OptionFlags(CLI::App& app, const std::string& policy);
  // Config file first, then flags. Error{bad_json, not_found}.
  Options options() const;
  // The same before it is understood: what was given, "policy" among it. Error{bad_json}.
  nlohmann::json given() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

// Checks of numbers in words that people can read; NaN passes none of them, as it does those of
// CLI11.
CLI::Validator between(double low, double high);
CLI::Validator positive();
CLI::Validator at_least_zero();

// Adds --max-megapixels and --page.
std::shared_ptr<media::LoadOptions> add_load_flags(CLI::App& app);

nlohmann::ordered_json to_json(const Map& map);
// Before long work whose result goes there. Error{io} when its folder is missing or closed.
void require_writable(const std::string& path);
std::string table(const std::vector<std::vector<std::string>>& rows);  // first row is the heading

// done/total, rate and time left on standard error; every 30 seconds when that is no terminal.
class Progress {
 public:
  Progress(std::string what, size_t total);
  ~Progress();
  void step(size_t by = 1);
  void skip(size_t by);  // done before: it says nothing about the speed

 private:
  std::string what_;
  size_t total_;
  size_t done_ = 0;
  double start_, said_;
  bool shown_;
};

}  // namespace arrcoc::cli
