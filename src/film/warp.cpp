#include <algorithm>
#include <cmath>

#include "arrcoc/film.h"
#include "base/clones.h"

namespace arrcoc::filming {

namespace {

// Pixels [first, last) of a thumb side that a cell of the map covers; at least one.
struct Span {
  int first, last;
};
Span span_of(int cell, int cells, int pixels) {
  const int first = std::min(pixels - 1, cell * pixels / cells);
  return {first, std::clamp((cell + 1) * pixels / cells, first + 1, pixels)};
}

ARRCOC_CLONES void add_row(const float* __restrict row, float* __restrict sums, int width) {
  for (int x = 0; x < width; ++x) sums[x] += row[x];
}

float sample(const Map& map, float row, float col) {
  row = std::clamp(row, 0.0F, static_cast<float>(map.rows - 1));
  col = std::clamp(col, 0.0F, static_cast<float>(map.cols - 1));
  const int r0 = static_cast<int>(row), c0 = static_cast<int>(col);
  const int r1 = std::min(r0 + 1, map.rows - 1), c1 = std::min(c0 + 1, map.cols - 1);
  const float fr = row - static_cast<float>(r0), fc = col - static_cast<float>(c0);
  const float top = map.at(r0, c0) + (map.at(r0, c1) - map.at(r0, c0)) * fc;
  const float bottom = map.at(r1, c0) + (map.at(r1, c1) - map.at(r1, c0)) * fc;
  return top + (bottom - top) * fr;
}

}  // namespace

Map pool(const std::vector<float>& field, int width, int height, const Map& shape) {
  Map out = like(shape, 0);
  std::vector<Span> across(static_cast<size_t>(out.cols));
  for (int c = 0; c < out.cols; ++c) across[static_cast<size_t>(c)] = span_of(c, out.cols, width);
  std::vector<float> sums(static_cast<size_t>(width));
  for (int r = 0; r < out.rows; ++r) {
    const Span rows = span_of(r, out.rows, height);
    const float* row = field.data() + static_cast<size_t>(rows.first) * width;
    std::copy_n(row, width, sums.begin());
    for (int y = rows.first + 1; y < rows.last; ++y) add_row(row += width, sums.data(), width);
    for (int c = 0; c < out.cols; ++c) {
      const Span cols = across[static_cast<size_t>(c)];
      float sum = 0;
      for (int x = cols.first; x < cols.last; ++x) sum += sums[static_cast<size_t>(x)];
      out.at(r, c) = sum / static_cast<float>((rows.last - rows.first) * (cols.last - cols.first));
    }
  }
  return out;
}

Drift drift_of(const Flow& flow, const Map& shape) {
  if (flow.empty()) return {};
  Drift out{pool(flow.dx, flow.width, flow.height, shape),
            pool(flow.dy, flow.width, flow.height, shape)};
  const float along = static_cast<float>(shape.cols) / static_cast<float>(flow.width);
  const float down = static_cast<float>(shape.rows) / static_cast<float>(flow.height);
  for (float& v : out.cols.values) v *= along;
  for (float& v : out.rows.values) v *= down;
  return out;
}

Map warp(const Map& map, const Drift& drift) {
  if (drift.empty()) return map;
  Map out = map;
  for (int r = 0; r < map.rows; ++r)
    for (int c = 0; c < map.cols; ++c)
      out.at(r, c) = sample(map, static_cast<float>(r) + drift.rows.at(r, c),
                            static_cast<float>(c) + drift.cols.at(r, c));
  return out;
}

Map warp(const Map& map, const Flow& flow) { return warp(map, drift_of(flow, map)); }

float coherence(const Map& a, const Map& b) { return 1 - cosine_distance(a, b); }

}  // namespace arrcoc::filming
