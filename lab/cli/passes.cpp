// arrcoc passes --fit FILE: learns from logged passes on held-out scenes when another look pays.
#include <algorithm>
#include <iostream>
#include <map>

#include "arrcoc/error.h"
#include "cli/asking.h"
#include "cli/cli.h"
#include "lab/measure/measure.h"

namespace arrcoc::cli {

namespace {

using nlohmann::ordered_json;

struct Passes {
  std::string fit;
  std::string model;
  std::string budget = "180";
  int limit = 400;
  bool json = false;
};

using Features = esper::Policy::Features;

// One pass of one question.
struct Look {
  Features features{};
  bool right = false;
  int tokens = 0;
  double confidence = 0, gathered = -1, uncertainty = 1;
};
// A question with its first look and every manner of a second one.
struct Line {
  Look first;
  std::map<std::string, Look> again;  // closer, wider, elsewhere
};

// Rules that never stop after the first pass and look again in one manner.
answering::AskOptions always(const Passes& args, const std::string& manner) {
  answering::AskOptions out = answering::options_for("passes");
  out.look.budget = args.budget;
  out.rules.passes = 2;
  out.rules.lost = manner == "elsewhere" ? -1.0 : 1.0;
  out.rules.gathered = manner == "closer" ? 0 : 2;
  out.rules.wider = manner == "wider" ? 1 : 0;
  out.confident = 1.1;
  return out;
}

Look look_of(const esper::Pass& pass, bool first, const std::string& wanted) {
  return {esper::features_of(pass, first),
          measuring::exact_match(pass.answer, wanted),
          pass.tokens,
          pass.confidence,
          pass.gathered,
          pass.uncertainty};
}

std::vector<Line> log_passes(const answering::Answerer& answerer,
                             const answering::GroupSource& source, const Passes& args,
                             Progress& progress) {
  std::vector<Line> out;
  while (const auto group = source()) {
    std::vector<answering::Inquiry> inquiries;
    for (const answering::Case& one : group->cases)
      inquiries.push_back({one.item.question, {}, {}});
    std::vector<Line> lines(inquiries.size());
    for (const char* manner : {"closer", "wider", "elsewhere"}) {
      const auto replies = answerer.ask(group->picture, inquiries, always(args, manner));
      for (size_t i = 0; i < replies.size(); ++i) {
        inquiries[i].opinion = replies[i].opinion;
        const std::string& wanted = *group->cases[i].item.answer;
        const auto& passes = replies[i].passes->passes;
        lines[i].first = look_of(passes[0], true, wanted);
        if (passes.size() > 1) lines[i].again[manner] = look_of(passes[1], false, wanted);
      }
    }
    for (Line& line : lines) {
      progress.step();
      if (line.again.size() == 3) out.push_back(std::move(line));
    }
  }
  return out;
}

struct Outcome {
  double right = 0, tokens = 0, looks = 0;
};
// What three passes at most would have come to. next: the manner after the last look, "" to stop,
// given the looks so far; value: what looks are compared by.
template <class Next, class Value>
Outcome outcome(const std::vector<Line>& lines, const Next& next, const Value& value) {
  Outcome out;
  for (const Line& line : lines) {
    std::vector<std::pair<std::string, const Look*>> seen = {{"first", &line.first}};
    while (seen.size() < 3) {
      const std::string manner = next(seen);
      if (manner.empty()) break;
      seen.emplace_back(manner, &line.again.at(manner));
    }
    const auto best = std::max_element(seen.begin(), seen.end(), [&](const auto& a, const auto& b) {
      return value(a.first, *a.second) < value(b.first, *b.second);
    });
    out.right += best->second->right ? 1 : 0;
    out.looks += static_cast<double>(seen.size());
    for (const auto& [manner, look] : seen) out.tokens += look->tokens;
  }
  const auto n = static_cast<double>(std::max<size_t>(1, lines.size()));
  return {out.right / n, out.tokens / n, out.looks / n};
}

template <class Seen>
bool has(const Seen& seen, const std::string& manner) {
  return std::any_of(seen.begin(), seen.end(), [&](const auto& s) { return s.first == manner; });
}

Outcome by_rules(const std::vector<Line>& lines) {
  const answering::AskOptions usual = answering::options_for("passes");
  const auto value = [&](const std::string& manner, const Look& look) {
    const bool doubtful = manner == "closer" && look.confidence < usual.confident;
    return look.confidence - (doubtful ? usual.rules.doubt : 0);
  };
  const auto next = [&](const auto& seen) -> std::string {
    for (const auto& [manner, look] : seen)
      if (look->confidence >= usual.confident) return "";
    const Look& last = *seen.back().second;
    const bool closer =
        esper::manner_after(last.gathered, last.uncertainty, usual.rules) == "closer";
    if (seen.size() >= static_cast<size_t>(usual.rules.passes)) return "";
    if (seen.size() == 1 && closer) return "closer";
    return usual.rules.wider > 0 && !has(seen, "wider") ? "wider" : "";
  };
  return outcome(lines, next, value);
}

Outcome by_policy(const std::vector<Line>& lines, const esper::Policy& policy) {
  const auto value = [&](const std::string&, const Look& look) {
    return esper::chance(policy.right, look.features);
  };
  const auto next = [&](const auto& seen) -> std::string {
    const Features& x = seen.back().second->features;
    std::string best;
    double most = policy.worth;
    const std::pair<const char*, const Features*> models[] = {
        {"closer", &policy.closer}, {"wider", &policy.wider}, {"elsewhere", &policy.elsewhere}};
    for (const auto& [manner, model] : models)
      if (const double p = esper::chance(*model, x); p >= most && !has(seen, manner)) {
        best = manner;
        most = p;
      }
    return best;
  };
  return outcome(lines, next, value);
}

ordered_json to_json(const Outcome& o) {
  return {{"right", rounded(o.right)}, {"tokens", rounded(o.tokens)}, {"passes", rounded(o.looks)}};
}

ordered_json compared(const esper::Policy& policy, const std::vector<Line>& lines) {
  const auto none = [](const std::string&, const Look&) { return 0.0; };
  const auto stop = [](const auto&) { return std::string(); };
  Outcome whole;  // a single look with all of the budget
  for (const Line& line : lines) {
    whole.right += line.again.at("wider").right ? 1 : 0;
    whole.tokens += line.again.at("wider").tokens;
  }
  const auto n = static_cast<double>(std::max<size_t>(1, lines.size()));
  return {{"questions", lines.size()},
          {"single", to_json({whole.right / n, whole.tokens / n, 1})},
          {"first_look", to_json(outcome(lines, stop, none))},
          {"rules", to_json(by_rules(lines))},
          {"learned", to_json(by_policy(lines, policy))}};
}

// A further pass has to be worth so much that all passes together stay within what single looks
// would take.
void choose_worth(esper::Policy& policy, const std::vector<Line>& lines) {
  double single = 0;
  for (const Line& line : lines) single += line.again.at("wider").tokens;
  single /= static_cast<double>(std::max<size_t>(1, lines.size()));
  for (policy.worth = 0.01; policy.worth < 0.5; policy.worth += 0.01)
    if (by_policy(lines, policy).tokens <= single) return;
}

void fit(const Passes& args) {
  require_writable(args.fit);
  const auto answerer = answering::Answerer::load(args.model);
  Progress progress("logging passes", static_cast<size_t>(args.limit));
  const auto logged = log_passes(
      *answerer, answering::ahead(answering::held_out_groups(args.limit)), args, progress);
  if (logged.size() < 20)
    throw Error(ErrorCode::bad_argument, "too few passes to learn from: raise --limit");
  // Every fourth question is kept back to see what the fit is worth.
  std::vector<Line> learned, kept;
  std::vector<esper::Logged> examples;
  for (size_t i = 0; i < logged.size(); ++i) (i % 4 == 3 ? kept : learned).push_back(logged[i]);
  for (const Line& l : learned) {
    const Look &closer = l.again.at("closer"), &wider = l.again.at("wider"),
               &elsewhere = l.again.at("elsewhere");
    examples.push_back({l.first.features, closer.features, wider.features, elsewhere.features,
                        l.first.right, closer.right, wider.right, elsewhere.right});
  }
  esper::Policy policy = esper::fit(examples);
  choose_worth(policy, learned);
  policy.weights = answerer->model().fingerprint();
  ordered_json out = ordered_json::parse(esper::to_json(policy));
  out["measured"] = {{"fitted_on", compared(policy, learned)},
                     {"kept_back", compared(policy, kept)}};
  const std::string text = out.dump(2) + "\n";
  media::write_file(args.fit, std::vector<uint8_t>(text.begin(), text.end()));
  std::cout << (args.json ? out.dump() + "\n" : args.fit + "\n" + out["measured"].dump(2) + "\n");
}

}  // namespace

void add_passes(CLI::App& app) {
  CLI::App* sub = app.add_subcommand("passes", "learn when another look pays");
  auto args = std::make_shared<Passes>();
  sub->add_option("--fit", args->fit, "write the policy to this file (JSON)")->required();
  sub->add_option("--model", args->model, "folder of the bundled model's weights");
  sub->add_option("--budget", args->budget, "of a single look");
  sub->add_option("--limit", args->limit, "questions on held-out scenes")
      ->check(CLI::Range(40, 100000));
  sub->add_flag("--json", args->json, "print as JSON");
  sub->callback([args] { fit(*args); });
}

}  // namespace arrcoc::cli
