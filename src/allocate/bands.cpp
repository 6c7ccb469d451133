#include "allocate/banded.h"
#include "allocate/strategies.h"

namespace arrcoc::allocating {

namespace {

class Bands : public Allocator {
 public:
  bool tiles() const override { return true; }
  Allocation allocate(const Relevance& relevance, const Geometry& geometry, const Budget& budget,
                      const AllocateOptions&) const override {
    const Field field(relevance.map, geometry);
    const Forest forest(geometry, geometry.root_level(budget.tokens));
    const auto cells = split_by_band(forest, field, budget.tokens, 3, [](float value) {
      return value < 0.3F ? 0 : value < 0.7F ? 1 : 2;
    });
    return finish(cells, field, geometry, budget, "bands");
  }
};

}  // namespace

std::unique_ptr<Allocator> make_bands() { return std::make_unique<Bands>(); }

}  // namespace arrcoc::allocating
