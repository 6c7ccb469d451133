// Cells of one level to choose from: what the allocators that do not tile share.
#pragma once

#include <vector>

#include "allocate/field.h"
#include "arrcoc/allocate.h"

namespace arrcoc::allocating {

struct Selection {
  int level = 0;
  Grid grid;
  std::vector<float> relevance;  // row-major
  Cell cell(size_t index) const {
    return Cell{level, static_cast<int>(index / grid.cols), static_cast<int>(index % grid.cols)};
  }
};

// All cells of the coarsest level that still resolves the map (its cells are no larger than the
// map's), or of a finer one where that would leave fewer than 4 cells to choose each of `count`
// from. Cells finer than the map's only repeat its values: a 100-megapixel picture with a 64x64 map
// offers 6,241 cells of level 3, not 390,625 of level 0.
Selection selection(const Field& field, const Geometry& geometry, int count);

// Indices of the `count` largest values, largest first; ties in raster order.
std::vector<size_t> top(const std::vector<float>& values, size_t count);

std::vector<Cell> cells_of(const Selection& selection, const std::vector<size_t>& indices);

}  // namespace arrcoc::allocating
