// Small films whose truth is known.
#pragma once

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "arrcoc/film.h"

namespace films {

using arrcoc::Box;
using arrcoc::Geometry;
using arrcoc::Map;
using arrcoc::Picture;

// A ground with structure at several scales, the same for every call with one seed.
inline at::Tensor ground(int width, int height, int seed, int shift = 0) {
  at::Tensor out = at::empty({3, height, width}, at::kByte);
  uint8_t* p = out.data_ptr<uint8_t>();
  for (int c = 0; c < 3; ++c)
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x) {
        const double u = x + shift;
        const double v = 110 + 40 * std::sin(u * 0.05 + seed + c) * std::cos(y * 0.07 + 2 * seed) +
                         25 * std::sin(u * 0.31 + y * 0.23 + seed);
        p[(c * height + y) * width + x] = static_cast<uint8_t>(v);
      }
  return out;
}

inline void paint(at::Tensor& rgb, const Box& box, int red, int green, int blue) {
  const int values[3] = {red, green, blue};
  for (int c = 0; c < 3; ++c)
    rgb[c]
        .slice(0, static_cast<int64_t>(box.y0), static_cast<int64_t>(box.y1))
        .slice(1, static_cast<int64_t>(box.x0), static_cast<int64_t>(box.x1))
        .fill_(values[c]);
}

inline void add_noise(at::Tensor& rgb, int seed, int strength) {
  std::mt19937 random(static_cast<unsigned>(seed));
  uint8_t* p = rgb.data_ptr<uint8_t>();
  for (int64_t i = 0; i < rgb.numel(); ++i) {
    const int v =
        p[i] + static_cast<int>(random() % static_cast<unsigned>(2 * strength + 1)) - strength;
    p[i] = static_cast<uint8_t>(std::clamp(v, 0, 255));
  }
}

// What the pipeline would say of a frame: a flat map with one weak hill.
inline Map hill(const Geometry& geometry, double x, double y, float height = 0.4F) {
  Map out;
  out.rows = geometry.grid(0).rows;
  out.cols = geometry.grid(0).cols;
  out.cell_width = out.cell_height = 16;
  out.values.assign(static_cast<size_t>(out.rows) * out.cols, 0.05F);
  for (int r = 0; r < out.rows; ++r)
    for (int c = 0; c < out.cols; ++c) {
      const double dx = (c + 0.5) / out.cols - x, dy = (r + 0.5) / out.rows - y;
      out.at(r, c) += height * static_cast<float>(std::exp(-(dx * dx + dy * dy) / 0.01));
    }
  return out;
}

}  // namespace films
