#include <fstream>

#include "arrcoc/error.h"
#include "lab/cli/bench.h"

namespace arrcoc::cli {

namespace {

using answering::Record;
using nlohmann::json;
using nlohmann::ordered_json;

ordered_json to_line(const BenchCell& cell, const Record& r, size_t of, double gflop, double peak) {
  ordered_json out = {{"suite", r.suite},
                      {"group", r.group},
                      {"of", of},  // lines of this group, policy and budget
                      {"policy", cell.policy},
                      {"budget", cell.budget},
                      {"kind", r.kind},
                      {"complexity", r.complexity},
                      {"question", r.question},
                      {"wanted", r.wanted},
                      {"answer", r.answer},
                      {"answered", r.answered},
                      {"right", r.right},
                      {"anls", r.anls},
                      {"boxes", r.boxes},
                      {"recall", r.recall},
                      {"lenient", r.lenient},
                      {"lift", r.lift},
                      {"tokens", r.tokens},
                      {"native_tokens", r.native_tokens},
                      {"milliseconds", r.milliseconds},
                      {"likelihood", r.likelihood},
                      {"confidence", r.confidence},
                      {"unsure", r.unsure},
                      {"overlap", r.overlap},
                      {"box_hit", r.box_hit},
                      {"qc3", r.qc3},
                      {"gflop", gflop},
                      {"peak_mb", peak}};
  if (cell.policy == "realized")  // for the patterns
    for (double share : r.density) out["density"].push_back(rounded(share));
  return out;
}

Record from_line(const json& j) {
  Record r;
  r.suite = j.at("suite");
  r.group = j.at("group");
  r.policy = j.at("policy");
  r.kind = j.at("kind");
  r.complexity = j.at("complexity");
  r.question = j.at("question");
  r.wanted = j.at("wanted");
  r.answer = j.at("answer");
  r.answered = j.at("answered");
  r.right = j.at("right");
  r.anls = j.at("anls");
  r.boxes = j.at("boxes");
  r.recall = j.at("recall");
  r.lenient = j.at("lenient");
  r.lift = j.at("lift");
  r.tokens = j.at("tokens");
  r.native_tokens = j.at("native_tokens");
  r.milliseconds = j.at("milliseconds");
  r.likelihood = j.at("likelihood");
  r.confidence = j.at("confidence");
  r.unsure = j.at("unsure");
  r.overlap = j.at("overlap");
  r.box_hit = j.at("box_hit");
  r.qc3 = j.at("qc3");
  if (j.contains("density")) r.density = j.at("density").get<std::vector<double>>();
  return r;
}

}  // namespace

BenchLedger::BenchLedger(const std::string& path, std::vector<BenchCell>& cells) : cells_(cells) {
  std::string kept, waiting;
  std::vector<json> lines;
  if (std::ifstream in(path, std::ios::binary); in) {
    for (std::string line; std::getline(in, line);) {
      json j = json::parse(line, nullptr, false);
      if (in.eof() || !j.is_object()) break;  // cut off by a kill
      lines.push_back(std::move(j));
      waiting += line + "\n";
      if (lines.size() < lines.front().at("of").get<size_t>()) continue;
      take(lines);
      kept += waiting;
      lines.clear();
      waiting.clear();
    }
  }
  media::write_file(path, std::vector<uint8_t>(kept.begin(), kept.end()));
  out_.open(path, std::ios::binary | std::ios::app);
}

bool BenchLedger::has(const BenchCell& cell, const answering::Group& group) const {
  return done_.count({cell.policy, cell.budget, group.suite, group.number}) > 0;
}

void BenchLedger::add(BenchCell& cell, const std::vector<Record>& records, double gflop,
                      double peak) {
  std::string text;
  std::vector<json> lines;
  for (const Record& r : records) {
    const std::string line = to_line(cell, r, records.size(), gflop, peak).dump();
    text += line + "\n";
    lines.push_back(json::parse(line));
  }
  out_ << text << std::flush;
  if (!out_) throw Error(ErrorCode::io, "cannot write records.jsonl");
  take(lines);  // as a run that goes on would read them
}

void BenchLedger::take(const std::vector<json>& lines) {
  for (const json& j : lines)
    for (BenchCell& cell : cells_) {
      if (cell.policy != j.at("policy") || cell.budget != j.at("budget")) continue;
      cell.records.push_back(from_line(j));
      cell.gflops.push_back(j.at("gflop"));
      cell.peak_mb = std::max(cell.peak_mb, j.at("peak_mb").get<double>());
      done_.insert({cell.policy, cell.budget, j.at("suite"), j.at("group")});
    }
}

}  // namespace arrcoc::cli
