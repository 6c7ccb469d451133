// arrcoc bench: policies at equal budgets, on suites and folders, as a report.
//
// Every measured question is a line of OUT/records.jsonl at once, so a stopped run goes on where it
// was. The three reports are made from those lines.
#include "cli/bench.h"

#include <ATen/Parallel.h>
#include <torch/version.h>

#include <fstream>
#include <iostream>

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
  std::string suites;
  std::string policies =
      "realized,oracle,resize,random,breadth-first,saliency,reader,diverse,slices,fixed-16x,"
      "fixed-tiers,native,tome,visionzip,fastv,cdpruner,five-paths,qformer";
  std::vector<std::string> data;
  std::string budgets = "64,100,160,256,400";
  std::string out;
  int limit = 0, native_limit = 10;
  double native_megapixels = 1;
  bool chosen = false;  // policies were named
  bool quick = false, speed = false, growth = false, ablation = false, json = false;
};

// Learned queries may be missing or belong to other weights; then everything else is compared.
std::string without_missing(const std::string& policies, const answering::Answerer& model) {
  try {
    model.model().need_queries();
    return policies;
  } catch (const Error& problem) {
    std::cerr << "bench: without qformer: " << problem.what() << "\n";
  }
  std::string out;
  for (const std::string& name : split_names(policies))
    if (name != "qformer") out += (out.empty() ? "" : ",") + name;
  return out;
}

struct Changed {
  const char* name;
  const char* policy;
  const char* channels;
};
// Three scorers, the network's map among them, and what is left when a part goes. The first row is
// what the others are compared with.
constexpr Changed kAblation[] = {
    {"three scorers, balanced", "lexical", "compact"},
    {"information alone", "information", "compact"},
    {"salience alone", "saliency", "compact"},
    {"query alone (the network)", "coupling", "compact"},
    {"without information", "no-information", "compact"},
    {"without salience", "no-salience", "compact"},
    {"without query", "no-query", "compact"},
    {"without balancing (a third each)", "thirds", "compact"},
    {"multiplied instead of balanced", "multiplicative", "compact"},
    {"without texture (red, green, blue)", "lexical", "rgb"},
    {"query alone, without texture", "coupling", "rgb"},
};

// The largest number of tokens that a budget allows; 0 when it sets none.
int most_tokens(const std::string& budget) {
  if (budget == "own") return 0;
  if (budget == "auto") return kMaxBudget;
  const size_t dash = budget.rfind('-');
  return std::stoi(dash == std::string::npos ? budget : budget.substr(dash + 1));
}

void check_budgets(const std::vector<std::string>& budgets) {
  for (const std::string& budget : budgets) {
    if (budget == "auto" || answering::auto_range(budget)) continue;
    if (budget.find_first_not_of("0123456789") != std::string::npos || budget.size() > 6)
      throw Error(ErrorCode::bad_argument,
                  "--budgets are numbers, auto or auto:LOW-HIGH, not '" + budget + "'");
  }
}

std::vector<BenchCell> cells_of(const Bench& args, const json& given) {
  std::vector<BenchCell> out;
  const std::vector<std::string> budgets = split_names(args.budgets);
  check_budgets(budgets);
  const auto add = [&](const std::string& name, const std::string& policy, const json& fields,
                       bool ablation) {
    BenchCell cell;
    cell.policy = name;
    cell.budget = answering::own_budget(policy).empty() ? fields.at("budget") : "own";
    cell.options = ask_options(policy, fields);
    cell.limit = answering::encodes_all(policy) ? args.native_limit : 0;
    cell.ablation = ablation;
    for (const BenchCell& other : out)
      if (other.policy == cell.policy && other.budget == cell.budget)
        throw Error(ErrorCode::bad_argument,
                    "policy " + policy + " at budget " + cell.budget + " is named twice");
    out.push_back(std::move(cell));
  };
  for (const std::string& policy : split_names(args.policies))
    for (const std::string& budget : budgets) {
      json fields = given;
      fields["budget"] = budget;
      add(policy, policy, fields, false);
      if (out.back().budget == "own") break;
    }
  if (!args.ablation) return out;
  for (const Changed& row : kAblation) {
    json fields = {{"coupling", "realizer"}, {"channels", row.channels}};
    fields.update(given);
    fields["budget"] = budgets[budgets.size() / 2];
    add(row.name, row.policy, fields, true);
  }
  return out;
}

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

