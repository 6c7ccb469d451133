#include <algorithm>
#include <cmath>

#include "ask/plan.h"

namespace arrcoc::answering {

namespace {

constexpr float kShare = 0.25F;  // of the peak: leaves with less attention do not join

bool touching(const Box& a, const Box& b) {
  // Words of one line are a gap apart: half the smaller side counts as touching.
  const float near = 0.5F * std::min({a.width(), a.height(), b.width(), b.height()});
  return a.x0 - near < b.x1 && b.x0 - near < a.x1 && a.y0 < b.y1 && b.y0 < a.y1;
}

// Of every token, in the order in which they are read.
std::vector<Box> token_boxes(const Allocation& allocation) {
  std::vector<Box> out;
  for (const Leaf& leaf : allocation.leaves)
    out.push_back(allocating::box_of(allocation.geometry, leaf));
  for (const Crop& crop : allocation.crops) {
    const float x = kPatch * crop.box.width() / static_cast<float>(crop.width);
    const float y = kPatch * crop.box.height() / static_cast<float>(crop.height);
    const Grid grid = Geometry{crop.width, crop.height, 0}.grid(0);
    for (int r = 0; r < grid.rows; ++r)
      for (int c = 0; c < grid.cols; ++c) {
        const float left = crop.box.x0 + x * static_cast<float>(c);
        const float top = crop.box.y0 + y * static_cast<float>(r);
        out.push_back(intersect({left, top, left + x, top + y}, crop.box));
      }
  }
  return out;
}

}  // namespace

std::optional<Box> answer_box(const Allocation& allocation, const std::vector<float>& focus) {
  const std::vector<Box> boxes = token_boxes(allocation);
  const size_t n = std::min(focus.size(), boxes.size());
  const auto peak = std::max_element(focus.begin(), focus.begin() + static_cast<int64_t>(n));
  if (n == 0 || !(*peak > 0)) return std::nullopt;
  const auto first = static_cast<size_t>(peak - focus.begin());
  Box out = boxes[first];
  std::vector<bool> taken(n, false);
  taken[first] = true;
  for (bool grew = true; grew;) {
    grew = false;
    for (size_t i = 0; i < n; ++i) {
      if (taken[i] || focus[i] < kShare * *peak || !touching(out, boxes[i])) continue;
      taken[i] = grew = true;
      out = {std::min(out.x0, boxes[i].x0), std::min(out.y0, boxes[i].y0),
             std::max(out.x1, boxes[i].x1), std::max(out.y1, boxes[i].y1)};
    }
  }
  return out;
}

}  // namespace arrcoc::answering
