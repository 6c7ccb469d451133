#include <algorithm>

#include "allocate/selection.h"
#include "allocate/strategies.h"
#include "allocate/tree.h"

namespace arrcoc::allocating {

namespace {

class TopK : public Allocator {
 public:
  bool tiles() const override { return false; }
  Allocation allocate(const Relevance& relevance, const Geometry& geometry, const Budget& budget,
                      const AllocateOptions& options) const override {
    const Field field(relevance.map, geometry);
    const int count = std::min(options.top_k, budget.tokens);
    const Selection from = selection(field, geometry, count);
    const auto chosen = top(from.relevance, static_cast<size_t>(count));
    return finish(cells_of(from, chosen), field, geometry, budget, "top-k");
  }
};

}  // namespace

std::unique_ptr<Allocator> make_top_k() { return std::make_unique<TopK>(); }

}  // namespace arrcoc::allocating
