// The quadtree of patches that all tiling allocators share.
//
// Roots are the cells of one mip level (Geometry::root_level); a split replaces a cell by its real
// children of the next finer level and costs (real children - 1) tokens.
#pragma once

#include <array>
#include <compare>
#include <functional>
#include <string>
#include <vector>

#include "allocate/field.h"
#include "arrcoc/allocate.h"

namespace arrcoc::allocating {

struct Children {
  std::array<Cell, 4> cells;  // raster order
  int count = 0;              // real ones; 0 at the finest level
};

// The cells of a geometry between a root level and its finest level.
class Forest {
 public:
  Forest(const Geometry& geometry, int root_level);
  int root() const { return root_; }
  int finest() const { return finest_; }
  Grid grid(int level) const { return grids_[level - finest_]; }
  std::vector<Cell> roots() const;
  Children children(const Cell& cell) const;

 private:
  int finest_;
  int root_;
  std::vector<Grid> grids_;  // finest first
};

// How much a split of this cell is worth; kNoSplit leaves it whole.
using Gain = std::function<double(const Cell&)>;
inline constexpr double kNoSplit = -1;

// A cell that waits to be split. Largest gain first; ties: coarser level, then raster order.
struct Candidate {
  double gain = 0;
  Cell cell;
  bool operator<(const Candidate& other) const;
};

// One picture's cells, what splits are worth there, and the tokens it gets in any case.
struct Tree {
  Forest forest;
  Gain gain;
  int least = 0;
};
// Several trees under one budget: first each tree's least, then the splits of largest gain wherever
// they are. The leaves of each tree.
std::vector<std::vector<Cell>> split_greedily(const std::vector<Tree>& trees, int budget);

// Splits the cell of largest gain until the budget is spent: O(n log n) in the number of leaves.
// Splits that cost nothing are always taken, splits that do not fit are skipped.
std::vector<Cell> split_greedily(const Forest& forest, int budget, const Gain& gain);

// The same, but leaves that share an edge differ by at most one level: a split first forces its
// coarser neighbours to split. The forced splits count against the budget, and a split whose forced
// ones do not fit is skipped. A free split is taken when all that it forces is free.
std::vector<Cell> split_balanced(const Forest& forest, int budget, const Gain& gain);

// Weight of splitting a cell of that level: 1, finest_weight into native patches, enlarge_weight
// into enlarged ones.
double split_weight(int level, const AllocateOptions& options);

// By y, then x of the native top-left corner, then coarser first.
bool raster_before(const Leaf& a, const Leaf& b);

// Cells -> leaves with their relevance, in raster order.
Allocation finish(const std::vector<Cell>& cells, const Field& field, const Geometry& geometry,
                  const Budget& budget, const std::string& allocator);

}  // namespace arrcoc::allocating
