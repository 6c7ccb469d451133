#include "allocate/strategies.h"
#include "allocate/tree.h"

namespace arrcoc::allocating {

namespace {

// The finest level whose whole grid fits: the picture shrunk to the budget.
class Uniform : public Allocator {
 public:
  bool tiles() const override { return true; }
  Allocation allocate(const Relevance& relevance, const Geometry& geometry, const Budget& budget,
                      const AllocateOptions&) const override {
    int level = geometry.finest;
    while (geometry.grid(level).cells() > budget.tokens) ++level;
    const Grid grid = geometry.grid(level);
    std::vector<Cell> cells;
    cells.reserve(static_cast<size_t>(grid.cells()));
    for (int r = 0; r < grid.rows; ++r) {
      for (int c = 0; c < grid.cols; ++c) cells.push_back(Cell{level, r, c});
    }
    return finish(cells, Field(relevance.map, geometry), geometry, budget, "uniform");
  }
};

}  // namespace

std::unique_ptr<Allocator> make_uniform() { return std::make_unique<Uniform>(); }

}  // namespace arrcoc::allocating
