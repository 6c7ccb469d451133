#include "allocate/experts.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>

#include "allocate/strategies.h"
#include "arrcoc/error.h"

namespace arrcoc::allocating {
namespace {

using nlohmann::json;

class ByExperts : public Allocator {
 public:
  bool tiles() const override { return true; }
  Allocation allocate(const Relevance& relevance, const Geometry& geometry, const Budget& budget,
                      const AllocateOptions& options) const override {
    if (!options.experts) {
      Allocation out = make_quadtree()->allocate(relevance, geometry, budget, options);
      out.fallbacks.emplace_back("no experts are there: plain quadtree");
      return out;
    }
    const auto shares = gate(*options.experts, gate_features(relevance.map));
    return allocate_by(mixed(*options.experts, shares), relevance, geometry, budget, options);
  }
};

void require(bool good) {
  if (!good)
    throw Error(ErrorCode::bad_json,
                "experts: powers and weights must be positive, all numbers finite");
}

}  // namespace

GateFeatures gate_features(const Map& map) {
  GateFeatures out{};
  if (map.size() == 0) return out;
  const float peak = std::max(maximum(map), 1e-6F);
  double half = 0, tenth = 0, x = 0, y = 0, xx = 0, yy = 0;
  for (int r = 0; r < map.rows; ++r)
    for (int c = 0; c < map.cols; ++c) {
      const float v = map.values[static_cast<size_t>(r) * map.cols + c];
      half += v > 0.5F * peak;
      if (v <= 0.1F * peak) continue;
      tenth += 1;
      const double u = (c + 0.5) / map.cols, w = (r + 0.5) / map.rows;
      x += u, y += w, xx += u * u, yy += w * w;
    }
  const double n = static_cast<double>(map.size()), count = std::max(1.0, tenth);
  const double spread = std::sqrt(
      std::max(0.0, xx / count - x * x / count / count + yy / count - y * y / count / count));
  return {maximum(map),
          mean(map),
          std::sqrt(variance(map)),
          static_cast<float>(std::log(1e-4 + half / n) / 10),
          static_cast<float>(std::log(1e-4 + tenth / n) / 10),
          static_cast<float>(spread)};
}

std::array<float, kExperts.size()> gate(const Experts& experts, const GateFeatures& f) {
  std::array<float, kExperts.size()> out{};
  for (size_t e = 0; e < out.size(); ++e) {
    out[e] = experts.bias[e];
    for (int i = 0; i < kGateFeatures; ++i) out[e] += experts.rows[e][i] * f[i];
  }
  const float peak = *std::max_element(out.begin(), out.end());
  float sum = 0;
  for (float& v : out) sum += v = std::exp(v - peak);
  for (float& v : out) v /= sum;
  return out;
}

Expert mixed(const Experts& experts, const std::array<float, kExperts.size()>& shares) {
  Expert out{0, 0, 0};
  for (size_t e = 0; e < shares.size(); ++e) {
    out.power += shares[e] * experts.experts[e].power;
    out.finest_weight += shares[e] * experts.experts[e].finest_weight;
    out.falloff += shares[e] * experts.experts[e].falloff;
  }
  return out;
}

Allocation allocate_by(const Expert& expert, const Relevance& relevance, const Geometry& geometry,
                       const Budget& budget, const AllocateOptions& options) {
  Relevance bent = relevance;
  for (float& v : bent.map.values) v = std::pow(std::max(v, 0.0F), expert.power);
  AllocateOptions own = options;
  own.finest_weight = expert.finest_weight;
  own.enlarge_weight = std::min(options.enlarge_weight, expert.finest_weight);
  own.falloff = expert.falloff;
  return make_quadtree()->allocate(bent, geometry, budget, own);
}

std::unique_ptr<Allocator> make_experts() { return std::make_unique<ByExperts>(); }

}  // namespace arrcoc::allocating

namespace arrcoc {

std::shared_ptr<const Experts> experts_from_json(const std::string& text) {
  using namespace allocating;
  using nlohmann::json;
  const json in = json::parse(text, nullptr, false);
  Experts out;
  try {
    if (!in.is_object()) throw Error(ErrorCode::bad_json, "experts: no JSON object");
    out.bias = in.at("bias").get<decltype(out.bias)>();
    out.rows = in.at("rows").get<decltype(out.rows)>();
    for (size_t e = 0; e < kExperts.size(); ++e) {
      const json& one = in.at("experts").at(kExperts[e]);
      out.experts[e] = {one.at("power").get<float>(), one.at("finest_weight").get<float>(),
                        one.at("falloff").get<float>()};
    }
  } catch (const json::exception& problem) {
    throw Error(ErrorCode::bad_json, std::string("experts: ") + problem.what());
  }
  for (size_t e = 0; e < kExperts.size(); ++e) {
    const Expert& x = out.experts[e];
    require(x.power > 0 && x.power < 16 && x.finest_weight > 0 && x.finest_weight <= 1 &&
            x.falloff >= 0 && x.falloff < 4096 && std::isfinite(out.bias[e]));
    for (float v : out.rows[e]) require(std::isfinite(v));
  }
  return std::make_shared<const Experts>(out);
}

std::string to_json(const Experts& experts) {
  using allocating::kExperts;
  nlohmann::json out{{"bias", experts.bias}, {"rows", experts.rows}};
  for (size_t e = 0; e < kExperts.size(); ++e)
    out["experts"][kExperts[e]] = {{"power", experts.experts[e].power},
                                   {"finest_weight", experts.experts[e].finest_weight},
                                   {"falloff", experts.experts[e].falloff}};
  return out.dump();
}

}  // namespace arrcoc
