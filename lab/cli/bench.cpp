// arrcoc bench: policies at equal budgets, on suites and folders, as a report.
//
// Every measured question is a line of OUT/records.jsonl at once, so a stopped run goes on where it
// was. The three reports are made from those lines.
#include "lab/cli/bench.h"

#include <ATen/Parallel.h>
#include <torch/version.h>

#include <iostream>

#include "arrcoc/error.h"
#include "arrcoc/version.h"
#include "lab/measure/cost.h"
#include "models/tiny/tiny.h"

namespace arrcoc::cli {

namespace {

namespace fs = std::filesystem;
using measuring::Group;
using measuring::Record;

std::string machine_name() {
  std::ifstream in("/proc/cpuinfo");
  for (std::string line; std::getline(in, line);)
    if (line.rfind("model name", 0) == 0) return line.substr(line.find(':') + 2);
  return "unknown";
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
  write_text(path.string(), settings.dump(1) + "\n");
}

// Growth curves of the folder, measured unless they are there.
ordered_json growth_of(const BenchArgs& args) {
  const fs::path path = fs::path(args.out) / "growth.json";
  if (!args.out.empty())
    if (std::ifstream in(path); in)
      if (auto before = ordered_json::parse(in, nullptr, false); before.is_object()) return before;
  const ordered_json growth = bench_growth(args.quick ? 1 : 3, args.quick ? 0.25 : 16,
                                           args.quick ? 0.25 : args.native_megapixels);
  if (!args.out.empty()) {
    fs::create_directories(args.out);
    write_text(path.string(), growth.dump(1) + "\n");
  }
  return growth;
}

// What is asked: suites together, then folders.
struct BenchSource {
  std::string name;
  measuring::GroupSource groups;
  size_t questions = 0;
  size_t suites = 1;
};
// Error{not_found, bad_json} for what cannot be measured, before anything is.
std::vector<BenchSource> sources_of(const BenchArgs& args) {
  std::vector<BenchSource> out;
  if (!args.suites.empty()) {
    const auto suites = split_names(args.suites);
    out.push_back({args.suites, measuring::ahead(measuring::suite_groups(suites, args.limit)),
                   measuring::suite_questions(suites, args.limit), suites.size()});
  }
  int first = kGroupsApart;  // groups of folders are others than those of suites
  for (const std::string& name : args.data) {
    QuestionFolder folder = open_data(name, args.limit, first);
    out.push_back({name, std::move(folder.groups), folder.questions, 1});
    first += kGroupsApart;
  }
  return out;
}

// Lines with and without details are no lines of one file.
std::string journal_of(const BenchArgs& args) {
  return (fs::path(args.out) /
          (args.predictions->details() ? "predictions_details.jsonl" : "predictions.jsonl"))
      .string();
}

class Run {
 public:
  Run(const BenchArgs& args, BenchReport& report)
      : args_(args),
        report_(report),
        ledger_((fs::path(args.out) / "records.jsonl").string(), report.cells),
        predictions_(*args.predictions, journal_of(args),
                     [this](const std::string& row, const std::string& suite, int group) {
                       return ledger_.has(row, suite, group);
                     }) {}

  void over(const BenchSource& source) {
    // In units of about 0.1 s on one core, so that the time left is a fair guess.
    size_t work = 0;
    for (const BenchCell& cell : report_.cells)
      work += cell.weight() * (cell.limit > 0
                                   ? std::min<size_t>(cell.limit * source.suites, source.questions)
                                   : source.questions);
    Progress progress(source.name, work);
    while (const auto group = source.groups()) {
      known_ = false;
      for (size_t i = 0; i < report_.cells.size(); ++i) {
        BenchCell& cell = report_.cells[i];
        int& done = asked_[{group->suite, i}];
        if ((cell.limit > 0 && done >= cell.limit) || !cell.refused.empty()) continue;
        done += static_cast<int>(group->cases.size());
        const size_t worth = cell.weight() * group->cases.size();
        const bool measured = ledger_.has(cell.row(), group->suite, group->number);
        if (measured && predictions_.has(cell.row(), *group)) {
          progress.skip(worth);
          continue;
        }
        try {
          measure(*group, i, measured);
        } catch (const Error& problem) {
          const bool must = args_.named && !args_.model->given();
          if (problem.code() != ErrorCode::unsupported || must) throw;
          cell.refused = problem.what();
        }
        progress.step(worth);
      }
    }
  }
  void keep() { predictions_.keep(); }

