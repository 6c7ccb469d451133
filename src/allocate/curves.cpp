#include "allocate/curves.h"

#include <algorithm>
#include <cmath>

namespace arrcoc::allocating {

namespace {
double sigmoid(double x) { return 1.0 / (1.0 + std::exp(-x)); }
}  // namespace

double along(Curve curve, double relevance, double steepness) {
  const double r = std::clamp(relevance, 0.0, 1.0);
  switch (curve) {
    case Curve::linear:
      return r;
    case Curve::power:
      return std::pow(r, sigmoid(steepness) * 4.0 + 0.5);
    case Curve::exponential:
      return r * r;
    case Curve::sigmoid:
      return sigmoid(10.0 * (r - 0.5));
  }
  return r;
}

int tokens_at(double share) {
  const double span = kMaxBudget - kMinBudget;
  return kMinBudget + static_cast<int>(std::lround(span * std::clamp(share, 0.0, 1.0)));
}

int tier_at(double share) {
  const double count = static_cast<double>(kTiers.size());
  const double order = std::floor(std::clamp(share, 0.0, 1.0) * count);
  return kTiers[static_cast<size_t>(std::min(order, count - 1))];
}

std::vector<int> position_budgets(const std::vector<float>& scores, const AllocateOptions& options,
                                  int64_t total) {
  std::vector<int> budgets;
  int64_t sum = 0;
  for (float score : scores) {
    const double share = along(options.curve, score, options.steepness);
    budgets.push_back(options.quantise ? tier_at(share) : tokens_at(share));
    sum += budgets.back();
  }
  if (sum <= total) return budgets;
  const double shrink = static_cast<double>(total) / static_cast<double>(sum);
  int64_t spent = 0;
  size_t kept = 0;
  for (; kept < budgets.size(); ++kept) {
    budgets[kept] = std::max(kMinBudget, static_cast<int>(budgets[kept] * shrink));
    if (spent + budgets[kept] > total) break;
    spent += budgets[kept];
  }
  budgets.resize(kept);
  return budgets;
}

int mip_level(int tokens) { return tokens >= 300 ? 0 : tokens >= 200 ? 1 : tokens >= 100 ? 2 : 3; }

double smooth_quality(double distance, double inner, double outer) {
  if (distance <= inner) return 1;
  if (distance >= outer) return 0;
  const double t = (distance - inner) / (outer - inner);
  return 1 - t * t * (3 - 2 * t);
}

}  // namespace arrcoc::allocating
