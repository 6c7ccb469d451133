#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

#include "arrcoc/error.h"
#include "arrcoc/look.h"
#include "look/scorers/maps.h"
#include "look/texture/filters.h"

namespace arrcoc::scoring {

Map to_map(const at::Tensor& plane, const Map& shape) {
  at::Tensor p = plane.to(at::kCPU, at::kFloat).reshape({1, 1, plane.size(-2), plane.size(-1)});
  const bool grows = p.size(2) < shape.rows || p.size(3) < shape.cols;
  p = grows ? texture::stretch(p, shape.rows, shape.cols)
            : texture::area_pool(p, shape.rows, shape.cols);
  p = p.contiguous();
  Map out = shape;
  out.values.assign(p.data_ptr<float>(), p.data_ptr<float>() + p.numel());
  return out;
}

Map channel_map(const Sight& sight, Channel channel) {
  if (!sight.texture.has(channel)) return like(sight.shape, 0.0F);
  return to_map(sight.texture.of(channel), sight.shape);
}

Map print_map(const Sight& sight) {
  const int64_t h = sight.frame.size(1);
  const int64_t w = sight.frame.size(2);
  const bool large = std::max(h, w) > 512;
  const at::Tensor frames = sight.frame.unsqueeze(0);
  const at::Tensor gray =
      large ? texture::pooled_luma(frames, (h + 1) / 2, (w + 1) / 2) : texture::luma(frames);
  // A lone outline crosses a cell once; print fills it. Squaring the mean keeps the second.
  Map mean_edge = to_map(texture::normalised_edges(gray), sight.shape);
  for (float& v : mean_edge.values) v = std::min(1.0F, v * v * 9.0F);
  return mean_edge;
}

Map map_shape(const Picture& picture, const at::Tensor& frame, int cell) {
  if (cell < 1) throw Error(ErrorCode::bad_argument, "[map_shape] cell must be positive");
  Map shape;
  shape.rows = static_cast<int>((frame.size(1) + cell - 1) / cell);
  shape.cols = static_cast<int>((frame.size(2) + cell - 1) / cell);
  shape.cell_width =
      static_cast<float>(static_cast<double>(cell) * picture.width() / frame.size(2));
  shape.cell_height =
      static_cast<float>(static_cast<double>(cell) * picture.height() / frame.size(1));
  return shape;
}

std::vector<Hotspot> hotspots(const Map& salience, float threshold) {
  std::vector<Hotspot> out;
  for (int r = 0; r < salience.rows; ++r) {
    for (int c = 0; c < salience.cols; ++c) {
      const float v = salience.at(r, c);
      if (v <= threshold) continue;
      bool peak = true;
      for (int dr = -1; dr <= 1 && peak; ++dr) {
        for (int dc = -1; dc <= 1 && peak; ++dc) {
          const int rr = r + dr;
          const int cc = c + dc;
          if ((dr == 0 && dc == 0) || rr < 0 || cc < 0 || rr >= salience.rows ||
              cc >= salience.cols) {
            continue;
          }
          // Of a plateau only its first cell in reading order counts.
          const bool before = dr < 0 || (dr == 0 && dc < 0);
          peak = before ? v > salience.at(rr, cc) : v >= salience.at(rr, cc);
        }
      }
      if (peak) {
        out.push_back(Hotspot{(static_cast<float>(c) + 0.5F) * salience.cell_width,
                              (static_cast<float>(r) + 0.5F) * salience.cell_height, v});
      }
    }
  }
  std::stable_sort(out.begin(), out.end(),
                   [](const Hotspot& a, const Hotspot& b) { return a.strength > b.strength; });
  return out;
}

}  // namespace arrcoc::scoring