 private:
  // Reads the picture before anybody's time is taken.
  void remember(const Group& group) {
    if (known_) return;
    known_ = true;
    for (const BenchCell& cell : report_.cells)
      if (cell.options.look.coupling == kNetwork)
        askers().of(cell.options).see(group.picture, cell.options);
  }

  static std::vector<Picture*> pictures_of(Group& group) {
    std::vector<Picture*> out = {&group.picture};
    for (Picture& frame : group.frames) out.push_back(&frame);
    return out;
  }

  // again: only for what is predicted; its records are there.
  void measure(const Group& group, size_t number, bool again) {
    BenchCell& cell = report_.cells[number];
    const Asker& asker = askers().of(cell.options);
    Group fresh = group;
    if (args_.remember)
      remember(group);
    else  // A picture that nobody remembers: every cell pays for looking at it itself, and costs do
          // not depend on which cells came before.
      for (Picture* one : pictures_of(fresh)) *one = measuring::unknown(*one, number + 1);
    measuring::reset_peak();
    const measuring::FlopCounter counter;
    std::vector<Record> records =
        measuring::measure(asker, fresh, cell.options, predictions_.of(cell.row()));
    const double gflop = counter.flops() * 1e-9 / static_cast<double>(records.size());
    const double peak = measuring::peak_megabytes();
    forget_places(cell.options, records);
    // A model's views have a least size, which may be over the budget: the table shows it.
    if (const int most = cell.most_tokens(); most > 0 && !args_.model->given())
      measuring::check_budget(cell.policy, most, records);
    if (!again) ledger_.add(cell, records, gflop, peak);
  }

