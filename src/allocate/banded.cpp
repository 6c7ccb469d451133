#include "allocate/banded.h"

#include <cmath>

namespace arrcoc::allocating {

std::vector<Cell> split_by_band(const Forest& forest, const Field& field, int budget, int bands,
                                const std::function<int(float)>& band) {
  const double depth = forest.root() - forest.finest();
  return split_greedily(forest, budget, [&](const Cell& cell) {
    const int which = band(field.peak(cell));
    const int target = forest.root() - static_cast<int>(std::lround(depth * which / (bands - 1)));
    return cell.level > target ? static_cast<double>(which) : kNoSplit;
  });
}

}  // namespace arrcoc::allocating
