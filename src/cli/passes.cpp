// arrcoc passes --fit FILE: learns from logged passes on held-out scenes when another look pays.
#include <iostream>

#include "answering/measure.h"
#include "arrcoc/error.h"
#include "cli/asking.h"
#include "cli/cli.h"

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

// Rules that never stop after the first pass and look again in one manner.
answering::AskOptions always(const Passes& args, bool closer) {
  answering::AskOptions out = answering::options_for("passes");
  out.look.budget = args.budget;
  out.rules.passes = 2;
  out.rules.lost = closer ? 1.0 : -1.0;
  out.rules.gathered = 0;
  out.confident = 1.1;
  return out;
}

// Every question of the source with both manners of a second look.
std::vector<esper::Logged> log_passes(const answering::Answerer& answerer,
                                      const answering::GroupSource& source, const Passes& args,
                                      Progress& progress) {
  std::vector<esper::Logged> out;
  while (const auto group = source()) {
    std::vector<answering::Inquiry> inquiries;
    for (const answering::Case& one : group->cases)
      inquiries.push_back({one.item.question, {}, {}});
    const auto closer = answerer.ask(group->picture, inquiries, always(args, true));
    for (size_t i = 0; i < inquiries.size(); ++i) inquiries[i].opinion = closer[i].opinion;
    const auto elsewhere = answerer.ask(group->picture, inquiries, always(args, false));
    for (size_t i = 0; i < inquiries.size(); ++i) {
      const std::string& wanted = *group->cases[i].item.answer;
      const auto right = [&](const esper::Pass& p) {
        return evaluation::exact_match(p.answer, wanted);
      };
      const auto& a = closer[i].passes->passes;
      const auto& b = elsewhere[i].passes->passes;
      progress.step();
      if (a.size() < 2 || b.size() < 2) continue;
      out.push_back({esper::features_of(a[0], true), esper::features_of(a[1], false),
                     esper::features_of(b[1], false), right(a[0]), right(a[1]), right(b[1])});
    }
  }
  return out;
}

// What the policy would have got right on logged passes, with how many looks.
ordered_json outcome(const esper::Policy& policy, const std::vector<esper::Logged>& logged) {
  double right = 0, looks = 0, first = 0;
  for (const esper::Logged& l : logged) {
    first += l.first_right ? 1 : 0;
    const double closer = esper::chance(policy.closer, l.first);
    const double elsewhere = esper::chance(policy.elsewhere, l.first);
    bool chosen = l.first_right;
    ++looks;
    if (std::max(closer, elsewhere) >= policy.worth) {
      ++looks;
      const auto& x = closer >= elsewhere ? l.closer : l.elsewhere;
      if (esper::chance(policy.right, x) > esper::chance(policy.right, l.first))
        chosen = closer >= elsewhere ? l.closer_right : l.elsewhere_right;
    }
    right += chosen ? 1 : 0;
  }
  const auto n = static_cast<double>(std::max<size_t>(1, logged.size()));
  return {{"questions", logged.size()},
          {"first_look", rounded(first / n)},
          {"with_policy", rounded(right / n)},
          {"mean_passes", rounded(looks / n)}};
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
  std::vector<esper::Logged> learned, kept;
  for (size_t i = 0; i < logged.size(); ++i) (i % 4 == 3 ? kept : learned).push_back(logged[i]);
  esper::Policy policy = esper::fit(learned);
  policy.weights = answerer->model().fingerprint();
  ordered_json out = ordered_json::parse(esper::to_json(policy));
  out["measured"] = {{"fitted_on", outcome(policy, learned)}, {"kept_back", outcome(policy, kept)}};
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
