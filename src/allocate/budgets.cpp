#include "allocate/budgets.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

#include "allocate/curves.h"
#include "allocate/strategies.h"

namespace arrcoc::allocating {

namespace {

// A hard question given fewer tokens than this is the failure that people feel.
constexpr int kHardFloor = 160;
constexpr int kHardTier = 2;

std::string two_decimals(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f", value);
  return text;
}

std::array<double, kTiers.size()> softmax(const std::array<float, kTiers.size()>& logits) {
  for (float logit : logits) {
    if (!std::isfinite(logit)) {
      throw Error(ErrorCode::numeric, "[budget] a tier logit is NaN or infinite");
    }
  }
  const double top = *std::max_element(logits.begin(), logits.end());
  std::array<double, kTiers.size()> out{};
  double sum = 0;
  for (size_t i = 0; i < out.size(); ++i) sum += out[i] = std::exp(logits[i] - top);
  for (double& p : out) p /= sum;
  return out;
}

}  // namespace

double normalised_entropy(const Map& map, double temperature) {
  if (map.size() < 2) return 1;
  require_finite(map, "budget");
  const double top = maximum(map);
  double sum = 0;
  double weighted = 0;  // sum of e * log e
  for (float value : map.values) {
    const double logit = (value - top) / temperature;
    const double e = std::exp(logit);
    sum += e;
    weighted += e * logit;
  }
  const double entropy = std::log(sum) - weighted / sum;
  return std::clamp(entropy / std::log(static_cast<double>(map.size())), 0.0, 1.0);
}

bool must_be_read(const Query& query) {
  switch (query.answer) {
    case AnswerKind::money:
    case AnswerKind::date:
    case AnswerKind::time:
    case AnswerKind::number:
    case AnswerKind::percent:
    case AnswerKind::name:
    case AnswerKind::phone:
    case AnswerKind::text:
      return true;
    case AnswerKind::any:
    case AnswerKind::place:
    case AnswerKind::colour:
      return false;
  }
  return false;
}

int tier_of(const Query& query) {
  int tier = static_cast<int>(query.complexity);
  if (must_be_read(query)) ++tier;
  if (query.specificity >= 0.5F) ++tier;
  if (query.vague()) tier = std::max(tier, 1);
  return std::min(tier, static_cast<int>(kTiers.size()) - 1);
}

std::array<float, kTiers.size()> tier_logits(const Relevance& relevance, const Query& query) {
  const double complexity = 0.5 * static_cast<int>(query.complexity);
  const double difficulty = 0.35 * complexity + 0.2 * std::clamp(query.specificity, 0.0F, 1.0F) +
                            0.15 * (must_be_read(query) ? 1 : 0) +
                            0.3 * normalised_entropy(relevance.map, kEntropyTemperature);
  std::array<float, kTiers.size()> logits{};
  for (size_t k = 0; k < logits.size(); ++k) {
    const double off = difficulty - static_cast<double>(k) / (kTiers.size() - 1);
    logits[k] = static_cast<float>(-off * off / (2 * 0.15 * 0.15));
  }
  return logits;
}

Budget expected_budget(const std::array<float, kTiers.size()>& logits) {
  const auto p = softmax(logits);
  double tokens = 0;
  for (size_t i = 0; i < p.size(); ++i) tokens += p[i] * kTiers[i];
  const int rounded = static_cast<int>(std::lround(tokens));
  return Budget{rounded, "expected", "expected value over the tiers"};
}

Budget likeliest_budget(const std::array<float, kTiers.size()>& logits) {
  const auto p = softmax(logits);
  const auto best = std::max_element(p.begin(), p.end()) - p.begin();
  const int tokens = kTiers[static_cast<size_t>(best)];
  return Budget{tokens, "tier " + std::to_string(tokens),
                "most likely tier, probability " + two_decimals(p[static_cast<size_t>(best)])};
}

namespace {

class Fixed : public BudgetRule {
 public:
  Fixed(std::string level, int tokens) : level_(std::move(level)), tokens_(tokens) {}
  Budget decide(const Look&, const Query&) const override {
    return Budget{tokens_, level_, "level " + level_};
  }

