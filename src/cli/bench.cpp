// arrcoc bench: policies at equal budgets, on suites and folders, as a report.
//
// Every measured question is a line of OUT/records.jsonl at once, so a stopped run goes on where it
// was. The three reports are made from those lines.
#include "cli/bench.h"

#include <ATen/Parallel.h>
#include <torch/version.h>

#include <filesystem>
#include <fstream>
#include <iostream>
#include <set>

#include "answering/cost.h"
#include "answering/plan.h"
#include "arrcoc/error.h"
#include "arrcoc/version.h"
#include "cli/folders.h"

namespace arrcoc::cli {

namespace {

namespace fs = std::filesystem;
using answering::Group;
using answering::Record;
using nlohmann::json;
using nlohmann::ordered_json;

struct Bench {
  std::string suites, policies = "realized,oracle,resize,random,breadth-first,fixed-16x,native";
  std::vector<std::string> data;
  std::string budgets = "64,100,160,256,400";
  std::string out;
  int limit = 0, native_limit = 10;
  bool quick = false, speed = false, json = false;
};

constexpr size_t kFailures = 8;  // pictures of the gallery

std::vector<BenchCell> cells_of(const Bench& args, const json& given) {
  std::vector<BenchCell> out;
  for (const std::string& policy : split_names(args.policies)) {
    const bool own = !answering::own_budget(policy).empty();
    for (const std::string& budget : split_names(args.budgets)) {
      json fields = given;
      fields["budget"] = budget;
      BenchCell cell;
      cell.policy = policy;
      cell.budget = own ? "own" : budget;
      cell.options = ask_options(policy, fields);
      cell.limit = policy == "native" ? args.native_limit : 0;
      out.push_back(std::move(cell));
      if (own) break;
    }
  }
  return out;
}

ordered_json to_line(const BenchCell& cell, const Record& r, double gflop, double peak) {
  return {{"suite", r.suite},
          {"group", r.group},
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
          {"gflop", gflop},
          {"peak_mb", peak}};
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
  return r;
}

// Lines that are already there, and what comes after them. A group counts when its last line ends.
class Ledger {
 public:
  Ledger(const std::string& path, std::vector<BenchCell>& cells) : cells_(cells) {
    std::string kept;
    if (std::ifstream in(path, std::ios::binary); in) {
      for (std::string line; std::getline(in, line);) {
        const json j = json::parse(line, nullptr, false);
        if (in.eof() || !j.is_object()) break;  // cut off by a kill
        take(j);
        kept += line + "\n";
      }
    }
    media::write_file(path, std::vector<uint8_t>(kept.begin(), kept.end()));
    out_.open(path, std::ios::binary | std::ios::app);
  }
  bool has(const BenchCell& cell, const Group& group) const {
    return done_.count({cell.policy, cell.budget, group.suite, group.number}) > 0;
  }
  void add(const BenchCell& cell, const std::vector<Record>& records, double gflop, double peak) {
    std::string lines;
    for (const Record& r : records) lines += to_line(cell, r, gflop, peak).dump() + "\n";
    out_ << lines << std::flush;
    if (!out_) throw Error(ErrorCode::io, "cannot write records.jsonl");
    for (const Record& r : records) take(json::parse(to_line(cell, r, gflop, peak).dump()));
  }

 private:
  void take(const json& j) {
    for (BenchCell& cell : cells_) {
      if (cell.policy != j.at("policy") || cell.budget != j.at("budget")) continue;
      cell.records.push_back(from_line(j));
      cell.gflops.push_back(j.at("gflop"));
      cell.peak_mb = std::max(cell.peak_mb, j.at("peak_mb").get<double>());
      done_.insert({cell.policy, cell.budget, j.at("suite"), j.at("group")});
    }
  }

