#include <algorithm>
#include <limits>

#include "attending/falloff.h"
#include "attending/strategies.h"
#include "attending/tree.h"

namespace arrcoc::attending {

namespace {

double weight(int level, const AllocateOptions& options) {
  if (level >= 2) return 1;
  return level == 1 ? options.finest_weight : options.enlarge_weight;
}

bool above(const Cell& cell, const Cell& finest) {
  const int depth = cell.level - finest.level;
  return cell.row == finest.row >> depth && cell.col == finest.col >> depth;
}

// gain = (largest relevance or mass under the cell) x w(level).
//
// With "peak" the cells above the most relevant point of the picture weigh 1 at every level and go
// first: they have the largest gain anyway but for w, so this moves at most the last one or two
// splits, and more budget never loses detail where relevance is highest. Where all is equal there
// is no such point.
class Quadtree : public Allocator {
 public:
  bool tiles() const override { return true; }

  Allocation allocate(const Relevance& relevance, const Geometry& geometry, const Budget& budget,
                      const AllocateOptions& options) const override {
    const bool mass = options.gain == "mass";
    const Field plain(relevance.map, geometry, mass && options.falloff == 0);
    if (options.falloff == 0) return split(plain, plain, geometry, budget, options);
    const Field smooth(with_falloff(relevance.map, options.falloff), geometry, mass);
    return split(plain, smooth, geometry, budget, options);
  }

 private:
  static Allocation split(const Field& plain, const Field& field, const Geometry& geometry,
                          const Budget& budget, const AllocateOptions& options) {
    const Forest forest(geometry, budget.tokens);
    const Cell top = plain.top();
    const bool has_top = !plain.constant();
    const Gain by_peak = [&](const Cell& cell) {
      if (has_top && above(cell, top)) return std::numeric_limits<double>::infinity();
      return std::max(0.0, field.peak(cell) * weight(cell.level, options));
    };
    const Gain by_mass = [&](const Cell& cell) {
      return std::max(0.0, field.mass(cell) * weight(cell.level, options));
    };
    const Gain& gain = options.gain == "mass" ? by_mass : by_peak;
    const std::vector<Cell> cells = options.balanced ? split_balanced(forest, budget.tokens, gain)
                                                     : split_greedily(forest, budget.tokens, gain);
    return finish(cells, plain, geometry, budget, "quadtree");
  }
};

}  // namespace

std::unique_ptr<Allocator> make_quadtree() { return std::make_unique<Quadtree>(); }

}  // namespace arrcoc::attending
