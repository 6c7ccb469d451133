#include <algorithm>

#include "allocate/selection.h"
#include "allocate/strategies.h"
#include "allocate/tree.h"

namespace arrcoc::allocating {

namespace {

constexpr float kLift = 0.1F;

// Adds kLift, once, to each cell that has a chosen cell among its eight neighbours. The chosen cell
// itself is not lifted: a lone cell then gives way to the surroundings of a group.
std::vector<float> lifted(const Selection& from, const std::vector<size_t>& chosen) {
  std::vector<char> near(from.relevance.size(), 0);
  for (size_t index : chosen) {
    const Cell cell = from.cell(index);
    for (int r = std::max(0, cell.row - 1); r <= std::min(from.grid.rows - 1, cell.row + 1); ++r) {
      for (int c = std::max(0, cell.col - 1); c <= std::min(from.grid.cols - 1, cell.col + 1);
           ++c) {
        if (r != cell.row || c != cell.col) near[static_cast<size_t>(r) * from.grid.cols + c] = 1;
      }
    }
  }
  std::vector<float> out = from.relevance;
  for (size_t i = 0; i < out.size(); ++i) {
    if (near[i] != 0) out[i] += kLift;
  }
  return out;
}

class WindowTopK : public Allocator {
 public:
  bool tiles() const override { return false; }
  Allocation allocate(const Relevance& relevance, const Geometry& geometry, const Budget& budget,
                      const AllocateOptions& options) const override {
    const Field field(relevance.map, geometry);
    const int count = std::min(options.top_k, budget.tokens);
    const Selection from = selection(field, geometry, count);
    const auto first = top(from.relevance, static_cast<size_t>(count));
    const auto second = top(lifted(from, first), static_cast<size_t>(count));
    return finish(cells_of(from, second), field, geometry, budget, "window-topk");
  }
};

}  // namespace

std::unique_ptr<Allocator> make_window_top_k() { return std::make_unique<WindowTopK>(); }

}  // namespace arrcoc::allocating
