// Where tokens go, as maps of one size that can be compared and grouped.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "lab/measure/draws.h"
#include "lab/measure/evaluation.h"

namespace arrcoc::measuring {

namespace {

// Adds `amount`, spread over the box, to the cells of a grid on a picture of width x height.
void spread(std::vector<double>& cells, const Box& box, double amount, double width, double height,
            int rows, int cols) {
  const double area = box.area();
  if (!(area > 0)) return;
  const double cw = width / cols, ch = height / rows;
  const auto index = [](double v, int count) {
    return std::clamp(static_cast<int>(std::floor(v)), 0, count - 1);
  };
  for (int r = index(box.y0 / ch, rows); r <= index(box.y1 / ch, rows); ++r)
    for (int c = index(box.x0 / cw, cols); c <= index(box.x1 / cw, cols); ++c) {
      const Box cell{static_cast<float>(c * cw), static_cast<float>(r * ch),
                     static_cast<float>((c + 1) * cw), static_cast<float>((r + 1) * ch)};
      cells[static_cast<size_t>(r) * cols + c] += amount * intersect(cell, box).area() / area;
    }
}

double distance(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return sum;
}

using Points = std::vector<std::vector<double>>;

// The first centre at random, each further one with a chance that grows with the squared distance
// to the nearest so far. Fewer than k when the points are fewer.
Points first_centres(const Points& points, int k, uint64_t seed) {
  Points centres = {points[next_draw(seed) % points.size()]};
  while (static_cast<int>(centres.size()) < k) {
    std::vector<double> chance;
    double sum = 0;
    for (const auto& p : points) {
      double least = 1e300;
      for (const auto& c : centres) least = std::min(least, distance(p, c));
      chance.push_back(least);
      sum += least;
    }
    if (!(sum > 0)) break;  // every point is a centre
    double at = sum * static_cast<double>(next_draw(seed) >> 11) * 0x1.0p-53;
    size_t i = 0;
    while (i + 1 < chance.size() && (at -= chance[i]) >= 0) ++i;
    centres.push_back(points[i]);
  }
  return centres;
}

int nearest_centre(const std::vector<double>& point, const Points& centres) {
  int best = 0;
  for (size_t c = 1; c < centres.size(); ++c)
    if (distance(point, centres[c]) < distance(point, centres[static_cast<size_t>(best)]))
      best = static_cast<int>(c);
  return best;
}

// Means of the members; clusters without any are dropped. Largest first.
void update(const Points& points, Clusters& clusters) {
  const size_t k = clusters.centres.size();
  Points sums(k, std::vector<double>(points.front().size(), 0.0));
  std::vector<double> counts(k, 0);
  for (size_t i = 0; i < points.size(); ++i) {
    const auto c = static_cast<size_t>(clusters.of[i]);
    for (size_t d = 0; d < points[i].size(); ++d) sums[c][d] += points[i][d];
    ++counts[c];
  }
  std::vector<size_t> order(k);
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return counts[a] > counts[b]; });
  std::vector<int> place(k, -1);
  clusters.centres.clear();
  for (size_t c : order) {
    if (counts[c] == 0) continue;
    for (double& v : sums[c]) v /= counts[c];
    place[c] = static_cast<int>(clusters.centres.size());
    clusters.centres.push_back(std::move(sums[c]));
  }
  for (int& c : clusters.of) c = place[static_cast<size_t>(c)];
}

}  // namespace

std::vector<double> token_density(const Allocation& allocation, int rows, int cols) {
  const Geometry& g = allocation.geometry;
  std::vector<double> out(static_cast<size_t>(rows) * cols, 0.0);
  const double each = 1.0 / std::max(1, allocation.tokens());
  for (const Leaf& leaf : allocation.leaves)
    spread(out, allocating::box_of(g, leaf), each, g.width, g.height, rows, cols);
  for (const Crop& crop : allocation.crops)
    spread(out, crop.box, each * crop.tokens, g.width, g.height, rows, cols);
  return out;
}

std::vector<double> box_cover(const std::vector<Box>& boxes, double width, double height, int rows,
                              int cols) {
  std::vector<double> out(static_cast<size_t>(rows) * cols, 0.0);
  const double cell = width * height / (static_cast<double>(rows) * cols);
  for (const Box& box : boxes) spread(out, box, box.area() / cell, width, height, rows, cols);
  for (double& v : out) v = std::min(1.0, v);
  return out;
}

double correlation(const std::vector<double>& a, const std::vector<double>& b) {
  const size_t n = std::min(a.size(), b.size());
  if (n == 0) return 0;
  double ma = 0, mb = 0;
  for (size_t i = 0; i < n; ++i) ma += a[i], mb += b[i];
  ma /= static_cast<double>(n), mb /= static_cast<double>(n);
  double ab = 0, aa = 0, bb = 0;
  for (size_t i = 0; i < n; ++i) {
    ab += (a[i] - ma) * (b[i] - mb);
    aa += (a[i] - ma) * (a[i] - ma);
    bb += (b[i] - mb) * (b[i] - mb);
  }
  return aa > 1e-18 && bb > 1e-18 ? ab / std::sqrt(aa * bb) : 0;
}

Clusters k_means(const Points& points, int k, uint64_t seed) {
  Clusters out;
  if (points.empty() || k < 1) return out;
  out.centres = first_centres(points, k, seed);
  constexpr int kRounds = 100;
  for (int round = 0; round < kRounds; ++round) {
    std::vector<int> of;
    for (const auto& p : points) of.push_back(nearest_centre(p, out.centres));
    const bool settled = of == out.of;
    out.of = std::move(of);
    update(points, out);
    if (settled) break;
  }
  return out;
}

std::vector<size_t> Clusters::nearest(const Points& points, int cluster, size_t count) const {
  std::vector<size_t> members;
  for (size_t i = 0; i < of.size(); ++i)
    if (of[i] == cluster) members.push_back(i);
  const auto& centre = centres[static_cast<size_t>(cluster)];
  std::stable_sort(members.begin(), members.end(), [&](size_t a, size_t b) {
    return distance(points[a], centre) < distance(points[b], centre);
  });
  members.resize(std::min(count, members.size()));
  return members;
}

}  // namespace arrcoc::measuring