// Growth curves of the folder, measured unless they are there.
ordered_json growth_of(const Bench& args) {
  const fs::path path = fs::path(args.out) / "growth.json";
  if (!args.out.empty())
    if (std::ifstream in(path); in)
      if (auto before = ordered_json::parse(in, nullptr, false); before.is_object()) return before;
  const ordered_json growth = bench_growth(args.quick ? 1 : 3, args.quick ? 0.25 : 16,
                                           args.quick ? 0.25 : args.native_megapixels);
  if (!args.out.empty()) {
    fs::create_directories(args.out);
    write_text(path, growth.dump(1) + "\n");
  }
  return growth;
}

class Run {
 public:
  Run(const Bench& args, BenchReport& report)
      : args_(args),
        report_(report),
        model_(answerer()),
        ledger_((fs::path(args.out) / "records.jsonl").string(), report.cells),
        gallery_(fs::path(args.out) / "failures") {}

  void all() {
    if (!args_.suites.empty()) {
      const auto suites = split_names(args_.suites);
      over(answering::ahead(answering::suite_groups(suites, args_.limit)),
           answering::suite_questions(suites, args_.limit), args_.suites);
    }
    int first = 1'000'000;  // groups of folders are others than those of suites
    for (const std::string& folder : args_.data) {
      const size_t all = evaluation::load_items(folder).size();
      over(folder_groups(folder, args_.limit, first),
           args_.limit > 0 ? std::min<size_t>(args_.limit, all) : all, folder);
      first += 1'000'000;
    }
    report_.failures = gallery_.all();
  }

 private:
  void over(const answering::GroupSource& source, size_t total, const std::string& name) {
    Progress progress(name, total);
    while (const auto group = source()) {
      for (size_t i = 0; i < report_.cells.size(); ++i) measure(*group, i);
      for (size_t i = 0; i < group->cases.size(); ++i) progress.step();
    }
  }

  void measure(const Group& group, size_t number) {
    BenchCell& cell = report_.cells[number];
    int& done = asked_[{group.suite, number}];
    if (cell.limit > 0 && done >= cell.limit) return;
    done += static_cast<int>(group.cases.size());
    if (ledger_.has(cell, group)) return;
    // A picture that nobody remembers: every cell pays for looking at it itself, and costs do not
    // depend on which cells came before.
    Group fresh = group;
    fresh.picture.hash ^= 0x9E3779B97F4A7C15ULL * (number + 1);
    answering::reset_peak();
    const answering::FlopCounter counter;
    const std::vector<Record> records = answering::measure(*model_, fresh, cell.options);
    const double gflop = counter.flops() * 1e-9 / static_cast<double>(records.size());
    const double peak = answering::peak_megabytes();
    if (const int most = most_tokens(cell.budget); most > 0)
      answering::check_budget(cell.policy, most, records);
    // The gallery first: a question whose line is written is not asked again.
    if (&cell == middle_cell(report_, "realized")) gallery_.see(*model_, group, cell, records);
    ledger_.add(cell, records, gflop, peak);
  }

  const Bench& args_;
  BenchReport& report_;
  std::shared_ptr<const answering::Answerer> model_;
  BenchLedger ledger_;
  BenchGallery gallery_;
  std::map<std::pair<std::string, size_t>, int> asked_;
};

