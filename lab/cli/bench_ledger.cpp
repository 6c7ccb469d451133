#include "arrcoc/error.h"
#include "lab/cli/bench.h"

namespace arrcoc::cli {

namespace {

using measuring::Record;

// Calls f(key, field) for every field of a record that a line holds.
template <class R, class F>
void visit_line(R& r, const F& f) {
  f("suite", r.suite);
  f("group", r.group);
  f("kind", r.kind);
  f("question", r.question);
  f("wanted", r.wanted);
  f("answer", r.answer);
  f("answered", r.answered);
  f("right", r.right);
  f("anls", r.anls);
  f("relaxed", r.relaxed);
  f("boxes", r.boxes);
  f("recall", r.recall);
  f("lenient", r.lenient);
  f("lift", r.lift);
  f("tokens", r.tokens);
  f("native_tokens", r.native_tokens);
  f("milliseconds", r.milliseconds);
  f("likelihood", r.likelihood);
  f("confidence", r.confidence);
  f("unsure", r.unsure);
  f("overlap", r.overlap);
  f("box_hit", r.box_hit);
  f("pointed", r.pointed);
  f("qc3", r.qc3);
}

ordered_json to_line(const BenchCell& cell, const Record& r, size_t of, double gflop, double peak) {
  ordered_json out = {{"policy", cell.policy}, {"budget", cell.budget}};
  out["of"] = of;  // lines of this group, policy and budget
  visit_line(r, [&](const char* key, const auto& field) { out[key] = field; });
  out["passes"] = r.passes;
  out["score"] = r.score;
  out["metric"] = to_string(r.metric);
  if (r.cause) out["cause"] = to_string(*r.cause);
  out["complexity"] = r.complexity ? to_string(*r.complexity) : "";
  if (!r.depths.empty()) out["depths"] = r.depths;
  out["gflop"] = gflop;
  out["peak_mb"] = peak;
  if (cell.policy == "realized")  // for the patterns
    for (double share : r.density) out["density"].push_back(rounded(share));
  return out;
}

// Comparing a string with json itself is ambiguous in newer versions of the library.
std::string text_of(const json& j, const char* key) { return j.at(key).get<std::string>(); }

Record from_line(const json& j) {
  Record r;
  r.policy = j.at("policy");
  visit_line(r, [&](const char* key, auto& field) { j.at(key).get_to(field); });
  for (const Complexity c : {Complexity::simple, Complexity::medium, Complexity::complex})
    if (text_of(j, "complexity") == to_string(c)) r.complexity = c;
  if (j.contains("depths")) j["depths"].get_to(r.depths);
  if (j.contains("density")) j.at("density").get_to(r.density);
  r.passes = j.value("passes", 1);                  // lines from before they were kept
  r.score = j.value("score", r.right ? 1.0 : 0.0);  // lines from before sets had metrics
  if (j.contains("metric")) r.metric = parse_enum<measuring::Metric>(j["metric"]);
  if (j.contains("cause"))
    r.cause = parse_enum<measuring::Cause>(j["cause"]);
  else if (r.answered && !r.right)  // a line from before causes were kept
    r.cause = cause_of(r);
  return r;
}

// Calls take(lines, text) for the lines of one group, policy and budget after the other, up to
// where a kill cut off.
template <class Take>
void for_each_group(const std::string& path, const Take& take) {
  std::ifstream in(path, std::ios::binary);
  std::string text;
  std::vector<json> lines;
  for (std::string line; std::getline(in, line);) {
    json j = json::parse(line, nullptr, false);
    if (in.eof() || !j.is_object()) break;
    lines.push_back(std::move(j));
    text += line + "\n";
    if (lines.size() < lines.front().at("of").get<size_t>()) continue;
    take(lines, text);
    lines.clear();
    text.clear();
  }
}

}  // namespace

BenchLedger::BenchLedger(const std::string& path, std::vector<BenchCell>& cells) : cells_(cells) {
  std::string kept;
  for_each_group(path, [&](const std::vector<json>& lines, const std::string& text) {
    take(lines);
    kept += text;
  });
  write_text(path, kept);
  out_.open(path, std::ios::binary | std::ios::app);
}

bool BenchLedger::has(const std::string& row, const std::string& suite, int group) const {
  return done_.count({row, suite, group}) > 0;
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
      if (cell.policy != text_of(j, "policy") || cell.budget != text_of(j, "budget")) continue;
      cell.records.push_back(from_line(j));
      cell.gflops.push_back(j.at("gflop"));
      cell.peak_mb = std::max(cell.peak_mb, j.at("peak_mb").get<double>());
      done_.insert({cell.row(), j.at("suite"), j.at("group")});
    }
}

BenchCell earlier_cell(const std::string& folder, const BenchCell& like) {
  BenchCell out;
  out.policy = like.policy;
  out.budget = like.budget;
  const std::string path = (std::filesystem::path(folder) / "records.jsonl").string();
  try {
    for_each_group(path, [&](const std::vector<json>& lines, const std::string&) {
      for (const json& j : lines)
        if (text_of(j, "policy") == out.policy && text_of(j, "budget") == out.budget)
          out.records.push_back(from_line(j));
    });
  } catch (const json::exception& why) {
    throw Error(ErrorCode::bad_json, path + ": " + why.what());
  }
  if (out.records.empty())
    throw Error(ErrorCode::not_found, path + " holds no answer of " + out.policy + " at " +
                                          out.budget + ": is it the --out of an earlier bench?");
  return out;
}

}  // namespace arrcoc::cli
