// The parts of `arrcoc bench`, one file each.
#pragma once

#include "cli/eval.h"

namespace arrcoc::cli {

void add_bench(CLI::App& app);

// One policy at one budget.
struct BenchCell {
  std::string policy;
  std::string budget;  // as asked for; "own" for policies with a budget of their own
  answering::AskOptions options;
  int limit = 0;  // questions of each suite at most; 0: all
  std::vector<answering::Record> records;
  std::vector<double> gflops;  // of each record
  double peak_mb = 0;
};

struct BenchFailure {
  std::string question, wanted, answer, png;  // png: bytes
  double confidence = 0;
};

struct BenchReport {
  nlohmann::ordered_json settings, machine;
  std::vector<BenchCell> cells;
  std::vector<BenchFailure> failures;
};

// Everything but the pictures, for programs.
nlohmann::ordered_json bench_json(const BenchReport& report);
// Says first where a baseline wins over the realized policy.
std::vector<std::string> bench_conclusion(const BenchReport& report);
std::string bench_markdown(const BenchReport& report);
std::string bench_html(const BenchReport& report);

// Adaptive against native on one 1024x1024 picture, in one run.
void bench_speed(int rounds, bool json);

}  // namespace arrcoc::cli
