#include "look/balance/policy.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "arrcoc/error.h"

namespace arrcoc::balancing {

PolicyFeatures describe(const Knowledge& k, const Query& query) {
  const bool reads = query.answer != AnswerKind::any && query.answer != AnswerKind::colour;
  PolicyFeatures f{query.specificity, query.vague() ? 1.0F : 0.0F,
                   static_cast<float>(query.complexity) / 2.0F, reads ? 1.0F : 0.0F};
  int i = 4;
  for (const Map* map : {&k.information, &k.salience, &k.coupling}) {
    f[i++] = mean(*map);
    f[i++] = maximum(*map);
    f[i++] = std::sqrt(variance(*map));
  }
  return f;
}

Weights weights_by(const BalancePolicy& policy, const PolicyFeatures& f, bool by_sigmoid) {
  std::array<float, 3> logit{};
  for (int o = 0; o < 3; ++o) {
    logit[o] = policy.bias[o];
    for (int i = 0; i < BalancePolicy::kFeatures; ++i) logit[o] += policy.rows[o][i] * f[i];
  }
  std::array<float, 3> w{};
  const float peak = *std::max_element(logit.begin(), logit.end());
  for (int o = 0; o < 3; ++o)
    w[o] = by_sigmoid ? 1.0F / (1.0F + std::exp(-logit[o])) : std::exp(logit[o] - peak);
  const float sum = by_sigmoid ? 1.0F : w[0] + w[1] + w[2];
  return Weights{w[0] / sum, w[1] / sum, w[2] / sum};
}

}  // namespace arrcoc::balancing

namespace arrcoc {

BalancePolicy balance_policy_from_json(const std::string& text) {
  const auto in = nlohmann::json::parse(text, nullptr, false);
  BalancePolicy out;
  try {
    if (!in.is_object()) throw Error(ErrorCode::bad_json, "balancer policy: no JSON object");
    out.bias = in.at("bias").get<std::array<float, 3>>();
    out.rows = in.at("rows").get<std::array<balancing::PolicyFeatures, 3>>();
  } catch (const nlohmann::json::exception& problem) {
    throw Error(ErrorCode::bad_json, std::string("balancer policy: ") + problem.what());
  }
  const auto finite = [](const auto& values) {
    return std::all_of(values.begin(), values.end(), [](float v) { return std::isfinite(v); });
  };
  if (!finite(out.bias) || !std::all_of(out.rows.begin(), out.rows.end(), finite))
    throw Error(ErrorCode::bad_json, "balancer policy: numbers must be finite");
  return out;
}

std::string to_json(const BalancePolicy& policy) {
  return nlohmann::json{{"bias", policy.bias}, {"rows", policy.rows}}.dump();
}

}  // namespace arrcoc
