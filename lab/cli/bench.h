// The parts of `arrcoc bench`, one file each.
#pragma once

#include <filesystem>
#include <fstream>
#include <set>
#include <tuple>

#include "lab/cli/eval.h"

namespace arrcoc::cli {

struct BenchArgs {
  std::string suites;
  std::string policies;  // "": all baselines
  std::vector<std::string> data;
  std::string budgets = "64,100,160,256,400";
  std::string out;
  int limit = 0, native_limit = 10, large_limit = 0;
  double native_megapixels = 1;
  bool remember = false;
  std::string note;  // what was left out, and why
  std::shared_ptr<PredictionFlags> predictions;
  bool quick = false, speed = false, growth = false, ablation = false, json = false;
};

// One policy at one budget.
struct BenchCell {
  std::string policy;  // or, in the ablation, what was changed
  std::string budget;  // as asked for; "own" for policies with a budget of their own
  AskOptions options;
  int limit = 0;          // questions of each suite at most; 0: all
  bool ablation = false;  // belongs to that table, not to the comparison
  bool extra = false;     // asked for as NAME@BUDGET: not compared with other policies
  std::vector<measuring::Record> records;
  std::vector<double> gflops;  // of each record
  double peak_mb = 0;
  bool own_budget() const { return budget == "own"; }
  int most_tokens() const;  // that the budget allows; 0 when it sets none
  size_t weight() const;    // what a question costs, roughly: 1 is a small budget
};

// What is to be measured. Error{bad_argument} for what cannot be. Without --policies learned
// queries that are missing or belong to other weights are left out, and args.note says so.
std::vector<BenchCell> bench_cells(BenchArgs& args, const OptionFlags& flags, const Bundle& bundle);

struct BenchFailure {
  std::string name;  // of its files
  std::string question, wanted, answer;
  std::vector<uint8_t> png;
  double confidence = 0;
};

struct BenchReport {
  ordered_json settings, machine;
  ordered_json growth;  // null without
  double parameters = 0;
  std::vector<BenchCell> cells;
  std::vector<BenchFailure> failures;
};

// The lines of OUT/records.jsonl: those of an earlier run, and what comes after them. The questions
// of one picture count only together, so whatever a kill cut off is asked again.
class BenchLedger {
 public:
  BenchLedger(const std::string& path, std::vector<BenchCell>& cells);
  bool has(const BenchCell& cell, const measuring::Group& group) const;
  void add(BenchCell& cell, const std::vector<measuring::Record>& records, double gflop,
           double peak);

 private:
  using Key = std::tuple<std::string, std::string, std::string, int>;
  void take(const std::vector<json>& lines);

  std::vector<BenchCell>& cells_;
  std::set<Key> done_;
  std::ofstream out_;
};

// The most confident wrong answers, with their heat maps, in a folder.
class BenchGallery {
 public:
  explicit BenchGallery(std::filesystem::path folder);
  void see(const Asker& asker, const measuring::Group& group, const BenchCell& cell,
           const std::vector<measuring::Record>& records);
  const std::vector<BenchFailure>& all() const { return kept_; }  // most confident first

 private:
  std::filesystem::path folder_;
  std::vector<BenchFailure> kept_;
};

// The cell of a policy that stands for all its budgets: the middle one. None when it did not run.
const BenchCell* middle_cell(const BenchReport& report, const std::string& policy);
// b - a, on the questions that both were asked.
measuring::Difference paired(const BenchCell& a, const BenchCell& b);
measuring::Summary summary_of(const BenchCell& cell);

// Everything but the pictures, for programs.
ordered_json bench_json(const BenchReport& report);
// Says first where a baseline is not beaten by the realized policy.
std::vector<std::string> bench_conclusion(const BenchReport& report);
// What each part is worth: every changed pipeline against the whole one.
ordered_json bench_ablation(const BenchReport& report);
// The realized policy at each of its budgets against the middle one.
ordered_json bench_counts(const BenchReport& report);
// Groups of allocation maps of the realized policy, with questions of each.
ordered_json bench_patterns(const BenchReport& report);
std::string bench_markdown(const BenchReport& report, const ordered_json& json);
// One self-contained page, assets/bench.html with the report inside.
std::string bench_html(const BenchReport& report, ordered_json json);

// Adaptive against native on one 1024x1024 picture, in one run.
void bench_speed(int rounds, const std::string& budget, bool json);
// Time, products and memory over megapixels and over tokens. Native is measured up to
// `native_megapixels`.
ordered_json bench_growth(int rounds, double largest, double native_megapixels);
std::string growth_markdown(const ordered_json& growth);

}  // namespace arrcoc::cli
