// The learned policy: features of a pass, three logistic models, their fit and their JSON.
#include <cmath>
#include <nlohmann/json.hpp>

#include "arrcoc/error.h"
#include "arrcoc/esper.h"

namespace arrcoc::esper {

const std::array<const char*, Policy::kFeatures> Policy::kNames = {
    "one", "likelihood", "per_character", "gathered", "detail", "length", "later"};

namespace {

using Features = Policy::Features;
constexpr int kFeatures = Policy::kFeatures;

double logit(double p) {
  p = std::clamp(p, 1e-4, 1 - 1e-4);
  return std::log(p / (1 - p));
}

// Solves H x = g in place (Gauss with pivoting); H is positive definite but for rounding.
Features solve(std::array<Features, kFeatures> h, Features g) {
  for (int i = 0; i < kFeatures; ++i) {
    int pivot = i;
    for (int r = i + 1; r < kFeatures; ++r)
      if (std::abs(h[r][i]) > std::abs(h[pivot][i])) pivot = r;
    std::swap(h[i], h[pivot]);
    std::swap(g[i], g[pivot]);
    for (int r = i + 1; r < kFeatures; ++r) {
      const double f = h[r][i] / h[i][i];
      for (int c = i; c < kFeatures; ++c) h[r][c] -= f * h[i][c];
      g[r] -= f * g[i];
    }
  }
  for (int i = kFeatures - 1; i >= 0; --i) {
    for (int c = i + 1; c < kFeatures; ++c) g[i] -= h[i][c] * g[c];
    g[i] /= h[i][i];
  }
  return g;
}

struct Example {
  Features x;
  bool yes;
};

Features regress(const std::vector<Example>& examples) {
  constexpr double kPull = 1.0;  // of every weight to zero, as strong as one example
  Features w{};
  for (int step = 0; step < 25; ++step) {
    Features g{};
    std::array<Features, kFeatures> h{};
    for (int i = 0; i < kFeatures; ++i) {
      g[i] = kPull * w[i];
      h[i][i] = kPull;
    }
    for (const Example& e : examples) {
      const double p = chance(w, e.x), error = p - (e.yes ? 1 : 0), slope = p * (1 - p);
      for (int i = 0; i < kFeatures; ++i) {
        g[i] += error * e.x[i];
        for (int k = 0; k < kFeatures; ++k) h[i][k] += slope * e.x[i] * e.x[k];
      }
    }
    const Features move = solve(h, g);
    for (int i = 0; i < kFeatures; ++i) w[i] -= move[i];
  }
  return w;
}

}  // namespace

Features features_of(const Pass& pass, bool first) {
  const double per_character = 1 - pass.uncertainty;
  return {1,
          logit(likelihood(pass.probabilities)) / 4,
          logit(per_character) / 4,
          std::max(0.0, pass.gathered),
          pass.detail / 4,
          static_cast<double>(pass.probabilities.size()) / 16,
          first ? 0.0 : 1.0};
}

double chance(const Features& model, const Features& features) {
  double z = 0;
  for (int i = 0; i < kFeatures; ++i) z += model[i] * features[i];
  return 1 / (1 + std::exp(-z));
}

Policy fit(const std::vector<Logged>& logged) {
  if (logged.empty()) throw Error(ErrorCode::bad_argument, "there are no passes to learn from");
  Policy out;
  std::vector<Example> right, closer, wider, elsewhere;
  for (const Logged& l : logged) {
    right.push_back({l.first, l.first_right});
    right.push_back({l.closer, l.closer_right});
    right.push_back({l.wider, l.wider_right});
    right.push_back({l.elsewhere, l.elsewhere_right});
  }
  out.right = regress(right);
  // A pass helps when its answer is right, is preferred, and the first one was wrong.
  for (const Logged& l : logged) {
    const double before = chance(out.right, l.first);
    closer.push_back(
        {l.first, !l.first_right && l.closer_right && chance(out.right, l.closer) > before});
    wider.push_back(
        {l.first, !l.first_right && l.wider_right && chance(out.right, l.wider) > before});
    elsewhere.push_back(
        {l.first, !l.first_right && l.elsewhere_right && chance(out.right, l.elsewhere) > before});
  }
  out.closer = regress(closer);
  out.wider = regress(wider);
  out.elsewhere = regress(elsewhere);
  return out;
}

Policy policy_from_json(const std::string& text) {
  using nlohmann::json;
  const json given = json::parse(text, nullptr, false);
  if (!given.is_object())
    throw Error(ErrorCode::bad_json,
                "a policy of passes is a JSON object with right, closer, wider, "
                "elsewhere, worth");
  Policy out;
  const auto model = [](const std::string& key, const json& value, Features& target) {
    if (!value.is_object() || value.size() != kFeatures)
      throw Error(ErrorCode::bad_json, "'" + key + "' must hold one number for each feature");
    for (int i = 0; i < kFeatures; ++i) {
      const auto found = value.find(Policy::kNames[i]);
      if (found == value.end() || !found->is_number() || std::abs(found->get<double>()) > 1e6)
        throw Error(ErrorCode::bad_json, "'" + key + "' needs a number named " + Policy::kNames[i]);
      target[i] = found->get<double>();
    }
  };
  for (const auto& [key, value] : given.items()) {
    if (key == "right") {
      model(key, value, out.right);
    } else if (key == "closer") {
      model(key, value, out.closer);
    } else if (key == "wider") {
      model(key, value, out.wider);
    } else if (key == "elsewhere") {
      model(key, value, out.elsewhere);
    } else if (key == "worth") {
      if (!value.is_number() || !(value.get<double>() >= 0 && value.get<double>() <= 1))
        throw Error(ErrorCode::bad_json, "'worth' is a probability");
      out.worth = value.get<double>();
    } else if (key == "weights") {
      if (!value.is_number_unsigned())
        throw Error(ErrorCode::bad_json, "'weights' is a fingerprint");
      out.weights = value.get<uint64_t>();
    } else if (key != "measured") {
      throw Error(ErrorCode::bad_json, "unknown key '" + key + "' in a policy of passes");
    }
  }
  for (const char* key : {"right", "closer", "wider", "elsewhere"})
    if (!given.contains(key))
      throw Error(ErrorCode::bad_json, "a policy of passes needs '" + std::string(key) + "'");
  return out;
}

std::string to_json(const Policy& policy) {
  nlohmann::ordered_json out;
  const auto model = [&](const char* key, const Features& weights) {
    for (int i = 0; i < kFeatures; ++i) out[key][Policy::kNames[i]] = weights[i];
  };
  model("right", policy.right);
  model("closer", policy.closer);
  model("wider", policy.wider);
  model("elsewhere", policy.elsewhere);
  out["worth"] = policy.worth;
  out["weights"] = policy.weights;
  return out.dump(2);
}

}  // namespace arrcoc::esper
