// Four ways to spend a budget and a gate that mixes them, from how the map looks.
#pragma once

#include <array>
#include <string>

#include "arrcoc/allocate.h"

namespace arrcoc::allocating {

inline constexpr std::array<const char*, 4> kExperts = {"text", "chart", "sparse", "mixed"};
inline constexpr int kGateFeatures = 6;
using GateFeatures = std::array<float, kGateFeatures>;

// How one expert splits: relevance^power, weight of the finest splits, falloff in native pixels.
struct Expert {
  float power = 1;
  float finest_weight = 0.5F;
  float falloff = 0;
};

// [peak, mean, deviation, share of cells above half the peak, above a tenth, their spread]
GateFeatures gate_features(const Map& map);
std::array<float, kExperts.size()> gate(const Experts& experts, const GateFeatures& features);
// The experts mixed by their shares.
Expert mixed(const Experts& experts, const std::array<float, kExperts.size()>& shares);
// What an expert would do with this map.
Allocation allocate_by(const Expert& expert, const Relevance& relevance, const Geometry& geometry,
                       const Budget& budget, const AllocateOptions& options);

}  // namespace arrcoc::allocating

namespace arrcoc {

struct Experts {
  std::array<allocating::Expert, allocating::kExperts.size()> experts{};
  std::array<float, allocating::kExperts.size()> bias{};
  std::array<allocating::GateFeatures, allocating::kExperts.size()> rows{};
};

}  // namespace arrcoc
