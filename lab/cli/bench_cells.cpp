// Which policies bench measures at which budgets, and what the ablation changes.
#include <algorithm>

#include "arrcoc/error.h"
#include "base/join.h"
#include "lab/cli/bench.h"
#include "models/tiny/tiny.h"

namespace arrcoc::cli {

namespace {

constexpr const char* kBaselines =
    "realized,passes,oracle,resize,random,breadth-first,saliency,reader,diverse,slices,fixed-16x,"
    "fixed-tiers,native,tome,visionzip,fastv,cdpruner,five-paths,qformer";

struct Changed {
  const char* name;
  const char* policy;
  const char* fields;  // JSON
};
// Three scorers, the network's map among them, and what is left when a part goes or is another. The
// first row is what the others are compared with.
constexpr Changed kAblation[] = {
    {"three scorers, balanced", "lexical", "{}"},
    {"information alone", "information", "{}"},
    {"salience alone", "saliency", "{}"},
    {"query alone (the network)", "coupling", "{}"},
    {"without information", "no-information", "{}"},
    {"without salience", "no-salience", "{}"},
    {"without query", "no-query", "{}"},
    {"without balancing (a third each)", "thirds", "{}"},
    {"multiplied instead of balanced", "multiplicative", "{}"},
    {"balanced by the learned policy", "lexical", R"({"balancer": "learned"})"},
    {"split by experts", "lexical", R"({"allocator": "experts"})"},
    {"balanced by the learned policy, split by experts", "lexical",
     R"({"balancer": "learned", "allocator": "experts"})"},
    {"query alone, split by experts (realized)", "realized", "{}"},
    {"balanced by answers (balanced)", "balanced", "{}"},
    {"the same without information", "balanced", R"({"balancer": "outcome-without-information"})"},
    {"the same without salience", "balanced", R"({"balancer": "outcome-without-salience"})"},
    {"the same without the query", "balanced", R"({"balancer": "outcome-without-coupling"})"},
    {"the same without compress", "balanced", R"({"balancer": "outcome-without-compress"})"},
    {"the same without exploit", "balanced", R"({"balancer": "outcome-without-exploit"})"},
    {"the same without focus", "balanced", R"({"balancer": "outcome-without-focus"})"},
    {"without texture (red, green, blue)", "lexical", R"({"channels": "rgb"})"},
    {"query alone, without texture", "coupling", R"({"channels": "rgb"})"},
    {"all patches, pooled on five paths", "five-paths", "{}"},
    {"all patches, 64 learned queries", "qformer", "{}"},
};

bool is_auto(const std::string& budget) { return budget.rfind("auto", 0) == 0; }

void check_budget(const std::string& budget) {
  if (is_auto(budget)) {
    Look look;
    look.need = 0;
    allocating::budget(look, parse_query("range?"), budget);  // refuses a range that cannot be
  } else if (budget.empty() || budget.find_first_not_of("0123456789") != std::string::npos ||
             budget.size() > 6) {
    throw Error(ErrorCode::bad_argument,
                "budgets are numbers, auto or auto:LOW-HIGH, not '" + budget + "'");
  }
}

bool has_queries(const Bundle& bundle, std::string& note) {
  try {
    bundle.networks->need_queries();
    return true;
  } catch (const Error& problem) {
    note = std::string("without qformer: ") + problem.what();
    return false;
  }
}

// Builds without Tesseract have no scorer of that name.
bool has_reader(std::string& note) {
  try {
    registry<Scorer>().make("reader");
    return true;
  } catch (const Error& problem) {
    if (problem.code() != ErrorCode::unsupported) throw;
    note += (note.empty() ? "" : "; ") + std::string("without reader: ") + problem.what();
    return false;
  }
}

// The nominal look so small that all passes together stay within the budget.
void keep_within(BenchCell& cell) {
  PassRules& rules = cell.options.passes;
  const int most = cell.most_tokens();
  const double looks = rules.first + rules.later * (rules.passes - 1);
  rules.total_budget = most;
  if (!is_auto(cell.budget))
    cell.options.budget = std::to_string(std::max(1, static_cast<int>(most / looks)));
}

class Cells {
 public:
  Cells(const BenchArgs& args, const OptionFlags& flags) : args_(args), flags_(flags) {}

