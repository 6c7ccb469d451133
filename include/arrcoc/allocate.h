// Attending: how many tokens in all, and how many where.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "arrcoc/look.h"
#include "arrcoc/map.h"
#include "arrcoc/query.h"
#include "arrcoc/registry.h"

namespace arrcoc {

inline constexpr int kMinBudget = 64;
inline constexpr int kMaxBudget = 400;
// Levels of detail that budgets may be rounded to, and the classes of a tier head.
inline constexpr std::array<int, 5> kTiers = {64, 128, 256, 384, 400};

struct Budget {
  int tokens = 180;  // never exceeded by an allocation
  std::string tier;  // "fast", "balanced", ... or "" for a plain number
  std::string why;   // one line for people
  bool operator==(const Budget&) const = default;
};

class BudgetRule {
 public:
  static constexpr const char* kStage = "budget rule";
  virtual ~BudgetRule() = default;
  virtual Budget decide(const Relevance& relevance, const Query& query) const = 0;
};
template <>
Registry<BudgetRule>& registry<BudgetRule>();

// One token: the cell (row, col) of a mip level.
struct Leaf {
  int level = 0;
  int row = 0;
  int col = 0;
  float relevance = 0;  // largest relevance under the cell
  bool operator==(const Leaf&) const = default;
};

// A rectangle of the picture that is to be shown again at higher resolution (zoom).
struct Crop {
  Box box;        // native pixels, inside the picture
  int width = 0;  // pixels to resample the rectangle to
  int height = 0;
  int tokens = 0;
  bool operator==(const Crop&) const = default;
};

struct Allocation {
  Geometry geometry;
  std::vector<Leaf> leaves;  // raster order: by y, then x of the native top-left corner
  std::vector<Crop> crops;   // zoom only: first the glance (whole picture), then rectangles
  Budget budget;
  std::string allocator;
  std::vector<std::string> fallbacks;
  // Tokens that this allocation costs: leaves, or the sum over crops.
  int tokens() const;
};

struct AllocateOptions {
  std::string gain = "peak";  // quadtree: "peak" (largest relevance under a node) or "mass"
  // Weight of splitting a node of level l, relative to coarser ones; not increasing towards finer
  // levels. 1 everywhere descends on one point to the end; less at the bottom covers more points.
  float finest_weight = 0.5F;    // for splits of level-1 nodes (into native patches)
  float enlarge_weight = 0.25F;  // for splits of level-0 nodes (into level -1)
  bool balanced = false;         // neighbouring leaves differ by at most one level
  float falloff = 0;  // >0: smooth falloff of relevance around hotspots, in native pixels
  float variance_threshold = 0.01F;  // variance-split
  int top_k = 200;
  std::string curve = "linear";  // positions: linear, power, exponential, sigmoid
  float steepness = 0;           // positions, power curve: exponent sigmoid(steepness) * 4 + 0.5
  bool quantise = false;         // positions: round budgets to kTiers
  float temperature = 0.1F;      // soft
  int max_crops = 3;             // zoom
  int token_pixels = 32;         // zoom: pixels along one token of the target model
  uint64_t seed = 0;             // random, soft
  std::vector<Box> evidence;     // oracle only; evaluation never fills it for another allocator
};

class Allocator {
 public:
  static constexpr const char* kStage = "allocator";
  virtual ~Allocator() = default;
  // True when the leaves always cover every pixel of the picture exactly once.
  virtual bool tiles() const = 0;
  virtual Allocation allocate(const Relevance& relevance, const Geometry& geometry,
                              const Budget& budget, const AllocateOptions& options) const = 0;
};
template <>
Registry<Allocator>& registry<Allocator>();

namespace allocating {

// `rule` is a number ("180"), a level (fast, balanced, accurate), or a rule's name (auto, tiers,
// entropy, ...). Error{bad_argument} for numbers outside 1..65536.
Budget budget(const Relevance& relevance, const Query& query, const std::string& rule);

// What a tier head says, as a budget: the expected value of kTiers under softmax(logits), or the
// most likely tier. Error{numeric} for NaN or infinity.
Budget expected_budget(const std::array<float, kTiers.size()>& logits);
Budget likeliest_budget(const std::array<float, kTiers.size()>& logits);

// Runs the named allocator and checks its promise: never more tokens than the budget, legal cells.
Allocation allocate(const Relevance& relevance, const Geometry& geometry, const Budget& budget,
                    const std::string& allocator, const AllocateOptions& options = {});

// The experts of allocator "experts", as `arrcoc train --policies` writes them; "" takes them away
// again. Error{bad_json}. Allocators that exist keep theirs.
void install_experts(const std::string& json);

// The native rectangle of a leaf, clipped to the picture.
Box box_of(const Geometry& geometry, const Leaf& leaf);

}  // namespace allocating
}  // namespace arrcoc
