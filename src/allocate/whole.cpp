// The whole picture, without any choice: every native patch, or shrunk until it fits.
#include <algorithm>
#include <cmath>

#include "allocate/strategies.h"
#include "allocate/tree.h"

namespace arrcoc::allocating {

namespace {

// Spends what the picture has, whatever the budget: its own budget says so.
class Native : public Allocator {
 public:
  bool tiles() const override { return true; }
  bool keeps_budget() const override { return false; }
  Allocation allocate(const Relevance&, const Geometry& geometry, const Budget&,
                      const AllocateOptions&) const override {
    Allocation out;
    out.geometry = geometry;
    const Grid grid = geometry.grid(0);
    out.leaves.reserve(static_cast<size_t>(grid.cells()));
    for (int r = 0; r < grid.rows; ++r)
      for (int c = 0; c < grid.cols; ++c) out.leaves.push_back({0, r, c, 0});
    out.budget = {static_cast<int>(grid.cells()), "native", "every patch of the picture"};
    return out;
  }
};

// One view of the whole picture at the largest size whose patches fit.
class Resize : public Allocator {
 public:
  bool tiles() const override { return false; }
  Allocation allocate(const Relevance&, const Geometry& g, const Budget& budget,
                      const AllocateOptions&) const override {
    const auto side = [](int pixels, double scale) {
      return std::max(1, static_cast<int>(std::lround(pixels * scale)));
    };
    const auto at = [&](double scale) {
      return Geometry{side(g.width, scale), side(g.height, scale), 0};
    };
    const auto fits = [&](double scale) { return at(scale).native_tokens() <= budget.tokens; };
    double low = 0, high = 1;  // fits(low) holds: one pixel is one token
    if (fits(1)) low = 1;
    for (int i = 0; i < 30 && low < 1; ++i) {
      const double middle = (low + high) / 2;
      (fits(middle) ? low : high) = middle;
    }
    const Geometry small = at(low);
    Allocation out;
    out.geometry = g;
    out.budget = budget;
    out.crops.push_back({{0, 0, static_cast<float>(g.width), static_cast<float>(g.height)},
                         small.width,
                         small.height,
                         static_cast<int>(small.native_tokens())});
    return out;
  }
};

}  // namespace

std::unique_ptr<Allocator> make_native() { return std::make_unique<Native>(); }
std::unique_ptr<Allocator> make_resize() { return std::make_unique<Resize>(); }

}  // namespace arrcoc::allocating
