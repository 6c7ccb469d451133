#include <algorithm>
#include <set>

#include "allocate/curves.h"
#include "allocate/selection.h"
#include "allocate/strategies.h"
#include "allocate/tree.h"

namespace arrcoc::allocating {

namespace {

constexpr int kPositions = 273;
constexpr int64_t kMeanBudget = 366;  // the total cap, for each position

// The most relevant positions get 64..400 each along options.curve, within a total cap; that number
// chooses the mip level at which one patch is taken there. Levels count from the level that
// resolves the map. A patch that would cover or lie under one taken before is left out, so that
// nothing is seen twice.
class Positions : public Allocator {
 public:
  bool tiles() const override { return false; }
  Allocation allocate(const Relevance& relevance, const Geometry& geometry, const Budget& budget,
                      const AllocateOptions& options) const override {
    const Field field(relevance.map, geometry);
    const int count = std::min(kPositions, budget.tokens);
    const Selection from = selection(field, geometry, count);
    // More positions than tokens: several may fall into one coarse patch.
    const auto order = top(from.relevance, static_cast<size_t>(kPositions));
    std::vector<float> scores;
    for (size_t index : order) scores.push_back(from.relevance[index]);
    const auto budgets = position_budgets(scores, options, kMeanBudget * kPositions);
    const int coarsest = std::max(from.level, geometry.coarsest());
    std::vector<Cell> taken;
    std::set<std::pair<int, int>> covered;  // (row, col) of the selection level
    for (size_t i = 0; i < budgets.size() && static_cast<int>(taken.size()) < count; ++i) {
      const int level = std::min(from.level + mip_level(budgets[i]), coarsest);
      const int shift = level - from.level;
      const Cell at = from.cell(order[i]);
      const Cell cell{level, at.row >> shift, at.col >> shift};
      if (cover(cell, shift, from.grid, covered)) taken.push_back(cell);
    }
    return finish(taken, field, geometry, budget, "positions");
  }

 private:
  // Marks the cells under a patch; false, marking none, when one of them is taken already.
  static bool cover(const Cell& cell, int shift, const Grid& grid,
                    std::set<std::pair<int, int>>& covered) {
    std::vector<std::pair<int, int>> under;
    for (int r = cell.row << shift; r < std::min((cell.row + 1) << shift, grid.rows); ++r) {
      for (int c = cell.col << shift; c < std::min((cell.col + 1) << shift, grid.cols); ++c) {
        if (covered.count({r, c}) != 0) return false;
        under.emplace_back(r, c);
      }
    }
    covered.insert(under.begin(), under.end());
    return true;
  }
};

}  // namespace

std::unique_ptr<Allocator> make_positions() { return std::make_unique<Positions>(); }

}  // namespace arrcoc::allocating
