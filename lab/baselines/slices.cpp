// LLaVA-UHD's slicing (Xu et al., 2024), on our weights.
//
// The picture is cut into a grid of slices that are close to the encoder's own size, and an
// overview of the whole comes first. The number of slices is about area / kView^2; among the grids
// of that number, one less and one more, the one whose slices come closest to squares is taken. The
// paper's resampler gives every view the same few tokens; without one trained for that, every view
// is shrunk to its share of the budget instead.
#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

#include "ask/plan.h"

namespace arrcoc::answering {

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
void add_view(const Pyramid& pyramid, const Box& box, int tokens, Seen& out,
              std::vector<TokenSequence>& parts) {
  const int x = static_cast<int>(box.x0), y = static_cast<int>(box.y0);
  const int w = static_cast<int>(box.x1) - x, h = static_cast<int>(box.y1) - y;
  const Picture cut =
      make_picture(pyramid.picture().rgb.narrow(1, y, h).narrow(2, x, w).contiguous(), "slice");
  Seen seen = shrink_to(Pyramid(cut), {tokens, "", ""});
  const Geometry& whole = pyramid.geometry();
  const at::Tensor extent = at::tensor({static_cast<float>(w), static_cast<float>(h)});
  const at::Tensor corner = at::tensor({static_cast<float>(x), static_cast<float>(y)});
  const at::Tensor size =
      at::tensor({static_cast<float>(whole.width), static_cast<float>(whole.height)});
  seen.tokens.centre = (seen.tokens.centre * extent + corner) / size;
  const Geometry& g = seen.allocation.geometry;
  out.allocation.crops.push_back({box, g.width, g.height, seen.allocation.tokens()});
  parts.push_back(std::move(seen.tokens));
}

TokenSequence joined(const std::vector<TokenSequence>& parts) {
  const auto all = [&](at::Tensor TokenSequence::*field) {
    std::vector<at::Tensor> list;
    for (const TokenSequence& part : parts) list.push_back(part.*field);
    return at::cat(list);
  };
  return {all(&TokenSequence::pixels), all(&TokenSequence::around), all(&TokenSequence::centre),
          all(&TokenSequence::level),  all(&TokenSequence::scale),  all(&TokenSequence::relevance)};
}

}  // namespace

Seen take_slices(const Pyramid& pyramid, const Budget& budget) {
  const Geometry& g = pyramid.geometry();
  // No more views than tokens.
  const int most = std::clamp(budget.tokens - 1, 1, std::min({kMostSlices, g.width, g.height}));
  const Slicing grid = best_grid(g.width, g.height, most);
  const int slices = grid.rows * grid.cols;
  const bool one = slices == 1;  // a small picture is its own overview
  const int each = one ? budget.tokens : budget.tokens / (slices + 1);
  Seen out;
  out.allocation.geometry = g;
  out.allocation.geometry.finest = 0;
  out.allocation.allocator = "slices";
  out.allocation.budget = budget;
  std::vector<TokenSequence> parts;
  add_view(pyramid, {0, 0, static_cast<float>(g.width), static_cast<float>(g.height)}, each, out,
           parts);
  const auto edge = [](int i, int count, int length) {
    return static_cast<float>(static_cast<int64_t>(length) * i / count);
  };
  for (int r = 0; r < grid.rows && !one; ++r)
    for (int c = 0; c < grid.cols; ++c)
      add_view(pyramid,
               {edge(c, grid.cols, g.width), edge(r, grid.rows, g.height),
                edge(c + 1, grid.cols, g.width), edge(r + 1, grid.rows, g.height)},
               each, out, parts);
  out.tokens = joined(parts);
  return out;
}

}  // namespace arrcoc::answering
