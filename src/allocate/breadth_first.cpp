#include "allocate/strategies.h"
#include "allocate/tree.h"

namespace arrcoc::allocating {

namespace {

// Looks at no relevance. With equal gains the order of ties decides: coarser cells first, then
// raster order.
class BreadthFirst : public Allocator {
 public:
  bool tiles() const override { return true; }
  Allocation allocate(const Relevance& relevance, const Geometry& geometry, const Budget& budget,
                      const AllocateOptions&) const override {
    const Forest forest(geometry, geometry.root_level(budget.tokens));
    const auto cells = split_greedily(forest, budget.tokens, [](const Cell&) { return 0.0; });
    return finish(cells, Field(relevance.map, geometry), geometry, budget, "breadth-first");
  }
};

}  // namespace

std::unique_ptr<Allocator> make_breadth_first() { return std::make_unique<BreadthFirst>(); }

}  // namespace arrcoc::allocating
