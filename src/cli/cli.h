// The command line: one file per subcommand, each with an add_<name>(app) listed in cli.cpp.
//
// A subcommand sets a callback; what it throws becomes one line on standard error and exit code 1
// (2 for wrong usage). Results go to standard output, progress and notes to standard error.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "arrcoc/ask.h"
#include "arrcoc/json.h"
#include "arrcoc/media.h"
#include "base/json.h"

namespace arrcoc::cli {

// The commands of one program: arrcoc itself, or the lab beside it.
struct Program {
  std::vector<void (*)(CLI::App&)> commands;
  std::string footer;                  // below the help
  std::vector<std::string> others;     // commands of the program beside it, for hints
  std::string (*welcome)() = nullptr;  // what the program says without arguments
};
int run(int argc, char** argv, const Program& program);
// Starts the program once more with settings that idle threads need, unless they are set.
void let_idle_threads_sleep(char** argv);

void add_look(CLI::App& app);
void add_ask(CLI::App& app);
void add_info(CLI::App& app);
void add_models(CLI::App& app);
void add_serve(CLI::App& app);
void add_log(CLI::App& app);
void add_mcp(CLI::App& app);
void add_doctor(CLI::App& app);
// Three commands to try, with pictures that are there.
std::string welcome();
void add_watch(CLI::App& app);

// Adds --policy, --config FILE and one flag per option field; the methods are valid in the
// callback.
class OptionFlags {
 public:
  // usual: the policy without --policy, also in the file.
  explicit OptionFlags(CLI::App& app, std::string usual = "realized");
  // Policy, then the file, then the flags. Error{bad_json, not_found}.
  AskOptions options() const { return options(policy()); }
  AskOptions options(const std::string& policy) const;
  std::string policy() const;
  // Whether the file or a flag names that field ("frame", "canvas", ...).
  bool given(const std::string& field) const;
  // Error{bad_argument} when a flag changes nothing under these options, the first of the policies.
  void require_effect(const AskOptions& options) const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

// --weights FOLDER or the bundled model, read when first needed; null where there is none.
std::shared_ptr<const Bundle> bundle();
// The same, or null without an error where these options need none and none is there.
std::shared_ptr<const Bundle> bundle_for(const AskOptions& options);
// "A,B,C" without empty or repeated names. Error{bad_argument}.
std::vector<std::string> split_names(const std::string& list);
std::string fixed(double value, int digits);  // "0.50"

// Checks of numbers in words that people can read; NaN passes none of them, as it does those of
// CLI11.
CLI::Validator between(double low, double high);
CLI::Validator positive();
CLI::Validator at_least_zero();

// Adds --max-megapixels and --page.
std::shared_ptr<media::LoadOptions> add_load_flags(CLI::App& app);

// Before long work whose result goes there. Error{io} when its folder is missing or closed.
void require_writable(const std::string& path);
// The first row is the heading; every row is one line.
std::string table(std::vector<std::vector<std::string>> rows);

// done/total, rate and time left on standard error; every 30 seconds when that is no terminal.
class Progress {
 public:
  Progress(std::string what, size_t total);
  ~Progress();
  void step(size_t by = 1);
  void skip(size_t by);  // done before: it says nothing about the speed
  void clear() const;    // before others write to the same terminal

 private:
  std::string what_;
  size_t total_;
  size_t done_ = 0;
  double start_, said_;
  bool shown_;
};

}  // namespace arrcoc::cli
