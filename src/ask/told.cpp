#include "ask/told.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

namespace arrcoc::asking {

namespace {

constexpr double kSliver = 0.125;  // overlaps up to this share of a cell are rounding

struct Range {
  int first, last;  // both included
};

// Cells of the map between two pixels along one axis.
Range under(double begin, double end, double step, int count) {
  const double sliver = kSliver * std::min(step, end - begin);
  const auto first = static_cast<int>(std::floor((begin + sliver) / step));
  const auto last = static_cast<int>(std::ceil((end - sliver) / step)) - 1;
  return {std::clamp(first, 0, count - 1), std::clamp(last, 0, count - 1)};
}

}  // namespace

void tell(const Map& map, const Allocation& allocation, TokenSequence& tokens) {
  if (!allocation.crops.empty()) return;
  const Geometry& g = allocation.geometry;
  tokens.relevance = tokens.relevance.clone();
  auto* relevance = tokens.relevance.data_ptr<float>();
  for (size_t i = 0; i < allocation.leaves.size(); ++i) {
    const Leaf& leaf = allocation.leaves[i];
    const auto side = static_cast<double>(Geometry::side(leaf.level));
    const Range rows = under(leaf.row * side, std::min<double>(g.height, (leaf.row + 1) * side),
                             map.cell_height, map.rows);
    const Range cols = under(leaf.col * side, std::min<double>(g.width, (leaf.col + 1) * side),
                             map.cell_width, map.cols);
    float most = 0;
    for (int r = rows.first; r <= rows.last; ++r)
      for (int c = cols.first; c <= cols.last; ++c) most = std::max(most, map.at(r, c));
    relevance[i] = most;
  }
}

}  // namespace arrcoc::asking