void bench(const Bench& given_args, const OptionFlags& flags) {
  Bench args = given_args;
  if (args.speed) {
    bench_speed(args.quick ? 1 : 5, args.json);
    return;
  }
  const bool asks = !args.suites.empty() || !args.data.empty();
  if (!asks && args.growth) {
    const ordered_json growth = growth_of(args);
    std::cout << (args.json ? growth.dump() + "\n" : growth_markdown(growth));
    return;
  }
  if (args.out.empty()) throw Error(ErrorCode::bad_argument, "--out DIR: where the report goes");
  if (!asks)
    throw Error(ErrorCode::bad_argument,
                "give --suite, --data or both (or --speed, or --growth alone)");
  if (args.quick) {
    args.limit = args.limit > 0 ? args.limit : 4;
    args.native_limit = std::min(args.native_limit, 2);
  }
  json given = flags.given();
  given.erase("policy");
  BenchReport report;
  const auto model = answerer();
  if (!args.chosen) args.policies = without_missing(args.policies, *model);
  report.cells = cells_of(args, given);
  report.parameters = static_cast<double>(model->model().parameters());
  report.settings = {{"suites", args.suites},     {"data", args.data},
                     {"policies", args.policies}, {"budgets", args.budgets},
                     {"limit", args.limit},       {"native_limit", args.native_limit},
                     {"ablation", args.ablation}, {"options", given},
                     {"version", kVersion},       {"weights", model->model().fingerprint()}};
  report.machine = {{"processor", machine_name()},
                    {"threads", at::get_num_threads()},
                    {"libtorch", TORCH_VERSION}};
  // What cannot be measured is refused before the folder is taken.
  if (!args.suites.empty()) answering::suite_groups(split_names(args.suites), 1);
  for (const std::string& folder : args.data) evaluation::load_items(folder);
  claim(args.out, report.settings);
  Run(args, report).all();
  if (args.growth) report.growth = growth_of(args);
  const ordered_json all = bench_json(report);
  const std::string text = bench_markdown(report, all);
  write_text(fs::path(args.out) / "report.json", all.dump(1) + "\n");
  write_text(fs::path(args.out) / "report.md", text);
  write_text(fs::path(args.out) / "report.html", bench_html(report, all));
  std::cout << (args.json ? all.dump() + "\n" : text);
}

}  // namespace

void add_bench(CLI::App& app) {
  CLI::App* sub = app.add_subcommand("bench", "compare policies at equal budgets, as a report");
  auto args = std::make_shared<Bench>();
  sub->add_option("--suite", args->suites, "fixed suites: documents,charts,...,unseen");
  sub->add_option("--data", args->data, "folder with items.jsonl and pictures; may be repeated");
  CLI::Option* policies =
      sub->add_option("--policies", args->policies, "policies of arrcoc ask, and oracle")
          ->capture_default_str();
  sub->add_option("--budgets", args->budgets, "tokens, auto, or auto:LOW-HIGH")
      ->capture_default_str();
  sub->add_option("--out", args->out, "folder of the report; a stopped run goes on there");
  sub->add_option("--limit", args->limit, "only the first questions of each suite or folder")
      ->check(CLI::NonNegativeNumber);
  sub->add_option("--native-limit", args->native_limit,
                  "questions a suite for policies that encode every patch (0: all)")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  sub->add_option("--native-megapixels", args->native_megapixels,
                  "growth: the largest picture that native gets")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  sub->add_flag("--quick", args->quick, "a few questions: does it all work?");
  sub->add_flag("--ablation", args->ablation, "also leave out one part after the other");
  sub->add_flag("--growth", args->growth, "also cost over megapixels and tokens");
  sub->add_flag("--speed", args->speed, "adaptive against native at 1024x1024, nothing else");
  sub->add_flag("--json", args->json, "print as JSON");
  const OptionFlags flags(*sub);
  sub->callback([args, flags, policies] {
    args->chosen = policies->count() > 0;
    bench(*args, flags);
  });
}

}  // namespace arrcoc::cli
