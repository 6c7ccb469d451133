// arrcoc eval: how well do policies answer, and how well do their tokens cover the answers?
//   --suite A,B   generated questions of the fixed suites
//   --data DIR    pictures with questions; beside the policy stand rows that know no question
//   --pairs       questions about two pictures
//   --calibrate   fits confidence and budgets on held-out scenes
//   --weights A --weights B   compares two folders of weights
#include <algorithm>
#include <iostream>

#include "arrcoc/error.h"
#include "cli/looking_again.h"
#include "lab/cli/eval.h"
#include "lab/cli/folders.h"

namespace arrcoc::cli {

namespace {

using answering::Record;
using measuring::Item;
using nlohmann::ordered_json;

struct Eval {
  std::vector<std::string> data;
  std::string suites;
  std::vector<std::string> weights;
  std::string calibrate;
  int limit = 0;
  int native_limit = 20;
  bool look_only = false;
  bool pairs = false;
  std::string equal_totals;  // the policy whose mean tokens all others get
  bool json = false;
  PassFlags again;
};

void eval_suites(const Eval& args, const nlohmann::json& given) {
  const std::vector<std::string> suites = split_names(args.suites);
  std::vector<EvalRow> rows;
  const std::string names = given.value("policy", "realized,oracle,resize,random,native");
  require_effect(split_names(names), given);
  for (const std::string& name : split_names(names)) {
    EvalRow& row = rows.emplace_back();
    row.name = name;
    row.options = ask_options(name, given);
    args.again.apply(row.options);
    row.limit = name == "native" ? args.native_limit : 0;
  }
  answerer();  // missing weights are reported before any scene is made
  MapMoves moves;
  if (!args.equal_totals.empty()) {
    measure_at_equal_totals(args.equal_totals, suites, args.limit, rows);
  } else {
    measure_rows(answering::ahead(answering::suite_groups(suites, args.limit)),
                 answering::suite_questions(suites, args.limit), args.suites, rows, &moves);
  }
  if (args.json) {
    ordered_json out;
    out["suites"] = suites;
    out["budget"] = rows[0].options.look.budget;
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

std::vector<EvalRow> data_rows(const Eval& args, const nlohmann::json& given, bool read) {
  const std::vector<std::string> asked = split_names(given.value("policy", "lexical"));
  if (read) require_effect(asked, given);
  std::vector<std::string> names = asked;
  for (const char* blind : {"breadth-first", "random", "text"})
    if (std::find(names.begin(), names.end(), blind) == names.end()) names.emplace_back(blind);
  std::vector<EvalRow> rows;
  for (const std::string& name : names) {
    nlohmann::json own = given;
    if (rows.size() >= asked.size()) {  // baselines share the budget and the seed alone
      own = nlohmann::json::object();
      for (const char* key : {"budget", "seed"})
        if (given.contains(key)) own[key] = given[key];
    }
    if (!own.contains("budget")) own["budget"] = "balanced";
    EvalRow& row = rows.emplace_back();
    row.name = name;
    row.read = read;
    row.limit = name == "native" ? args.native_limit : 0;
    if (read) {
      row.options = ask_options(name, own);
      args.again.apply(row.options);
    } else {
      own["policy"] = name;
      row.options.look = options_from_json(own.dump());
    }
    row.options.look.canvas = measuring::kFrame;
  }
  return rows;
}

ordered_json data_json(const Eval& args, const std::vector<EvalRow>& rows) {
  ordered_json out;
  out["data"] = args.data;
  out["policy"] = rows[0].name;
  out["budget"] = rows[0].options.look.budget;
  out["frame"] = measuring::kFrame;
  out["largest_leaf"] = measuring::kFine;
  out.update(to_json(rows[0]));
  for (size_t i = 1; i < rows.size(); ++i) out["baselines"][rows[i].name] = to_json(rows[i]);
  return out;
}

void print_data(const std::vector<EvalRow>& rows) {
  const auto cell = [](double v, const char* format) {
    char text[32];
    std::snprintf(text, sizeof text, format, v);
    return std::string(text);
  };
  std::vector<std::vector<std::string>> lines = {{"policy", "kind", "questions", "recall",
                                                  "with alternates", "lift", "tokens",
                                                  "exact match", "anls"}};
  for (const EvalRow& row : rows) {
    std::map<std::string, std::vector<const Record*>> kinds;
    for (const Record& r : row.records) {
      kinds[""].push_back(&r);
      if (!r.kind.empty()) kinds[r.kind].push_back(&r);
    }
    for (const auto& [kind, records] : kinds) {
      if (kinds.size() == 2 && !kind.empty()) continue;  // one kind says what all says
      const answering::Summary s = answering::summarise(records);
      const bool read = s.answered > 0;
      lines.push_back({row.name, kind.empty() ? "all" : kind, std::to_string(s.questions),
                       s.boxes > 0 ? cell(s.recall.mean, "%.3f") : "-",
                       s.boxes > 0 ? cell(s.lenient, "%.3f") : "-",
                       s.boxes > 0 ? cell(s.lift, "%.2f") : "-", cell(s.mean_tokens, "%.1f"),
                       read ? cell(s.exact_match.mean, "%.3f") : "-",
                       read ? cell(s.anls.mean, "%.3f") : "-"});
    }
  }
  std::cout << table(lines) << "recall: share of the answer box under leaves of at most "
            << measuring::kFine << " px, longer side " << measuring::kFrame << "\n";
}

void eval_data(const Eval& args, const nlohmann::json& given) {
  // Answers are read only where somebody knows the right ones and the bundled model is there.
  bool known = false;
  size_t total = 0;
  for (const std::string& folder : args.data) {
    for (const Item& item : measuring::load_items(folder)) known = known || item.answer;
    ++total;
  }
  const bool read = known && !args.look_only && !tiny::find_model().empty();
  std::vector<EvalRow> rows = data_rows(args, given, read);
  int first = 0;
  for (const std::string& folder : args.data) {
    const size_t questions = measuring::load_items(folder).size();
    measure_rows(folder_groups(folder, args.limit, first),
                 args.limit > 0 ? std::min<size_t>(args.limit, questions) : questions, folder, rows,
                 nullptr);
    first += 1'000'000;
  }
  if (args.json) {
    std::cout << data_json(args, rows).dump() << "\n";
  } else {
    print_data(rows);
  }
}

void eval(const Eval& args, const OptionFlags& flags) {
  const nlohmann::json given = flags.given();
  const int ways = !args.data.empty() + !args.suites.empty() + !args.calibrate.empty() + args.pairs;
  if (!args.weights.empty()) {
    if (args.weights.size() != 2 || args.suites.empty())
      throw Error(ErrorCode::bad_argument,
                  "--weights compares two folders on suites: --weights A --weights B --suite S");
    compare_weights(args.weights, split_names(args.suites), args.limit, given, args.json);
    return;
  }
  if (!args.equal_totals.empty() && args.suites.empty())
    throw Error(ErrorCode::bad_argument, "--equal-totals goes with --suite");
  if (ways != 1)
    throw Error(ErrorCode::bad_argument, "give one of --suite, --data, --pairs and --calibrate");
  if (args.pairs) {
    eval_pairs(args.limit, given, args.json);
  } else if (!args.calibrate.empty()) {
    calibrate(args.calibrate, args.limit > 0 ? args.limit : 480, args.json);
  } else if (!args.suites.empty()) {
    eval_suites(args, given);
  } else {
    eval_data(args, given);
  }
}

}  // namespace

void add_eval(CLI::App& app) {
  CLI::App* sub =
      app.add_subcommand("eval", "how well are questions answered, and answers covered?");
  auto args = std::make_shared<Eval>();
  sub->add_option("--suite", args->suites, "fixed suites: documents,charts,...,unseen");
  sub->add_option("--data", args->data, "folder with items.jsonl and pictures; may be repeated");
  sub->add_option("--calibrate", args->calibrate,
                  "fit confidence and budgets of the weights in this folder");
  sub->add_flag("--pairs", args->pairs,
                "questions of suite:pairs, both pictures under one budget (180 unless given)");
  sub->add_option("--weights", args->weights, "compare two folders of weights on the suites");
  sub->add_option("--limit", args->limit, "only the first questions of each suite or folder")
      ->check(at_least_zero());
  sub->add_option("--native-limit", args->native_limit,
                  "questions of each suite that policy native is asked, 0 for all (it is slow)")
      ->check(at_least_zero());
  sub->add_option("--equal-totals", args->equal_totals,
                  "with --suite: this policy (passes) first; all others then get, on each suite, "
                  "the tokens that it spent on average");
  sub->add_flag("--look-only", args->look_only, "with --data: do not read, only recall");
  sub->add_flag("--json", args->json, "print as JSON");
  args->again.add(*sub);
  const OptionFlags flags(*sub);
  sub->callback([args, flags] { eval(*args, flags); });
}

}  // namespace arrcoc::cli