  std::vector<BenchCell>& cells_;
  std::set<std::tuple<std::string, std::string, std::string, int>> done_;
  std::ofstream out_;
};

std::string machine_name() {
  std::ifstream in("/proc/cpuinfo");
  for (std::string line; std::getline(in, line);)
    if (line.rfind("model name", 0) == 0) return line.substr(line.find(':') + 2);
  return "unknown";
}

void write_text(const fs::path& path, const std::string& text) {
  media::write_file(path.string(), std::vector<uint8_t>(text.begin(), text.end()));
}

// Settings decide whether a folder's lines may be added to.
void claim(const fs::path& out, const ordered_json& settings) {
  fs::create_directories(out);
  const fs::path path = out / "settings.json";
  if (std::ifstream in(path); in) {
    const json before = json::parse(in, nullptr, false);
    if (before != json::parse(settings.dump()))
      throw Error(ErrorCode::bad_argument, out.string() +
                                               " holds a run with other settings; give another "
                                               "--out or remove it");
    return;
  }
  write_text(path, settings.dump(1) + "\n");
}

// The most confident wrong answers of the realized policy, with their heat maps.
class Gallery {
 public:
  explicit Gallery(const fs::path& folder) : folder_(folder) {}
  void see(const answering::Answerer& model, const Group& group, const BenchCell& cell,
           const std::vector<Record>& records) {
    for (size_t i = 0; i < records.size(); ++i) {
      const Record& r = records[i];
      if (r.right || !r.answered || taken() >= kFailures) continue;
      const answering::Reply reply =
          model.ask(group.picture, group.cases[i].item.question, cell.options);
      media::DrawOptions draw;
      draw.longest = 420;
      const Geometry& g = reply.allocation.geometry;
      fs::create_directories(folder_);
      const std::string name = std::to_string(group.number) + "_" + std::to_string(i);
      media::write_png(
          (folder_ / (name + ".png")).string(),
          media::draw_homunculus(resize(group.picture, g.width, g.height), reply.allocation, draw));
      write_text(folder_ / (name + ".json"), ordered_json({{"question", r.question},
                                                           {"wanted", r.wanted},
                                                           {"answer", r.answer},
                                                           {"confidence", r.confidence}})
                                                 .dump());
    }
  }
  std::vector<BenchFailure> all() const {
    std::vector<BenchFailure> out;
    std::error_code none;
    for (const auto& entry : fs::directory_iterator(folder_, none)) {
      if (entry.path().extension() != ".json") continue;
      std::ifstream in(entry.path());
      const json j = json::parse(in);
      fs::path png = entry.path();
      const auto bytes = media::read_file(png.replace_extension(".png").string());
      out.push_back({j.at("question"), j.at("wanted"), j.at("answer"),
                     std::string(bytes.begin(), bytes.end()), j.at("confidence")});
    }
    std::sort(out.begin(), out.end(), [](const BenchFailure& a, const BenchFailure& b) {
      return std::tie(b.confidence, a.question) < std::tie(a.confidence, b.question);
    });
    return out;
  }

