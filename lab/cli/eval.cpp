// arrcoc eval: how well do policies answer, and how well do their tokens cover the answers?
//   --suite A,B   generated questions of the fixed suites
//   --data DIR    pictures with questions; beside the policy stand rows that know no question
//   --data DIR --metric gaze   maps against where people looked
//   --pairs       questions about two pictures
//   --calibrate   fits confidence and budgets on held-out scenes
//   --kinds       fits what kind of text answers a question
//   --ranges      fits the ranges of the fast kernels
//   --weights A --weights B   compares two folders of weights
//   --against reference       compares kernels
#include "lab/cli/eval.h"

#include <algorithm>
#include <iostream>
#include <set>

#include "arrcoc/error.h"
#include "cli/ask_flags.h"
#include "lab/cli/model_flags.h"
#include "lab/cli/reliability.h"

namespace arrcoc::cli {

// What is measured on --data.
enum class Metric { answers, gaze };

}  // namespace arrcoc::cli

namespace arrcoc {
template <>
struct EnumNames<cli::Metric> {
  static constexpr const char* kWhat = "metric";
  static constexpr std::pair<cli::Metric, const char*> kNames[] = {
      {cli::Metric::answers, "answers"}, {cli::Metric::gaze, "gaze"}};
};
}  // namespace arrcoc

namespace arrcoc::cli {

namespace {

struct Eval {
  explicit Eval(CLI::App& app)
      : predictions(app), model(app), flags(app, ""), passes(app), app(&app) {}
  std::vector<std::string> data;
  std::string suites;
  std::vector<std::string> weights;
  std::string against;  // Kernels; "": none
  std::string calibrate, kinds, ranges;
  std::string reliability;  // PNG; "": none
  std::string metric;       // a Metric; "": answers
  int limit = 0;
  int native_limit = 20;
  bool look_only = false;
  bool pairs = false;
  std::string intent;
  std::string equal_totals;  // the policy whose mean tokens all others get
  bool json = false;
  PredictionFlags predictions;
  ModelFlags model;
  OptionFlags flags;
  PassFlags passes;
  CLI::App* app;

