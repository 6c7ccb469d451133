// Answers of measured questions, one JSON line each (--predictions FILE).
#pragma once

#include <fstream>
#include <functional>
#include <set>
#include <string>
#include <tuple>

#include "cli/cli.h"
#include "lab/measure/measure.h"

namespace arrcoc::cli {

// --predictions FILE and --details. Stays where it was made: the parser writes into it.
class PredictionFlags {
 public:
  explicit PredictionFlags(CLI::App& app);
  PredictionFlags(const PredictionFlags&) = delete;
  bool given() const { return !file_.empty(); }
  const std::string& file() const { return file_; }
  // Error{bad_argument} for --details without a file.
  bool details() const;

 private:
  std::string file_;
  bool details_ = false;
};

// Lines go to FILE.part, which keep() makes FILE: a file that is there is whole. Does nothing where
// no file is wanted.
class Predictions {
 public:
  Predictions() = default;  // nobody wants them
  bool wanted() const { return !path_.empty(); }
  // Error{io} when the file cannot be written.
  explicit Predictions(const PredictionFlags& flags);
  // For runs that go on: lines go to `journal` and stay there, keep() copies them. Of those that
  // are there the lines remain for whose row, suite and group `done` says so.
  using Done = std::function<bool(const std::string&, const std::string&, int)>;
  Predictions(const PredictionFlags& flags, const std::string& journal, const Done& done);
  // Whether this row's lines of the group are there already; true where no file is wanted.
  bool has(const std::string& row, const measuring::Group& group) const;
  // Who hears the answers of a row: every line is {"suite", "group", "row", "image", "id", "kind",
  // "wanted"}
  // and "answer", which is what `arrcoc ask --json` prints.
  measuring::Hearer of(const std::string& row);
  void keep();

 private:
  std::string path_, part_;  // part_: where lines go
  bool journal_ = false;
  std::set<std::tuple<std::string, std::string, int>> there_;  // row, suite, group
  bool details_ = false;
  std::ofstream out_;
};

}  // namespace arrcoc::cli
