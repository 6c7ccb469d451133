#include <algorithm>
#include <limits>

#include "allocate/falloff.h"
#include "allocate/strategies.h"
#include "allocate/tree.h"

namespace arrcoc::allocating {

double split_weight(int level, const AllocateOptions& options) {
  if (level >= 2) return 1;
  return level == 1 ? options.finest_weight : options.enlarge_weight;
}

namespace {

bool above(const Cell& cell, const Cell& finest) {
  const int depth = cell.level - finest.level;
  return cell.row == finest.row >> depth && cell.col == finest.col >> depth;
}

std::vector<Cell> split(const Forest& forest, int budget, const Gain& gain, bool balanced) {
  return balanced ? split_balanced(forest, budget, gain) : split_greedily(forest, budget, gain);
}

// The level that the budget reaches above one finest-level cell when nothing else is split.
int reached(const Forest& forest, int budget, const Cell& finest, bool balanced) {
  const auto cells = split(
      forest, budget, [&](const Cell& cell) { return above(cell, finest) ? 1.0 : kNoSplit; },
      balanced);
  const auto leaf = std::find_if(cells.begin(), cells.end(),
                                 [&](const Cell& cell) { return above(cell, finest); });
  return leaf->level;
}

// The finest root level that the root rule allows, unless a small budget gets closer to the most
// relevant cell from fewer, coarser roots: then the finest of those that get closest. The levels
// that are allowed only grow with the budget, and so does the detail at that cell.
int root_for(const Geometry& geometry, int budget, const Cell& top, bool balanced) {
  const int rule = geometry.root_level(budget);
  int best = rule;
  int closest = reached(Forest(geometry, rule), budget, top, balanced);
  for (int root = rule + 1; closest > geometry.finest && root <= geometry.coarsest(); ++root) {
    const int level = reached(Forest(geometry, root), budget, top, balanced);
    if (level < closest) {
      closest = level;
      best = root;
    }
  }
  return best;
}

// gain = (largest relevance or mass under the cell) x w(level).
//
// With "peak" more budget never loses detail where relevance is highest: the cells above the most
// relevant point of the picture weigh 1 at every level and go first. They have the largest gain
// anyway but for w, so this moves no more than the last one or two splits. Where all is equal there
// is no such point.
class Quadtree : public Allocator {
 public:
  bool tiles() const override { return true; }

  Allocation allocate(const Relevance& relevance, const Geometry& geometry, const Budget& budget,
                      const AllocateOptions& options) const override {
    const bool mass = options.gain == SplitGain::mass;
    const Field plain(relevance.map, geometry, mass && options.falloff == 0);
    if (options.falloff == 0) return grow(plain, plain, geometry, budget, options);
    const Field smooth(with_falloff(relevance.map, options.falloff), geometry, mass);
    return grow(plain, smooth, geometry, budget, options);
  }

 private:
  static Allocation grow(const Field& plain, const Field& field, const Geometry& geometry,
                         const Budget& budget, const AllocateOptions& options) {
    const bool mass = options.gain == SplitGain::mass;
    const bool has_top = !mass && !plain.constant();
    const Cell top = plain.top();
    const int root = has_top ? root_for(geometry, budget.tokens, top, options.balanced)
                             : geometry.root_level(budget.tokens);
    const Gain gain = [&](const Cell& cell) {
      if (has_top && above(cell, top)) return std::numeric_limits<double>::infinity();
      const double under = mass ? field.mass(cell) : field.peak(cell);
      return std::max(0.0, under * split_weight(cell.level, options));
    };
    const auto cells = split(Forest(geometry, root), budget.tokens, gain, options.balanced);
    return finish(cells, plain, geometry, budget, "quadtree");
  }
};

}  // namespace

std::unique_ptr<Allocator> make_quadtree() { return std::make_unique<Quadtree>(); }

}  // namespace arrcoc::allocating
