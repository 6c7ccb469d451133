#include "allocate/random.h"

#include <utility>

#include "allocate/strategies.h"
#include "allocate/tree.h"

namespace arrcoc::allocating {

namespace {

// Splits a cell drawn evenly from all that can be split, until the budget is spent.
class Random : public Allocator {
 public:
  bool tiles() const override { return true; }
  Allocation allocate(const Relevance& relevance, const Geometry& geometry, const Budget& budget,
                      const AllocateOptions& options) const override {
    const Forest forest(geometry, geometry.root_level(budget.tokens));
    std::vector<Cell> waiting = forest.roots();
    std::vector<Cell> leaves;
    int spare = budget.tokens - static_cast<int>(waiting.size());
    for (uint64_t draw = 0; !waiting.empty(); ++draw) {
      std::swap(waiting[random_bits(options.seed, draw) % waiting.size()], waiting.back());
      const Cell cell = waiting.back();
      waiting.pop_back();
      const Children below = forest.children(cell);
      if (below.count == 0 || below.count - 1 > spare) {
        leaves.push_back(cell);
        continue;
      }
      spare -= below.count - 1;
      waiting.insert(waiting.end(), below.cells.begin(), below.cells.begin() + below.count);
    }
    return finish(leaves, Field(relevance.map, geometry), geometry, budget, "random");
  }
};

}  // namespace

std::unique_ptr<Allocator> make_random() { return std::make_unique<Random>(); }

}  // namespace arrcoc::allocating
