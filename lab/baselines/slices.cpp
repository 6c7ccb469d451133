// LLaVA-UHD's slicing (Xu et al., 2024), on our weights.
//
// The picture is cut into a grid of slices that are close to the encoder's own size, and an
// overview of the whole comes first. The number of slices is about area / kView^2; among the grids
// of that number, one less and one more, the one whose slices come closest to squares is taken. The
// paper's resampler gives every view the same few tokens; without one trained for that, every view
// is shrunk to its share of the budget instead.
#include <algorithm>
#include <cmath>

#include "lab/baselines/allocators.h"

namespace arrcoc::baselines {

namespace {

constexpr int kView = 336;      // pixels along the paper's encoder
constexpr int kMostSlices = 6;  // the paper's limit

struct Slicing {
  int rows = 1, cols = 1;
};

// A grid of `count` slices whose width over height is closest to 1, by ratio.
Slicing best_grid(int width, int height, int most) {
  const double area = static_cast<double>(width) * height / (static_cast<double>(kView) * kView);
  const int wanted = std::clamp(static_cast<int>(std::ceil(area)), 1, most);
  Slicing best;
  double least = 1e300;
  for (int count = std::max(1, wanted - 1); count <= std::min(most, wanted + 1); ++count) {
    if (count == 1 && wanted > 1) continue;  // the overview shows that already
    for (int rows = 1; rows <= count; ++rows) {
      if (count % rows != 0) continue;
      const int cols = count / rows;
      const double off = std::abs(std::log(static_cast<double>(width) * rows) -
                                  std::log(static_cast<double>(height) * cols));
      if (off < least - 1e-9) least = off, best = {rows, cols};
    }
  }
  return best;
}

// One view: a rectangle of the picture shrunk to at most `tokens` patches.
Crop view(const Box& box, int tokens) {
  const Geometry part{static_cast<int>(box.width()), static_cast<int>(box.height()), 0};
  Crop out = allocating::allocate({}, part, {tokens, "", ""}, "resize").crops.front();
  out.box = box;
  return out;
}

class Slices : public Allocator {
 public:
  bool tiles() const override { return false; }
  Allocation allocate(const Relevance&, const Geometry& g, const Budget& budget,
                      const AllocateOptions&) const override {
    // No more views than tokens.
    const int most = std::clamp(budget.tokens - 1, 1, std::min({kMostSlices, g.width, g.height}));
    const Slicing grid = best_grid(g.width, g.height, most);
    const int slices = grid.rows * grid.cols;
    const bool one = slices == 1;  // a small picture is its own overview
    const int each = one ? budget.tokens : budget.tokens / (slices + 1);
    Allocation out;
    out.geometry = g;
    out.geometry.finest = 0;
    out.budget = budget;
    out.crops.push_back(
        view({0, 0, static_cast<float>(g.width), static_cast<float>(g.height)}, each));
    const auto edge = [](int i, int count, int length) {
      return static_cast<float>(static_cast<int64_t>(length) * i / count);
    };
    for (int r = 0; r < grid.rows && !one; ++r)
      for (int c = 0; c < grid.cols; ++c)
        out.crops.push_back(
            view({edge(c, grid.cols, g.width), edge(r, grid.rows, g.height),
                  edge(c + 1, grid.cols, g.width), edge(r + 1, grid.rows, g.height)},
                 each));
    return out;
  }
};

}  // namespace

std::unique_ptr<Allocator> make_slices() { return std::make_unique<Slices>(); }

}  // namespace arrcoc::baselines