  std::string policy(const std::string& usual) const {
    const std::string given = flags.policy();
    return !given.empty() ? given : model.given() ? baselines::kWays : usual;
  }
  AskOptions options(const std::string& policy, const std::string& usual_budget) const {
    AskOptions out = model.options(flags, policy);
    if (!usual_budget.empty() && !flags.given("budget")) out.budget = usual_budget;
    return out;
  }
};

// Rules of looking again hold for policies that look again; with --passes for all.
void apply_passes(const Eval& args, std::vector<EvalRow>& rows) {
  const bool all = args.app->count("--passes") > 0;
  const auto again = [&](const EvalRow& row) { return all || row.options.passes.passes > 1; };
  if (std::none_of(rows.begin(), rows.end(), again)) {
    AskOptions nobody;
    args.passes.apply(nobody);  // refuses what would change nothing
  }
  for (EvalRow& row : rows)
    if (again(row)) args.passes.apply(row.options);
}

std::vector<EvalRow> rows_of(const Eval& args, const std::vector<std::string>& names,
                             const std::string& usual_budget) {
  std::vector<EvalRow> rows;
  std::vector<AskOptions> all;
  for (const std::string& name : names) {
    EvalRow& row = rows.emplace_back();
    row.name = name;
    row.options = args.options(name, usual_budget);
    row.limit = name == "native" && !args.model.given() ? args.native_limit : 0;
    row.optional = args.model.given();
    all.push_back(row.options);
  }
  require_effect(args.flags, all);
  apply_passes(args, rows);
  return rows;
}

// Of the first row; drawn where that was asked for.
ordered_json reliability_of(const Eval& args, const EvalRow& row) {
  ordered_json out = reliability_json(row.records, args.data);
  if (!args.reliability.empty()) write_reliability(args.reliability, out);
  return out;
}

void eval_suites(const Eval& args) {
  const std::vector<std::string> suites = split_names(args.suites);
  std::vector<EvalRow> rows =
      rows_of(args, split_names(args.policy("realized,oracle,resize,random,native")), "");
  MapMoves moves;
  Predictions predictions(args.predictions);
  if (!args.equal_totals.empty()) {
    std::vector<EvalPart> parts;
    for (const std::string& suite : suites)
      parts.push_back({suite,
                       [suite, limit = args.limit] {
                         return measuring::ahead(measuring::suite_groups({suite}, limit));
                       },
                       measuring::suite_questions({suite}, args.limit)});
    measure_at_equal_totals(args.equal_totals, parts, askers(), rows, predictions);
  } else {
    const baselines::Askers& model = askers();  // missing weights are reported before any scene
    measure_rows(model, measuring::ahead(measuring::suite_groups(suites, args.limit)),
                 measuring::suite_questions(suites, args.limit), args.suites, rows, predictions,
                 &moves);
  }
  predictions.keep();
  const ordered_json sure = reliability_of(args, rows[0]);
  if (args.json) {
    ordered_json out;
    out["suites"] = suites;
    out["reliability"] = sure;
    out["budget"] = rows[0].options.budget;
    for (const EvalRow& row : rows) out["policies"][row.name] = to_json(row);
    out["differences"] = differences(rows);
    if (args.equal_totals.empty()) out["maps"] = to_json(moves);
    std::cout << out.dump() << "\n";
    return;
  }
  std::cout << suite_table(rows) << "\n" << difference_table(rows);
  if (moves.pairs > 0)
    std::cout << "maps of different questions on one picture: 1 - cosine = "
              << rounded(moves.distinct) << " (" << moves.pairs << " pairs); of one question in "
              << "other words: " << rounded(moves.reworded) << " (" << moves.rewordings << ")\n";
}

// The policies that were asked for, then rows that know no question and share budget, seed and
// canvas.
std::vector<EvalRow> data_rows(const Eval& args, bool read) {
  std::vector<EvalRow> rows = rows_of(args, split_names(args.policy("lexical")), "balanced");
  for (const char* blind : {"breadth-first", "random", "text"}) {
    // Ways of its own, or rows at equal totals, are beside each other.
    if (args.model.given() || !args.equal_totals.empty()) break;
    if (std::any_of(rows.begin(), rows.end(), [&](const EvalRow& r) { return r.name == blind; }))
      continue;
    EvalRow row;
    row.name = blind;
    row.options = policy(blind);
    row.options.budget = rows[0].options.budget;
    row.options.allocate.seed = rows[0].options.allocate.seed;
    row.options.canvas = rows[0].options.canvas;  // and are cut alike
    row.options.least_side = rows[0].options.least_side;
    row.options.most_side = rows[0].options.most_side;
    rows.push_back(std::move(row));
  }
  for (EvalRow& row : rows) row.read = read;
  return rows;
}

// The bundled model where a row needs it or it is there.
std::shared_ptr<const Bundle> bundle_of(const std::vector<EvalRow>& rows) {
  std::shared_ptr<const Bundle> needed;
  for (const EvalRow& row : rows)
    if (!needed) needed = bundle_for(row.options);
  return needed;
}

void eval_people(const Eval& args) {
  if (args.predictions.given() || args.look_only || !args.reliability.empty() ||
      !args.equal_totals.empty())
    throw Error(ErrorCode::bad_argument,
                "--metric gaze reads no answers: no --predictions, --look-only, --reliability or "
                "--equal-totals");
  const std::vector<EvalRow> rows =
      rows_of(args, split_names(args.policy("realizer,saliency,information,text")), "");
  eval_gaze(baselines::Askers(bundle_of(rows)), args.data, args.limit, rows, args.json);
}

void eval_data(const Eval& args) {
  std::vector<QuestionFolder> folders;
  for (const std::string& folder : args.data)
    folders.push_back(
        open_data(folder, args.limit, static_cast<int>(folders.size()) * kGroupsApart));
  // Answers are read only where somebody knows the right ones and the bundled model is there.
  const bool known = std::any_of(folders.begin(), folders.end(),
                                 [](const QuestionFolder& f) { return f.answers; });
  const bool reader = args.model.given() || !find_bundle().empty();
  std::vector<EvalRow> rows = data_rows(args, known && !args.look_only && reader);
  std::optional<baselines::Askers> own;
  if (!args.model.given()) own.emplace(bundle_of(rows));
  Predictions predictions(args.predictions);
  if (!args.equal_totals.empty()) {
    std::vector<EvalPart> parts;
    for (size_t i = 0; i < folders.size(); ++i)
      parts.push_back({args.data[i],
                       [folder = args.data[i], limit = args.limit] {
                         return open_data(folder, limit, 0).groups;
                       },
                       folders[i].questions});
    measure_at_equal_totals(args.equal_totals, parts, own ? *own : askers(), rows, predictions);
    predictions.keep();
    ordered_json out = {{"reliability", reliability_of(args, rows[0])},
                        {"data", args.data},
                        {"budget", rows[0].options.budget}};
    for (const EvalRow& row : rows) out["policies"][row.name] = to_json(row);
    out["differences"] = differences(rows);
    std::cout << (args.json ? out.dump() + "\n"
                            : suite_table(rows) + "\n" + difference_table(rows));
    return;
  }
  for (size_t i = 0; i < folders.size(); ++i)
    measure_rows(own ? *own : askers(), folders[i].groups, folders[i].questions, args.data[i], rows,
                 predictions, nullptr);
  predictions.keep();
  const ordered_json sure = reliability_of(args, rows[0]);
  if (!args.json) {
    std::cout << data_table(rows);
    return;
  }
  ordered_json out;
  out["reliability"] = sure;
  out["data"] = args.data;
  out["policy"] = rows[0].name;
  out["budget"] = rows[0].options.budget;
  out["frame"] = measuring::kFrame;
  out["largest_leaf"] = measuring::kFine;
  out.update(to_json(rows[0]));
  for (size_t i = 1; i < rows.size(); ++i) out["baselines"][rows[i].name] = to_json(rows[i]);
  std::cout << out.dump() << "\n";
}

// Two bundles on suites or folders.
void eval_both(const Eval& args) {
  if (args.suites.empty() == args.data.empty() ||
      (!args.weights.empty() && args.weights.size() != 2) ||
      args.weights.empty() == args.against.empty())
    throw Error(
        ErrorCode::bad_argument,
        "--weights A --weights B, or --against KERNELS, compare on --suite S or --data DIR");
  if (args.predictions.given() || !args.reliability.empty() || !args.metric.empty() ||
      args.look_only || !args.equal_totals.empty())
    throw Error(ErrorCode::bad_argument,
                "two bundles are compared by their answers alone: no --predictions, --reliability, "
                "--metric, --look-only or --equal-totals");
  std::vector<QuestionFolder> questions;
  for (const std::string& folder : args.data)
    questions.push_back(
        open_data(folder, args.limit, static_cast<int>(questions.size()) * kGroupsApart));
  if (!args.suites.empty()) {
    const std::vector<std::string> suites = split_names(args.suites);
    questions.push_back({measuring::ahead(measuring::suite_groups(suites, args.limit)),
                         measuring::suite_questions(suites, args.limit), true});
  }
  const AskOptions options =
      args.options(args.policy("realized"), args.data.empty() ? "" : "balanced");
  if (args.weights.empty())
    compare_kernels(parse_enum<Kernels>(args.against), questions, options, args.json);
  else
    compare_weights(args.weights, questions, options, args.json);
}

// What may be given together.
void check_model(const Eval& args) {
  args.model.use();
  if (!args.model.given()) return;
  if (args.pairs || !args.calibrate.empty() || !args.weights.empty() || !args.against.empty() ||
      !args.metric.empty())
    throw Error(ErrorCode::bad_argument,
                "--model goes with --suite or --data, not with --pairs, --calibrate, --weights, "
                "--against or --metric");
}

void goes_only_with(const Eval& args, const std::string& flag, const std::set<std::string>& known) {
  for (const CLI::Option* given : args.app->get_options())
    if (given->count() > 0 && given->get_name() != flag && !known.count(given->get_name())) {
      std::string list;
      for (const std::string& one : known)
        if (one != "--json") list += (list.empty() ? "" : " and ") + one;
      throw Error(ErrorCode::bad_argument,
                  flag + " goes with " + list + " only, not with " + given->get_name());
    }
}

void eval(const Eval& args) {
  check_model(args);
  if (!args.ranges.empty()) {
    goes_only_with(args, "--ranges", {"--data", "--limit", "--json"});
    return fit_ranges(args.ranges, args.data, args.limit > 0 ? args.limit : 240, args.json);
  }
  if (!args.kinds.empty()) {
    goes_only_with(args, "--kinds", {"--data", "--json"});
    return fit_kinds(args.kinds, args.data, args.json);
  }
  const bool fit = !args.calibrate.empty();
  const int ways = (!args.data.empty() && !fit) + !args.suites.empty() + fit + args.pairs;
  if (!args.weights.empty() || !args.against.empty()) {
    if (fit || args.pairs)
      throw Error(ErrorCode::bad_argument,
                  "--weights and --against go with --suite or --data, not with --pairs or "
                  "--calibrate");
    return eval_both(args);
  }
  if (args.predictions.given() && (fit || (args.suites.empty() && args.data.empty())))
    throw Error(ErrorCode::bad_argument, "--predictions goes with --suite or --data");
  if (!args.reliability.empty()) {
    if (args.suites.empty() && args.data.empty())
      throw Error(ErrorCode::bad_argument, "--reliability goes with --suite or --data");
    require_writable(args.reliability);
  }
  if (!args.equal_totals.empty() && (fit || (args.suites.empty() && args.data.empty())))
    throw Error(ErrorCode::bad_argument, "--equal-totals goes with --suite or --data");
  const Metric metric = args.metric.empty() ? Metric::answers : parse_enum<Metric>(args.metric);
  if (!args.metric.empty() && args.data.empty())
    throw Error(ErrorCode::bad_argument, "--metric goes with --data");
  if (ways != 1)
    throw Error(ErrorCode::bad_argument,
                "give one of --suite, --data, --pairs, --calibrate, --kinds and --ranges");
  if (!args.intent.empty() && !args.pairs)
    throw Error(ErrorCode::bad_argument, "--intent goes with --pairs");
  if (args.pairs) {
    eval_pairs(args.limit, args.intent, args.options(args.policy("realized"), "180"), args.json);
  } else if (fit) {
    calibrate(args.calibrate, args.data, args.limit > 0 ? args.limit : 480, args.json);
  } else if (!args.suites.empty()) {
    eval_suites(args);
  } else if (metric == Metric::gaze) {
    eval_people(args);
  } else {
    eval_data(args);
  }
}

}  // namespace

void add_eval(CLI::App& app) {
  CLI::App* sub =
      app.add_subcommand("eval", "how well are questions answered, and answers covered?");
  auto args = std::make_shared<Eval>(*sub);
  sub->add_option("--suite", args->suites, "fixed suites: documents,charts,...,unseen");
  sub->add_option("--data", args->data, kDataHelp);
  sub->add_option(
      "--calibrate", args->calibrate,
      "fit confidence and budgets of the weights in this folder, on scenes; with --data also "
      "on questions about real pictures that were held aside");
  sub->add_option("--kinds", args->kinds,
                  "fit what kind of text answers a question (a sign of confidence) on the "
                  "questions and answers of --data, for the weights in this folder; then "
                  "--calibrate");
  sub->add_option("--ranges", args->ranges,
                  "fit the ranges that the fast kernels need for the weights in this folder, on "
                  "scenes; with --data also on pictures that training may see");
  sub->add_flag("--pairs", args->pairs,
                "questions of suite:pairs, both pictures under one budget (180 unless given)");
  sub->add_option("--intent", args->intent,
                  "with --pairs: one question of this intent (pair.different, pair.which, ...) a "
                  "scene, from other scenes of the suite's seeds");
  sub->add_option("--weights", args->weights,
                  "compare two folders of weights, each with what was fitted for it");
  sub->add_option("--against", args->against,
                  "compare the kernels (--kernels) with these: the same questions to both, the "
                  "difference with its interval");
  sub->add_option("--limit", args->limit, "only the first questions of each suite or folder")
      ->check(at_least_zero());
  sub->add_option("--native-limit", args->native_limit,
                  "questions of each suite that policy native is asked, 0 for all (it is slow)")
      ->check(at_least_zero());
  sub->add_option("--equal-totals", args->equal_totals,
                  "with --suite or --data: this policy (passes) first; all others then get, on "
                  "each suite or folder, the tokens that it spent on average");
  sub->add_option("--metric", args->metric,
                  "with --data: answers (and how tokens cover them), or gaze: do maps look where "
                  "people looked? (NSS, AUC-Judd, CC)");
  sub->add_option("--reliability", args->reliability, kReliabilityHelp);
  sub->add_flag("--look-only", args->look_only, "with --data: do not read, only recall");
  sub->add_flag("--json", args->json, "print as JSON");
  sub->callback([args] { eval(*args); });
}

}  // namespace arrcoc::cli
