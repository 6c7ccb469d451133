#include <algorithm>

#include "lab/measure/evaluation.h"

namespace arrcoc::measuring {

double covered(const Allocation& allocation, const Box& box, double largest) {
  if (box.area() <= 0) return 0;
  double sum = 0;
  for (const Leaf& leaf : allocation.leaves) {
    if (static_cast<double>(Geometry::side(leaf.level)) > largest) continue;
    sum += intersect(allocating::box_of(allocation.geometry, leaf), box).area();
  }
  for (const Crop& crop : allocation.crops) {
    const double side = std::max(crop.box.width() / crop.width, crop.box.height() / crop.height);
    if (kPatch * side <= largest) sum += intersect(crop.box, box).area();
  }
  return std::min(1.0, sum / box.area());
}

double lift(const Allocation& allocation, const std::vector<Box>& boxes) {
  const Geometry& g = allocation.geometry;
  if (allocation.tokens() == 0 || boxes.empty()) return 0;
  double area = 0;
  for (const Box& box : boxes) area += box.area();
  double inside = 0;
  for (const Leaf& leaf : allocation.leaves) {
    const Box cell = allocating::box_of(g, leaf);
    // A leaf counts by the share of it that lies in the boxes.
    double share = 0;
    for (const Box& box : boxes) share += intersect(cell, box).area();
    inside += std::min(1.0, share / std::max(1e-9F, cell.area()));
  }
  for (const Crop& crop : allocation.crops) {  // its tokens lie evenly in it
    double share = 0;
    for (const Box& box : boxes) share += intersect(crop.box, box).area();
    inside += crop.tokens * std::min(1.0, share / std::max(1e-9F, crop.box.area()));
  }
  const double picture = static_cast<double>(g.width) * g.height;
  return (inside / allocation.tokens()) / (area / picture);
}

namespace {

// Boxes are in pixels of the stored picture; the allocation may be on another canvas.
Box scaled(const Box& b, double sx, double sy) {
  return Box{static_cast<float>(b.x0 * sx), static_cast<float>(b.y0 * sy),
             static_cast<float>(b.x1 * sx), static_cast<float>(b.y1 * sy)};
}

}  // namespace

void Tally::add(const Allocation& allocation, const Item& item) {
  const Geometry& g = allocation.geometry;
  const double sx = static_cast<double>(g.width) / item.width;
  const double sy = static_cast<double>(g.height) / item.height;
  const double fine = kFine * std::max(g.width, g.height) / kFrame;
  std::vector<Box> answer;
  double mine = 0;
  for (const Box& b : item.answer_boxes) {
    answer.push_back(scaled(b, sx, sy));
    mine += measuring::covered(allocation, answer.back(), fine);
  }
  covered += mine;
  boxes += static_cast<int>(answer.size());
  double best = answer.empty() ? 0 : mine / static_cast<double>(answer.size());
  for (const Box& b : item.alternate_boxes) {
    best = std::max(best, measuring::covered(allocation, scaled(b, sx, sy), fine));
  }
  lenient += best * static_cast<double>(item.answer_boxes.size());
  tokens += allocation.tokens();
  most_tokens = std::max(most_tokens, allocation.tokens());
  lift += measuring::lift(allocation, answer);
  ++questions;
}

}  // namespace arrcoc::measuring
