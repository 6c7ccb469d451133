#include "lab/fit/passes_fit.h"

#include <algorithm>
#include <cmath>

#include "arrcoc/error.h"
#include "ask/passes.h"
#include "lab/fit/logistic.h"

namespace arrcoc::fitting {

namespace {

using Features = PassPolicy::Features;
using PassExample = Example<PassPolicy::kFeatures>;
constexpr Manner kAgain[] = {Manner::closer, Manner::wider, Manner::elsewhere};

// ---- Logging

// Rules that never stop after the first pass and look again in one manner.
AskOptions always(const std::string& budget, Manner manner) {
  AskOptions out = policy("passes");
  out.budget = budget;
  out.passes.passes = 2;
  out.passes.lost = manner == Manner::elsewhere ? -1.0 : 1.0;
  out.passes.gathered = manner == Manner::closer ? 0 : 2;
  out.passes.wider = manner == Manner::wider ? 1 : 0;
  out.passes.confident = 1.1;
  return out;
}

LoggedLook look_of(const Pass& pass, bool first, const std::string& wanted) {
  return {asking::features_of(pass, first),
          measuring::exact_match(pass.reply.text, wanted),
          pass.tokens,
          pass.confidence,
          pass.gathered,
          pass.uncertainty};
}

const Features& model_of(const PassPolicy& policy, Manner manner) {
  return manner == Manner::closer  ? policy.closer
         : manner == Manner::wider ? policy.wider
                                   : policy.elsewhere;
}

// ---- What would have been

using Seen = std::vector<std::pair<Manner, const LoggedLook*>>;

bool has(const Seen& seen, Manner manner) {
  return std::any_of(seen.begin(), seen.end(), [&](const auto& s) { return s.first == manner; });
}

// next: the manner after the looks so far, none to stop; value: what looks are compared by.
template <class Next, class Value>
PassOutcome outcome(const std::vector<LoggedPasses>& logged, const Next& next, const Value& value) {
  PassOutcome out;
  for (const LoggedPasses& line : logged) {
    Seen seen = {{Manner::first, &line.first}};
    while (seen.size() < 3) {
      const std::optional<Manner> manner = next(seen);
      if (!manner) break;
      seen.emplace_back(*manner, &line.again.at(*manner));
    }
    const auto best = std::max_element(seen.begin(), seen.end(), [&](const auto& a, const auto& b) {
      return value(a.first, *a.second) < value(b.first, *b.second);
    });
    out.right += best->second->right ? 1 : 0;
    out.passes += static_cast<double>(seen.size());
    for (const auto& [manner, look] : seen) out.tokens += static_cast<double>(look->tokens);
  }
  const auto n = static_cast<double>(std::max<size_t>(1, logged.size()));
  return {out.right / n, out.tokens / n, out.passes / n};
}

}  // namespace

std::vector<LoggedPasses> log_passes(const Asker& asker, const measuring::GroupSource& source,
                                     const std::string& budget,
                                     const std::function<void(int)>& done) {
  std::vector<LoggedPasses> out;
  while (const auto group = source()) {
    std::vector<LoggedPasses> lines(group->cases.size());
    for (const Manner manner : kAgain) {
      const AskOptions options = always(budget, manner);
      const auto answers = asker.ask(group->picture, inquiries_of(*group, options), options);
      for (size_t i = 0; i < answers.size(); ++i) {
        const std::string& wanted = *group->cases[i].item.answer;
        const std::vector<Pass>& passes = answers[i].from().passes;
        lines[i].first = look_of(passes[0], true, wanted);
        if (passes.size() > 1) lines[i].again[manner] = look_of(passes[1], false, wanted);
      }
    }
    for (LoggedPasses& line : lines)
      if (line.again.size() == std::size(kAgain)) out.push_back(std::move(line));
    done(static_cast<int>(lines.size()));
  }
  return out;
}

PassPolicy fit_passes(const std::vector<LoggedPasses>& logged) {
  if (logged.empty()) throw Error(ErrorCode::bad_argument, "there are no passes to learn from");
  PassPolicy out;
  std::vector<PassExample> right;
  for (const LoggedPasses& l : logged) {
    right.push_back({l.first.features, l.first.right});
    for (const auto& [manner, look] : l.again) right.push_back({look.features, look.right});
  }
  out.right = regress(right);
  // A pass helps when its answer is right, is preferred, and the first one was wrong.
  const auto helps = [&](Manner manner) {
    std::vector<PassExample> examples;
    for (const LoggedPasses& l : logged) {
      const LoggedLook& again = l.again.at(manner);
      const bool preferred =
          chance(out.right, again.features) > chance(out.right, l.first.features);
      examples.push_back({l.first.features, !l.first.right && again.right && preferred});
    }
    return regress(examples);
  };
  out.closer = helps(Manner::closer);
  out.wider = helps(Manner::wider);
  out.elsewhere = helps(Manner::elsewhere);
  const double affordable = single_look(logged).tokens;
  for (out.worth = 0.01; out.worth < 1; out.worth += 0.01)
    if (by_policy(logged, out).tokens <= affordable) break;
  return out;
}

PassOutcome single_look(const std::vector<LoggedPasses>& logged) {
  PassOutcome out;
  for (const LoggedPasses& line : logged) {
    const LoggedLook& whole = line.again.at(Manner::wider);
    out.right += whole.right ? 1 : 0;
    out.tokens += static_cast<double>(whole.tokens);
  }
  const auto n = static_cast<double>(std::max<size_t>(1, logged.size()));
  return {out.right / n, out.tokens / n, 1};
}

PassOutcome first_look(const std::vector<LoggedPasses>& logged) {
  return outcome(
      logged, [](const Seen&) { return std::optional<Manner>(); },
      [](Manner, const LoggedLook&) { return 0.0; });
}

PassOutcome by_rules(const std::vector<LoggedPasses>& logged, const PassRules& rules) {
  const auto value = [&](Manner manner, const LoggedLook& look) {
    const bool doubtful = manner == Manner::closer && look.confidence < rules.confident;
    return look.confidence - (doubtful ? rules.doubt : 0);
  };
  const auto next = [&](const Seen& seen) -> std::optional<Manner> {
    for (const auto& [manner, look] : seen)
      if (look->confidence >= rules.confident) return std::nullopt;
    if (seen.size() >= static_cast<size_t>(rules.passes)) return std::nullopt;
    Pass last;
    last.gathered = seen.back().second->gathered;
    last.uncertainty = seen.back().second->uncertainty;
    if (seen.size() == 1 && asking::manner_after(last, rules) == Manner::closer)
      return Manner::closer;
    if (rules.wider > 0 && !has(seen, Manner::wider)) return Manner::wider;
    return std::nullopt;
  };
  return outcome(logged, next, value);
}

PassOutcome by_policy(const std::vector<LoggedPasses>& logged, const PassPolicy& policy) {
  const auto value = [&](Manner, const LoggedLook& look) {
    return chance(policy.right, look.features);
  };
  const auto next = [&](const Seen& seen) {
    std::optional<Manner> best;
    double most = policy.worth;
    for (const Manner manner : kAgain) {
      const double p = chance(model_of(policy, manner), seen.back().second->features);
      if (p < most || has(seen, manner)) continue;
      best = manner;
      most = p;
    }
    return best;
  };
  return outcome(logged, next, value);
}

}  // namespace arrcoc::fitting
