// Answers of measured questions, one JSON line each (--predictions FILE).
#pragma once

#include <fstream>
#include <string>

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
  // Error{io} when the file cannot be written.
  explicit Predictions(const PredictionFlags& flags);
  // Who hears the answers of a row: every line is {"suite", "row", "image", "id", "kind", "wanted"}
  // and "answer", which is what `arrcoc ask --json` prints.
  measuring::Hearer of(const std::string& row);
  void keep();

 private:
  std::string path_;
  bool details_ = false;
  std::ofstream out_;
};

}  // namespace arrcoc::cli
