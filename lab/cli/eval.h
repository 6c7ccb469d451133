// The parts of `arrcoc eval`, one file each.
#pragma once

#include <functional>
#include <map>

#include "lab/cli/lab.h"
#include "lab/cli/predictions.h"

namespace arrcoc::cli {

// One policy over all questions.
struct EvalRow {
  std::string name;
  AskOptions options;
  bool read = true;  // false: only where the tokens go
  int limit = 0;     // questions of each suite at most; 0: all
  std::vector<measuring::Record> records;
  double gflop = 0;       // of all records together, counted from the products that were run
  double peak_mb = 0;     // largest resident memory while it was asked
  bool optional = false;  // a model may not be able to go it
  std::string refused;    // why the model cannot be asked so; "": it can
};

// Do maps move with the question, and stay when only the wording changes?
struct MapMoves {
  double distinct = 0, reworded = 0;  // mean 1 - cosine
  int pairs = 0, rewordings = 0;
};

// Every row on every question; a row that a --model cannot go says why and is left out. `total`:
// questions, for the progress line. moves: may be null.
void measure_rows(const baselines::Askers& askers, const measuring::GroupSource& source,
                  size_t total, const std::string& what, std::vector<EvalRow>& rows,
                  Predictions& predictions, MapMoves* moves);

// Questions that can be asked several times.
struct EvalPart {
  std::string name;
  std::function<measuring::GroupSource()> groups;
  size_t questions = 0;
};
// Part by part: first the row named `leader`, then all others with its mean tokens for a budget. A
// row that looks again has that budget changed, twice at most, until it spends as many.
// Error{bad_argument} when no row has that name.
void measure_at_equal_totals(const std::string& leader, const std::vector<EvalPart>& parts,
                             const baselines::Askers& askers, std::vector<EvalRow>& rows,
                             Predictions& predictions);

ordered_json to_json(const measuring::Summary& summary);
// In all, by suite, kind, complexity and bucket of tokens.
ordered_json to_json(const std::vector<measuring::Record>& records);
ordered_json to_json(const EvalRow& row);  // the same, or why it was refused
ordered_json to_json(const MapMoves& moves);
// Every row against the first on the questions that both were asked, in all and by suite.
ordered_json differences(const std::vector<EvalRow>& rows);
std::string difference_table(const std::vector<EvalRow>& rows);
std::string suite_table(const std::vector<EvalRow>& rows);
std::string data_table(const std::vector<EvalRow>& rows);

// suite:pairs, both pictures of a question under one budget.
void eval_pairs(int limit, const std::string& intent, const AskOptions& options, bool json);

// --metric gaze: the rows' maps against where people looked on the pictures of the folders, a
// centred Gaussian beside them. Nothing is read.
void eval_gaze(const baselines::Askers& askers, const std::vector<std::string>& folders, int limit,
               const std::vector<EvalRow>& rows, bool json);

// Fits calibration.json on held-out scenes, and confidence also on the questions in `data` (folders
// that training did not use), and writes it into `folder`.
void calibrate(const std::string& folder, const std::vector<std::string>& data, int questions,
               bool json);
// Fits kinds.json, what kind of text answers a question, on the questions and right answers in
// `data`, and writes it into `folder`. No picture is read.
void fit_kinds(const std::string& folder, const std::vector<std::string>& data, bool json);
// Fits ranges.json for the fast kernels on held-out scenes and on the questions in `data`,
// `questions` of each, and writes it into `folder`.
void fit_ranges(const std::string& folder, const std::vector<std::string>& data, int questions,
                bool json);
// Answers of two folders of weights on the same questions. Each is asked with what was fitted for
// it; what the second has not (calibration, experts, balancer) is the first's.
void compare_weights(const std::vector<std::string>& folders,
                     const std::vector<QuestionFolder>& questions, const AskOptions& options,
                     bool json);
// The same of the bundled model with these kernels and with those that were chosen.
// Error{bad_argument} when they are the same, Error{unsupported} where there are none.
void compare_kernels(Kernels against, const std::vector<QuestionFolder>& questions,
                     const AskOptions& options, bool json);

}  // namespace arrcoc::cli
