// arrcoc passes --fit FILE: learns from logged passes on held-out scenes when another look pays.
#include <iostream>

#include "arrcoc/error.h"
#include "cli/hub.h"
#include "lab/cli/lab.h"
#include "lab/fit/passes_fit.h"
#include "models/tiny/tiny.h"

namespace arrcoc::cli {

namespace {

using fitting::LoggedPasses;

struct Passes {
  std::string fit;
  std::string model;
  std::string budget = "180";
  int limit = 400;
  bool json = false;
};

ordered_json to_json(const fitting::PassOutcome& o) {
  return {
      {"right", rounded(o.right)}, {"tokens", rounded(o.tokens)}, {"passes", rounded(o.passes)}};
}

ordered_json compared(const PassPolicy& learned, const std::vector<LoggedPasses>& logged) {
  return {{"questions", logged.size()},
          {"single", to_json(single_look(logged))},
          {"first_look", to_json(first_look(logged))},
          {"rules", to_json(by_rules(logged, policy("passes").passes))},
          {"learned", to_json(by_policy(logged, learned))}};
}

void fit(const Passes& args) {
  require_writable(args.fit);
  const auto model = load_bundle(args.model.empty() ? "" : cached_folder(args.model));
  Progress progress("logging passes", static_cast<size_t>(args.limit));
  const auto logged =
      fitting::log_passes(Asker(model), measuring::ahead(measuring::held_out_groups(args.limit)),
                          args.budget, [&](int done) { progress.step(static_cast<size_t>(done)); });
  if (logged.size() < 20)
    throw Error(ErrorCode::bad_argument, "too few passes to learn from: raise --limit");
  // Every fourth question is kept back to see what the fit is worth.
  std::vector<LoggedPasses> learned, kept;
  for (size_t i = 0; i < logged.size(); ++i) (i % 4 == 3 ? kept : learned).push_back(logged[i]);
  PassPolicy policy = fitting::fit_passes(learned);
  policy.weights = model->networks->fingerprint();
  ordered_json out = ordered_json::parse(arrcoc::to_json(policy));
  out["measured"] = {{"fitted_on", compared(policy, learned)},
                     {"kept_back", compared(policy, kept)}};
  write_text(args.fit, out.dump(2) + "\n");
  std::cout << (args.json ? out.dump() + "\n" : args.fit + "\n" + out["measured"].dump(2) + "\n");
}

}  // namespace

void add_passes(CLI::App& app) {
  CLI::App* sub = app.add_subcommand("passes", "learn when another look pays");
  auto args = std::make_shared<Passes>();
  sub->add_option("--fit", args->fit, "write the policy to this file (JSON)")->required();
  sub->add_option("--model", args->model,
                  "weights of the bundled model: a folder, or OWNER/NAME[@REVISION]");
  sub->add_option("--budget", args->budget, "of a single look");
  sub->add_option("--limit", args->limit, "questions on held-out scenes")
      ->check(CLI::Range(40, 100000));
  sub->add_flag("--json", args->json, "print as JSON");
  sub->callback([args] { fit(*args); });
}

}  // namespace arrcoc::cli
