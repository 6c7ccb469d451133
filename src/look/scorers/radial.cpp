// Round things by radial symmetry.
#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "look/scorers/maps.h"
#include "look/texture/filters.h"

namespace arrcoc::scoring {

namespace {

constexpr int64_t kSize = 128;  // longer side of the voting grid
constexpr float kWeakest = 0.06F;

// Votes at one radius, spread back over the disc that the edge would bound.
void vote(const float* gx, const float* gy, int h, int w, int radius, std::vector<float>& total) {
  std::vector<float> votes(static_cast<size_t>(h) * w, 0.0F);
  for (int y = 0; y < h; ++y) {
    for (int x = 0; x < w; ++x) {
      const float dx = gx[y * w + x];
      const float dy = gy[y * w + x];
      const float size = std::sqrt(dx * dx + dy * dy);
      if (size < kWeakest) continue;
      for (int sign : {-1, 1}) {  // light on dark and dark on light
        const int vx = x + static_cast<int>(std::lround(sign * radius * dx / size));
        const int vy = y + static_cast<int>(std::lround(sign * radius * dy / size));
        if (vx >= 0 && vy >= 0 && vx < w && vy < h) votes[static_cast<size_t>(vy) * w + vx] += 1.0F;
      }
    }
  }
  const float full = 2.0F * static_cast<float>(M_PI) * static_cast<float>(radius);
  for (int y = 0; y < h; ++y) {
    for (int x = 0; x < w; ++x) {
      // Votes scatter by a pixel; a third of a full circle in the 3x3 around is a find.
      float sum = 0;
      for (int yy = std::max(0, y - 1); yy <= std::min(h - 1, y + 1); ++yy) {
        for (int xx = std::max(0, x - 1); xx <= std::min(w - 1, x + 1); ++xx) {
          sum += votes[static_cast<size_t>(yy) * w + xx];
        }
      }
      const float strength = sum / full;
      if (strength < 0.33F) continue;
      for (int yy = std::max(0, y - radius); yy <= std::min(h - 1, y + radius); ++yy) {
        for (int xx = std::max(0, x - radius); xx <= std::min(w - 1, x + radius); ++xx) {
          if ((xx - x) * (xx - x) + (yy - y) * (yy - y) > radius * radius) continue;
          float& cell = total[static_cast<size_t>(yy) * w + xx];
          cell = std::max(cell, strength);
        }
      }
    }
  }
}

}  // namespace

Map radial_symmetry(const Sight& sight) {
  const int64_t side = std::max(sight.frame.size(1), sight.frame.size(2));
  const int64_t cell = std::max<int64_t>(1, (side + kSize - 1) / kSize);
  const int64_t h = (sight.frame.size(1) + cell - 1) / cell;
  const int64_t w = (sight.frame.size(2) + cell - 1) / cell;
  const at::Tensor gray = texture::pooled_luma(sight.frame.unsqueeze(0), h, w);
  const at::Tensor edges = texture::stencils(gray).squeeze(0).contiguous();
  const float* gx = edges.data_ptr<float>();
  const float* gy = gx + h * w;
  at::Tensor total = at::zeros({h, w});
  std::vector<float> sum(static_cast<size_t>(h * w), 0.0F);
  for (int radius : {3, 4, 6, 8, 11, 15, 20, 28}) {
    if (2 * radius < std::max(h, w)) {
      vote(gx, gy, static_cast<int>(h), static_cast<int>(w), radius, sum);
    }
  }
  std::copy(sum.begin(), sum.end(), total.data_ptr<float>());
  return min_max(to_map(total, sight.shape));
}

}  // namespace arrcoc::scoring
