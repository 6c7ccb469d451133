// The parts of `arrcoc bench`, one file each.
#pragma once

#include <filesystem>
#include <fstream>
#include <set>
#include <tuple>

#include "lab/cli/eval.h"
#include "lab/cli/model_flags.h"
#include "lab/cli/reliability.h"

namespace arrcoc::cli {

struct BenchArgs {
  std::string suites;
  std::string policies;  // "": all baselines
  bool named = false;    // what one of these policies cannot do is an error
  std::vector<std::string> data;
  std::string budgets = "64,100,160,256,400";
  std::string out;
  int limit = 0, native_limit = 10, large_limit = 0;
  double native_megapixels = 1;
  int gallery = 4;          // wrong answers of each cause that are shown
  std::string before;       // folder of an earlier run; "": none
  std::string reliability;  // PNG; "": none
  bool remember = false;
  std::string note;  // what was left out, and why
  std::shared_ptr<PredictionFlags> predictions;
  std::shared_ptr<ModelFlags> model;
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
  std::string refused;  // why the model cannot be asked so; "": it can
  std::string row() const { return policy + "@" + budget; }
  bool own_budget() const { return budget == "own"; }
  int most_tokens() const;  // that the budget allows; 0 when it sets none
  size_t weight() const;    // what a question costs, roughly: 1 is a small budget
};

// What is to be measured. Error{bad_argument} for what cannot be. Without --policies learned
// queries that are missing or belong to other weights are left out, and args.note says so. With
// --model policies are ways to ask it (baselines::way_of).
std::vector<BenchCell> bench_cells(BenchArgs& args, const OptionFlags& flags);

// A wrong answer as people see it.
struct BenchFailure {
  measuring::Record record;           // with its cause
  std::vector<std::string> accepted;  // all right answers
  // PNG. The relevance map over the picture, and the tokens at their level of detail around the
  // places; green: where the answer stands, red: where it was read.
  std::vector<uint8_t> map, seen;
};

struct BenchReport {
  ordered_json settings, machine;
  ordered_json growth;  // null without
  double parameters = 0;
  std::string ours = "realized";  // whom the others are compared with
  std::vector<BenchCell> cells;
  std::vector<BenchFailure> failures;
  ordered_json change;  // since --before; null without
};

// The lines of OUT/records.jsonl: those of an earlier run, and what comes after them. The questions
// of one picture count only together, so whatever a kill cut off is asked again.
class BenchLedger {
 public:
  BenchLedger(const std::string& path, std::vector<BenchCell>& cells);
  bool has(const std::string& row, const std::string& suite, int group) const;
  void add(BenchCell& cell, const std::vector<measuring::Record>& records, double gflop,
           double peak);

 private:
  using Key = std::tuple<std::string, std::string, int>;  // row, suite, group
  void take(const std::vector<json>& lines);

  std::vector<BenchCell>& cells_;
  std::set<Key> done_;
  std::ofstream out_;
};

// The cell of FOLDER/records.jsonl with the policy and budget of `like`, and nothing else of the
// folder. Error{not_found} when there is none.
BenchCell earlier_cell(const std::string& folder, const BenchCell& like);

// A question of a cell: suite, picture, and its place among the picture's questions.
using Place = std::tuple<std::string, int, int>;
std::map<Place, const measuring::Record*> places(const BenchCell& cell);

// The cell whose wrong answers are shown and whose confidence is drawn: realized's middle one, or
// that of the first policy.
const BenchCell& shown_cell(const BenchReport& report);
// The `each` most confident wrong answers of every cause, by cause. sources: those of the run, from
// their beginning.
std::vector<BenchFailure> bench_gallery(const BenchCell& cell,
                                        const std::vector<measuring::GroupSource>& sources,
                                        int each);
// Wrong answers by cause, in all and by suite.
ordered_json bench_causes(const BenchCell& cell);
// Counts per cause of both runs on the questions that both were asked, and which were gained and
// lost. Error{bad_argument} when there is none.
ordered_json bench_change(const BenchCell& before, const BenchCell& after);
// "causes" and "change" of bench_json.
std::string causes_markdown(const ordered_json& report);

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