  // fields: over the policy's own, under what was given.
  BenchCell& add(const std::string& name, const std::string& policy, json fields,
                 const std::string& budget) {
    BenchCell cell;
    cell.policy = name;
    cell.options = args_.model->options(flags_, policy);
    for (auto field = fields.begin(); field != fields.end();)
      field = flags_.given(field.key()) ? fields.erase(field) : std::next(field);
    apply_json(cell.options, fields);
    cell.options.budget = budget;
    cell.budget = cell.options.own_budget.empty() ? budget : "own";
    if (args_.model->given() && policy == "native") cell.budget = "own";
    if (cell.options.passes.passes > 1) keep_within(cell);
    if (args_.model->given())
      cell.limit = 0;  // what costs time there is writing the answer
    else if (baselines::encodes_all(cell.options))
      cell.limit = args_.native_limit;
    else if (cell.most_tokens() > kMaxBudget)
      cell.limit = args_.large_limit;
    for (const BenchCell& other : all)
      if (other.policy == cell.policy && other.budget == cell.budget)
        throw Error(ErrorCode::bad_argument,
                    "policy " + policy + " at budget " + cell.budget + " is named twice");
    all.push_back(std::move(cell));
    return all.back();
  }

  std::vector<BenchCell> all;

 private:
  const BenchArgs& args_;
  const OptionFlags& flags_;
};

}  // namespace

int BenchCell::most_tokens() const {
  if (own_budget()) return 0;
  if (budget == "auto") return kMaxBudget;
  const size_t dash = budget.rfind('-');
  return std::stoi(dash == std::string::npos ? budget : budget.substr(dash + 1));
}

size_t BenchCell::weight() const {
  if (baselines::encodes_all(options)) return 40;
  const bool scorers = options.look.coupling != kNetwork && options.look.coupling != "none";
  return 1 + static_cast<size_t>(most_tokens() / 200) + (scorers ? 2 : 0);
}

std::vector<BenchCell> bench_cells(BenchArgs& args, const OptionFlags& flags) {
  const std::vector<std::string> budgets = split_names(args.budgets);
  for (const std::string& budget : budgets) check_budget(budget);
  const bool chosen = args.named = !args.policies.empty();
  const bool model = args.model->given();
  const bool queries = model || (chosen && !args.ablation) || has_queries(*bundle(), args.note);
  const bool reader = chosen || model || has_reader(args.note);
  if (!chosen) args.policies = model ? baselines::kWays : kBaselines;
  Cells cells(args, flags);
  std::vector<std::string> kept;
  for (const std::string& entry : split_names(args.policies)) {
    if ((entry == "qformer" && !chosen && !queries) || (entry == "reader" && !reader)) continue;
    if (chosen && !model && entry.rfind("qformer", 0) == 0) bundle()->networks->need_queries();
    kept.push_back(entry);
    const size_t at = entry.find('@');
    if (at != std::string::npos) {
      check_budget(entry.substr(at + 1));
      const std::string policy = entry.substr(0, at);
      cells.add(policy, policy, json::object(), entry.substr(at + 1)).extra = true;
      continue;
    }
    for (const std::string& budget : budgets)
      if (cells.add(entry, entry, json::object(), budget).own_budget()) break;
  }
  args.policies = joined(kept, ",");
  if (!args.ablation) return cells.all;
  for (const Changed& row : kAblation) {
    if (std::string(row.policy) == "qformer" && !queries) continue;
    json fields = json::parse(row.fields);
    if (policy(row.policy).look.coupling == "lexical") fields["coupling"] = kNetwork;
    cells.add(row.name, row.policy, fields, budgets[budgets.size() / 2]).ablation = true;
  }
  return cells.all;
}

}  // namespace arrcoc::cli
