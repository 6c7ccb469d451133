#include "allocate/strategies.h"
#include "allocate/tree.h"

namespace arrcoc::allocating {

namespace {

// Splits the cell with the largest variance of relevance while that exceeds the threshold: detail
// at the borders of relevant things, none inside even areas.
class VarianceSplit : public Allocator {
 public:
  bool tiles() const override { return true; }
  Allocation allocate(const Relevance& relevance, const Geometry& geometry, const Budget& budget,
                      const AllocateOptions& options) const override {
    const Field field(relevance.map, geometry, true);
    const Forest forest(geometry, geometry.root_level(budget.tokens));
    const auto cells = split_greedily(forest, budget.tokens, [&](const Cell& cell) {
      const double variance = field.variance(cell);
      return variance > options.variance_threshold ? variance : kNoSplit;
    });
    return finish(cells, field, geometry, budget, "variance-split");
  }
};

}  // namespace

std::unique_ptr<Allocator> make_variance_split() { return std::make_unique<VarianceSplit>(); }

}  // namespace arrcoc::allocating