 private:
  std::string level_;
  int tokens_;
};

class TierRule : public BudgetRule {
 public:
  Budget decide(const Look&, const Query& query) const override {
    const int tokens = kTiers[static_cast<size_t>(tier_of(query))];
    std::string why = query.complexity == Complexity::complex  ? "a complex question"
                      : query.complexity == Complexity::medium ? "a question of medium complexity"
                                                               : "a simple question";
    if (must_be_read(query)) why += ", to be read";
    if (query.specificity >= 0.5F) why += ", specific";
    if (query.vague()) why += ", vague";
    return Budget{tokens, "tier " + std::to_string(tokens), why};
  }
};

class EntropyRule : public BudgetRule {
 public:
  explicit EntropyRule(float temperature) : temperature_(temperature) {
    if (!(temperature > 0)) {
      throw Error(ErrorCode::bad_argument, "[budget] the entropy rule needs a temperature above 0");
    }
  }
  Budget decide(const Look& look, const Query&) const override {
    const double entropy = normalised_entropy(look.relevance.map, temperature_);
    return Budget{tokens_at(entropy), "entropy",
                  "relevance is spread to " + two_decimals(entropy) + " of evenly"};
  }

 private:
  float temperature_;
};

class ExpectedRule : public BudgetRule {
 public:
  Budget decide(const Look& look, const Query& query) const override {
    return expected_budget(tier_logits(look.relevance, query));
  }
};

class CurveRule : public BudgetRule {
 public:
  CurveRule(Curve curve, bool quantised) : curve_(curve), quantised_(quantised) {}
  Budget decide(const Look& look, const Query&) const override {
    require_finite(look.relevance.map, "budget");
    const double level = mean(look.relevance.map), share = along(curve_, level);
    const int tokens = quantised_ ? tier_at(share) : tokens_at(share);
    const std::string name = to_string(curve_);
    return Budget{tokens, quantised_ ? "tier " + std::to_string(tokens) : name,
                  name + " in the mean relevance " + two_decimals(level)};
  }

 private:
  Curve curve_;
  bool quantised_;
};

// low..high: the range that a need of 0..1 stands for.
class AutoRule : public BudgetRule {
 public:
  AutoRule(int low, int high) : low_(low), high_(high) {}
  Budget decide(const Look& look, const Query& query) const override {
    if (look.need) {
      const double tokens = low_ + (high_ - low_) * std::clamp<double>(*look.need, 0, 1);
      return Budget{static_cast<int>(std::lround(tokens)), "auto",
                    std::string("what the network expects to need") +
                        (query.complexity == Complexity::complex ? ", a complex question" : "")};
    }
    const Budget by_question = TierRule().decide(look, query);
    const Budget by_map = EntropyRule(kEntropyTemperature).decide(look, query);
    int tokens = (by_question.tokens + by_map.tokens + 1) / 2;
    if (tier_of(query) >= kHardTier) tokens = std::max(tokens, kHardFloor);
    return Budget{std::clamp(tokens, low_, high_), "auto", by_question.why + "; " + by_map.why};
  }

 private:
  int low_, high_;
};

}  // namespace

std::unique_ptr<BudgetRule> make_fixed(const char* level, int tokens) {
  return std::make_unique<Fixed>(level, tokens);
}
std::unique_ptr<BudgetRule> make_tier_rule() { return std::make_unique<TierRule>(); }
std::unique_ptr<BudgetRule> make_entropy_rule(float temperature) {
  return std::make_unique<EntropyRule>(temperature);
}
std::unique_ptr<BudgetRule> make_expected_rule() { return std::make_unique<ExpectedRule>(); }
std::unique_ptr<BudgetRule> make_curve_rule(Curve curve, bool quantised) {
  return std::make_unique<CurveRule>(curve, quantised);
}
std::unique_ptr<BudgetRule> make_auto_rule(int low, int high) {
  return std::make_unique<AutoRule>(low, high);
}

}  // namespace arrcoc::allocating