  const BenchArgs& args_;
  BenchReport& report_;
  BenchLedger ledger_;
  Predictions predictions_;
  std::map<std::pair<std::string, size_t>, int> asked_;
  bool known_ = false;  // the picture at hand was read already
};

// What is made of the records for people: the gallery is drawn anew, so a run that went on, or one
// that was over, has the same.
void show(const BenchArgs& args, BenchReport& report) {
  const BenchCell& shown = shown_cell(report);
  if (!args.before.empty()) report.change = bench_change(earlier_cell(args.before, shown), shown);
  if (args.gallery > 0) {
    std::vector<measuring::GroupSource> sources;
    for (BenchSource& source : sources_of(args)) sources.push_back(std::move(source.groups));
    try {
      report.failures = bench_gallery(shown, sources, args.gallery);
    } catch (const Error& problem) {
      if (problem.code() != ErrorCode::unsupported) throw;
      std::cerr << "arrcoc: note: no gallery: " << problem.what() << "\n";
    }
  }
  if (!args.reliability.empty())
    write_reliability(args.reliability, reliability_json(shown.records, args.data));
}

void write_report(const BenchArgs& args, const BenchReport& report) {
  const fs::path out = args.out;
  const ordered_json all = bench_json(report);
  const std::string text = bench_markdown(report, all);
  write_text((out / "report.json").string(), all.dump(1) + "\n");
  write_text((out / "report.md").string(), text);
  write_text((out / "report.html").string(), bench_html(report, all));
  std::cout << (args.json ? all.dump() + "\n" : text);
}

void bench_report(BenchArgs args, const OptionFlags& flags) {
  if (args.quick) {
    args.limit = args.limit > 0 ? args.limit : 4;
    args.native_limit = std::min(args.native_limit, 2);
  }
  BenchReport report;
  report.cells = bench_cells(args, flags);
  std::vector<AskOptions> options;
  for (const BenchCell& cell : report.cells) options.push_back(cell.options);
  require_effect(flags, options);
  const bool model = args.model->given();
  report.parameters =
      static_cast<double>(model ? args.model->parameters() : bundle()->networks->parameters());
  if (model) report.ours = "prune";
  report.settings = {{"suites", args.suites},
                     {"data", args.data},
                     {"policies", args.policies},
                     {"budgets", args.budgets},
                     {"limit", args.limit},
                     {"native_limit", args.native_limit},
                     {"large_limit", args.large_limit},
                     {"remember", args.remember},
                     {"ablation", args.ablation},
                     {"options", given_fields(flags)},
                     {"version", kVersion}};
  if (model)
    report.settings["model"] = args.model->about();
  else
    report.settings["weights"] = bundle()->networks->fingerprint();
  report.machine = {{"processor", machine_name()},
                    {"threads", at::get_num_threads()},
                    {"libtorch", TORCH_VERSION}};
  const std::vector<BenchSource> sources = sources_of(args);
  if (!args.before.empty()) earlier_cell(args.before, shown_cell(report));  // before long work
  if (!args.reliability.empty()) require_writable(args.reliability);
  claim(args.out, report.settings);
  if (!args.note.empty()) std::cerr << "bench: " << args.note << "\n";
  {
    Run run(args, report);
    for (const BenchSource& source : sources) run.over(source);
    run.keep();
  }
  // A family whose tokens are no places has its views chosen instead.
  if (model && !shown_cell(report).refused.empty()) report.ours = "zoom";
  show(args, report);
  if (args.growth) report.growth = growth_of(args);
  write_report(args, report);
}

void bench(const BenchArgs& args, const OptionFlags& flags) {
  args.model->use();
  if (args.model->given() && (args.speed || args.growth || args.ablation || args.remember))
    throw Error(ErrorCode::bad_argument,
                "--speed, --growth, --ablation and --remember are for the bundled model, not for "
                "--model");
  if (args.speed) {
    bench_speed(args.quick ? 1 : 5,
                flags.given("budget") ? flags.options(AskOptions{}.policy).budget : "180",
                args.json);
    return;
  }
  const bool asks = !args.suites.empty() || !args.data.empty();
  if (!asks && args.growth) {
    const ordered_json growth = growth_of(args);
    std::cout << (args.json ? growth.dump() + "\n" : growth_markdown(growth));
    return;
  }
  if (args.out.empty())
    throw Error(ErrorCode::bad_argument, "--out DIR is missing: where the report goes");
  if (flags.given("budget"))
    throw Error(ErrorCode::bad_argument, "--budget is for --speed; a report takes --budgets");
  if (!asks)
    throw Error(ErrorCode::bad_argument,
                "give --suite, --data or both (or --speed, or --growth alone)");
  bench_report(args, flags);
}

}  // namespace

void add_bench(CLI::App& app) {
  CLI::App* sub = app.add_subcommand("bench", "compare policies at equal budgets, as a report");
  auto args = std::make_shared<BenchArgs>();
  sub->add_option("--suite", args->suites, "fixed suites: documents,charts,...,unseen");
  sub->add_option("--data", args->data, kDataHelp);
  sub->add_option("--policies", args->policies,
                  "policies of arrcoc ask, and oracle; NAME@BUDGET has that budget alone (default: "
                  "every baseline)");
  sub->add_option("--budgets", args->budgets, "tokens, auto, or auto:LOW-HIGH")
      ->capture_default_str();
  sub->add_option("--out", args->out, "folder of the report; a stopped run goes on there");
  sub->add_option("--limit", args->limit, "only the first questions of each suite or folder")
      ->check(at_least_zero());
  sub->add_option("--native-limit", args->native_limit,
                  "questions a suite for policies that encode every patch (0: all)")
      ->check(at_least_zero())
      ->capture_default_str();
  sub->add_option("--large-limit", args->large_limit,
                  "questions a suite for budgets of more than 400 tokens (0: all)")
      ->check(at_least_zero())
      ->capture_default_str();
  sub->add_option("--native-megapixels", args->native_megapixels,
                  "growth: the largest picture that native gets")
      ->check(at_least_zero())
      ->capture_default_str();
  sub->add_option("--gallery", args->gallery,
                  "wrong answers of each cause shown in the report, most confident first")
      ->check(at_least_zero())
      ->capture_default_str();
  sub->add_option("--before", args->before,
                  "--out of an earlier bench: counts of causes before and after, what was gained "
                  "and lost");
  sub->add_option("--reliability", args->reliability, kReliabilityHelp);
  sub->add_flag("--quick", args->quick, "a few questions: does it all work?");
  sub->add_flag("--remember", args->remember,
                "read each picture once for all policies: quicker, times are of known pictures");
  sub->add_flag("--ablation", args->ablation, "also leave out one part after the other");
  sub->add_flag("--growth", args->growth, "also cost over megapixels and tokens");
  sub->add_flag("--speed", args->speed, "adaptive against native at 1024x1024, nothing else");
  sub->add_flag("--json", args->json, "print as JSON");
  args->predictions = std::make_shared<PredictionFlags>(*sub);
  args->model = std::make_shared<ModelFlags>(*sub);
  const OptionFlags flags(*sub);
  sub->callback([args, flags] { bench(*args, flags); });
}

}  // namespace arrcoc::cli
