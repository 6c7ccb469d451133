// Allocating: how many tokens in all, and how many where.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
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
  virtual Budget decide(const Look& look, const Query& query) const = 0;
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

// What a split is worth: the largest relevance under a cell, or the sum.
enum class SplitGain { peak, mass };
template <>
struct EnumNames<SplitGain> {
  static constexpr const char* kWhat = "gain";
  static constexpr std::pair<SplitGain, const char*> kNames[] = {{SplitGain::peak, "peak"},
                                                                 {SplitGain::mass, "mass"}};
};

// Relevance to tokens: r, r^(sigmoid(steepness) * 4 + 0.5), r^2, 1 / (1 + exp(-10 (r - 0.5))).
enum class Curve { linear, power, exponential, sigmoid };
template <>
struct EnumNames<Curve> {
  static constexpr const char* kWhat = "curve";
  static constexpr std::pair<Curve, const char*> kNames[] = {{Curve::linear, "linear"},
                                                             {Curve::power, "power"},
                                                             {Curve::exponential, "exponential"},
                                                             {Curve::sigmoid, "sigmoid"}};
};

// Four ways to split and a gate that mixes them by how the map looks (allocator "experts"); fitted
// by `arrcoc train --policies`, carried by a Bundle. Error{bad_json}.
struct Experts;
std::shared_ptr<const Experts> experts_from_json(const std::string& text);
std::string to_json(const Experts& experts);

struct AllocateOptions {
  SplitGain gain = SplitGain::peak;
  // Weight of splitting a node of level l, relative to coarser ones; not increasing towards finer
  // levels. 1 everywhere descends on one point to the end; less at the bottom covers more points.
  float finest_weight = 0.5F;    // for splits of level-1 nodes (into native patches)
  float enlarge_weight = 0.25F;  // for splits of level-0 nodes (into level -1)
  bool balanced = false;         // neighbouring leaves differ by at most one level
  float falloff = 0;  // >0: smooth falloff of relevance around hotspots, in native pixels
  float variance_threshold = 0.01F;  // variance-split
  int top_k = 200;
  Curve curve = Curve::linear;             // positions
  float steepness = 0;                     // positions, Curve::power
  bool quantise = false;                   // positions: round budgets to kTiers
  float temperature = 0.1F;                // soft
  int max_crops = 3;                       // zoom
  int token_pixels = 32;                   // zoom: pixels along one token of the target model
  int least_view = 1;                      // zoom: tokens that the target model takes for any view
  uint64_t seed = 0;                       // random, soft
  std::vector<Box> evidence;               // oracle only; nothing but measuring fills it
  std::shared_ptr<const Experts> experts;  // experts only; null: plain quadtree, and says so
};

class Allocator {
 public:
  static constexpr const char* kStage = "allocator";
  virtual ~Allocator() = default;
  // True when the leaves always cover every pixel of the picture exactly once.
  virtual bool tiles() const = 0;
  // False: it spends what it needs, whatever the budget.
  virtual bool keeps_budget() const { return true; }
  virtual Allocation allocate(const Relevance& relevance, const Geometry& geometry,
                              const Budget& budget, const AllocateOptions& options) const = 0;
};
template <>
Registry<Allocator>& registry<Allocator>();

// Ends the note of allocate_views() about a picture that costs more than the budget at every size.
inline constexpr const char* kAnySize = " tokens at any size: sent as it is";
// The same of a picture that costs more than the budget, but less than as it is.
inline constexpr const char* kLeastSize = " tokens at least: one small view was sent";

namespace allocating {

// `rule` is a number ("180"), a level (fast, balanced, accurate), "auto:LOW-HIGH", or a rule's name
// (auto, tiers, entropy, ...). "auto" takes the looker's need where it has one (Look::need), else a
// rule over question and map. Error{bad_argument} for numbers outside 1..65536 and ranges that
// cannot be (1 <= LOW < HIGH <= 4096), Error{not_found} for unknown names.
Budget budget(const Look& look, const Query& query, const std::string& rule);

// What a tier head says, as a budget: the expected value of kTiers under softmax(logits), or the
// most likely tier. Error{numeric} for NaN or infinity.
Budget expected_budget(const std::array<float, kTiers.size()>& logits);
Budget likeliest_budget(const std::array<float, kTiers.size()>& logits);

// Runs the named allocator and checks its promise: never more tokens than the budget, legal cells.
// The map speaks of pixels of `geometry`.
Allocation allocate(const Relevance& relevance, const Geometry& geometry, const Budget& budget,
                    const std::string& allocator, const AllocateOptions& options = {});

// Several pictures, one budget: each gets at least `least` tokens and its own root cells, the rest
// goes to the splits of largest gain wherever they are (the quadtree's rule over the union).
// Error{bad_argument} when the budget cannot give every picture one token.
std::vector<Allocation> allocate_together(const std::vector<Relevance>& relevance,
                                          const std::vector<Geometry>& geometry,
                                          const Budget& budget, int least,
                                          const AllocateOptions& options = {});

// For models that take whole pictures: the picture as it is where that fits, else a glance and
// rectangles (allocator "zoom", or near-square ones where token_pixels is 0 and the model counts by
// tiles) whose cost by the model's own count fits the budget, else the largest view that fits.
// view_tokens(width, height): what the model pays for a view.
//   cost <= min(the picture as it is, max(budget, floor))
// where the floor is the least that the picture costs at any size up to its own, in any shape
// between its own and a square (views may be squeezed, as tiles squeeze them). Nothing is planned
// that the floor forbids. When the floor is over the budget the largest view at that price is sent,
// budget.tokens becomes the price, and `fallbacks` ends with kLeastSize, or with kAnySize when
// nothing is cheaper than the picture as it is. Views are never enlarged beyond geometry.finest;
// where that is below 0, rectangles may be enlarged although the picture fits as it is.
Allocation allocate_views(const Relevance& relevance, const Geometry& geometry,
                          const Budget& budget, const AllocateOptions& options,
                          const std::function<int64_t(int, int)>& view_tokens);

// Several pictures for such a model, one budget: what each is worth is what the union of their
// trees gives it (allocate_together, at least `least`), but never more than it costs as it is nor,
// where the budget allows, less than its floor.
std::vector<Allocation> allocate_views_together(
    const std::vector<Relevance>& relevance, const std::vector<Geometry>& geometry,
    const Budget& budget, int least, const AllocateOptions& options,
    const std::function<int64_t(int, int)>& view_tokens);

// The native rectangle of a leaf, clipped to the picture.
Box box_of(const Geometry& geometry, const Leaf& leaf);
// Rectangles of all tokens in the order in which cut() gives them: leaves, then the patches of
// every crop.
std::vector<Box> token_boxes(const Allocation& allocation);

// A rectangle around what stands out of a map.
struct Region {
  Box box;  // whole native pixels, inside the picture
  float strength = 0;
};
// At most `count` rectangles, strongest first: each grows from the highest cell left over the
// connected cells of at least 0.6 of it (more when that would take over a third of the picture),
// and is padded by one map cell to at least `smallest` pixels a side. Overlapping ones become one.
// An even map has none; cells in the lower half of the map's range start none.
std::vector<Region> find_regions(const Map& map, const Geometry& geometry, int count, int smallest);

}  // namespace allocating
}  // namespace arrcoc
