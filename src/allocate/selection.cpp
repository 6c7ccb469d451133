#include "allocate/selection.h"

#include <algorithm>
#include <numeric>

namespace arrcoc::allocating {

Selection selection(const Field& field, const Geometry& geometry, int count) {
  const double map_cell = std::max(field.map().cell_width, field.map().cell_height);
  Selection out;
  out.level = geometry.finest;
  while (static_cast<double>(Geometry::side(out.level + 1)) <= map_cell &&
         geometry.grid(out.level + 1).cells() >= 4 * static_cast<int64_t>(count)) {
    ++out.level;
  }
  out.grid = geometry.grid(out.level);
  out.relevance.reserve(static_cast<size_t>(out.grid.cells()));
  for (int r = 0; r < out.grid.rows; ++r) {
    for (int c = 0; c < out.grid.cols; ++c) {
      out.relevance.push_back(field.peak(Cell{out.level, r, c}));
    }
  }
  return out;
}

std::vector<size_t> top(const std::vector<float>& values, size_t count) {
  std::vector<size_t> order(values.size());
  std::iota(order.begin(), order.end(), size_t{0});
  count = std::min(count, order.size());
  const auto middle = order.begin() + static_cast<std::ptrdiff_t>(count);
  std::partial_sort(order.begin(), middle, order.end(), [&](size_t a, size_t b) {
    return values[a] != values[b] ? values[a] > values[b] : a < b;
  });
  order.resize(count);
  return order;
}

std::vector<Cell> cells_of(const Selection& selection, const std::vector<size_t>& indices) {
  std::vector<Cell> out;
  out.reserve(indices.size());
  for (size_t index : indices) out.push_back(selection.cell(index));
  return out;
}

}  // namespace arrcoc::allocating
