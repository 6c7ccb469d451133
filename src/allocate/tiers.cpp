#include <algorithm>

#include "allocate/banded.h"
#include "allocate/curves.h"
#include "allocate/strategies.h"

namespace arrcoc::allocating {

namespace {

// Relevance becomes one of the five tiers (by level order), the tier a level of detail.
class Tiers : public Allocator {
 public:
  bool tiles() const override { return true; }
  Allocation allocate(const Relevance& relevance, const Geometry& geometry, const Budget& budget,
                      const AllocateOptions&) const override {
    const Field field(relevance.map, geometry);
    const Forest forest(geometry, geometry.root_level(budget.tokens));
    const auto band = [](float value) {
      const auto tier = std::find(kTiers.begin(), kTiers.end(), tier_at(value));
      return static_cast<int>(tier - kTiers.begin());
    };
    const auto cells = split_by_band(forest, field, budget.tokens, kTiers.size(), band);
    return finish(cells, field, geometry, budget, "tiers");
  }
};

}  // namespace

std::unique_ptr<Allocator> make_tiers() { return std::make_unique<Tiers>(); }

}  // namespace arrcoc::allocating