 private:
  size_t taken() const {
    std::error_code none;
    size_t count = 0;
    for (const auto& entry : fs::directory_iterator(folder_, none))
      count += entry.path().extension() == ".png" ? 1 : 0;
    return count;
  }
  fs::path folder_;
};

void measure_group(const answering::Answerer& model, const Group& group,
                   std::vector<BenchCell>& cells, Ledger& ledger, Gallery& gallery,
                   std::map<std::string, int>& asked) {
  for (BenchCell& cell : cells) {
    int& done = asked[group.suite + "|" + cell.policy + "|" + cell.budget];
    if (cell.limit > 0 && done >= cell.limit) continue;
    done += static_cast<int>(group.cases.size());
    if (ledger.has(cell, group)) continue;
    answering::reset_peak();
    answering::FlopCounter counter;
    const std::vector<Record> records = answering::measure(model, group, cell.options);
    const double gflop = counter.flops() * 1e-9 / static_cast<double>(records.size());
    for (const Record& r : records)
      if (cell.budget != "own" && cell.budget != "auto" && r.tokens > std::stoi(cell.budget))
        throw Error(ErrorCode::bad_argument, "policy " + cell.policy + " spent " +
                                                 std::to_string(r.tokens) +
                                                 " tokens of a budget of " + cell.budget);
    ledger.add(cell, records, gflop, answering::peak_megabytes());
    if (cell.policy == "realized") gallery.see(model, group, cell, records);
  }
}

void bench(const Bench& given_args, const OptionFlags& flags) {
  Bench args = given_args;
  if (args.speed) {
    bench_speed(args.quick ? 1 : 5, args.json);
    return;
  }
  if (args.out.empty()) throw Error(ErrorCode::bad_argument, "--out DIR: where the report goes");
  if (args.suites.empty() && args.data.empty())
    throw Error(ErrorCode::bad_argument, "give --suite, --data or both (or --speed)");
  if (args.quick) {
    args.limit = args.limit > 0 ? args.limit : 4;
    args.native_limit = std::min(args.native_limit, 2);
  }
  json given = flags.given();
  given.erase("policy");
  for (const std::string& budget : split_names(args.budgets))
    if (budget != "auto" && budget.find_first_not_of("0123456789") != std::string::npos)
      throw Error(ErrorCode::bad_argument, "--budgets are numbers or auto, not '" + budget + "'");
  BenchReport report;
  report.cells = cells_of(args, given);
  const auto model = answerer();
  report.settings = {{"suites", args.suites},     {"data", args.data},
                     {"policies", args.policies}, {"budgets", args.budgets},
                     {"limit", args.limit},       {"native_limit", args.native_limit},
                     {"options", given},          {"weights", model->model().fingerprint()},
                     {"version", kVersion}};
  report.machine = {{"processor", machine_name()},
                    {"threads", at::get_num_threads()},
                    {"libtorch", TORCH_VERSION}};
  claim(args.out, report.settings);
  Ledger ledger((fs::path(args.out) / "records.jsonl").string(), report.cells);
  Gallery gallery(fs::path(args.out) / "failures");
  std::map<std::string, int> asked;
  const auto run = [&](const answering::GroupSource& source, size_t total,
                       const std::string& name) {
    Progress progress(name, total);
    while (const auto group = source()) {
      measure_group(*model, *group, report.cells, ledger, gallery, asked);
      for (size_t i = 0; i < group->cases.size(); ++i) progress.step();
    }
  };
  if (!args.suites.empty()) {
    const auto suites = split_names(args.suites);
    run(answering::ahead(answering::suite_groups(suites, args.limit)),
        answering::suite_questions(suites, args.limit), args.suites);
  }
  for (const std::string& folder : args.data)
    run(folder_groups(folder, args.limit, 0), evaluation::load_items(folder).size(), folder);
  report.failures = gallery.all();
  const std::string text = bench_markdown(report);
  write_text(fs::path(args.out) / "report.json", bench_json(report).dump(1) + "\n");
  write_text(fs::path(args.out) / "report.md", text);
  write_text(fs::path(args.out) / "report.html", bench_html(report));
  std::cout << (args.json ? bench_json(report).dump() + "\n" : text);
}

}  // namespace

void add_bench(CLI::App& app) {
  CLI::App* sub = app.add_subcommand("bench", "compare policies at equal budgets, as a report");
  auto args = std::make_shared<Bench>();
  sub->add_option("--suite", args->suites, "fixed suites: documents,charts,...,unseen");
  sub->add_option("--data", args->data, "folder with items.jsonl and pictures; may be repeated");
  sub->add_option("--policies", args->policies, "policies of arrcoc ask, and oracle");
  sub->add_option("--budgets", args->budgets, "tokens, or auto");
  sub->add_option("--out", args->out, "folder of the report; a stopped run goes on there");
  sub->add_option("--limit", args->limit, "only the first questions of each suite or folder")
      ->check(CLI::NonNegativeNumber);
  sub->add_option("--native-limit", args->native_limit, "questions a suite for policy native")
      ->check(CLI::NonNegativeNumber);
  sub->add_flag("--quick", args->quick, "a few questions: does it all work?");
  sub->add_flag("--speed", args->speed, "adaptive against native at 1024x1024, nothing else");
  sub->add_flag("--json", args->json, "print as JSON");
  const OptionFlags flags(*sub);
  sub->callback([args, flags] { bench(*args, flags); });
}

}  // namespace arrcoc::cli
