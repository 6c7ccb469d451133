#include "look/texture/rows.h"
#include "arrcoc/texture.h"

#include <algorithm>
#include <cmath>

#include "base/clones.h"

namespace arrcoc::texture::rows {

ARRCOC_CLONES void luma(const float* __restrict r, const float* __restrict g,
                        const float* __restrict b, int64_t w, float* __restrict out) {
  for (int64_t x = 0; x < w; ++x) out[x] = 0.2126F * r[x] + 0.7152F * g[x] + 0.0722F * b[x];
}

ARRCOC_CLONES void luma_bytes(const float* __restrict r, const float* __restrict g,
                              const float* __restrict b, int64_t w, uint8_t* __restrict out) {
  for (int64_t x = 0; x < w; ++x) {
    const float luma = 0.2126F * r[x] + 0.7152F * g[x] + 0.0722F * b[x];
    out[x] = static_cast<uint8_t>(std::clamp(static_cast<int>(luma * 255.0F + 0.5F), 0, 255));
  }
}

ARRCOC_CLONES void larger(const float* __restrict row, int64_t w, float* __restrict peak) {
  for (int64_t x = 0; x < w; ++x) peak[x] = row[x] > peak[x] ? row[x] : peak[x];
}

ARRCOC_CLONES void add(const float* __restrict row, int64_t w, float* __restrict sum) {
  for (int64_t x = 0; x < w; ++x) sum[x] += row[x];
}

ARRCOC_CLONES void add_moments(const float* __restrict row, int64_t w, float* __restrict sum,
                               float* __restrict squares) {
  for (int64_t x = 0; x < w; ++x) {
    sum[x] += row[x];
    squares[x] += row[x] * row[x];
  }
}

void mean_of_cells(const float* sum, int64_t w, int64_t cell, int64_t rows, float* out) {
  for (int64_t x0 = 0; x0 < w; x0 += cell) {
    const int64_t x1 = std::min(w, x0 + cell);
    float total = 0;
    for (int64_t x = x0; x < x1; ++x) total += sum[x];
    *out++ = total / static_cast<float>(rows * (x1 - x0));
  }
}

namespace {

struct Gradient {
  float x, y;
};

inline Gradient gradient(const float* up, const float* at, const float* down, int64_t x) {
  const float left = up[x] + 2 * at[x] + down[x];
  const float right = up[x + 2] + 2 * at[x + 2] + down[x + 2];
  const float top = up[x] + 2 * up[x + 1] + up[x + 2];
  const float bottom = down[x] + 2 * down[x + 1] + down[x + 2];
  return {0.25F * (right - left), 0.25F * (bottom - top)};
}

inline float size_of(Gradient g) { return std::sqrt(g.x * g.x + g.y * g.y); }

inline float laplacian(const float* up, const float* at, const float* down, int64_t x) {
  return up[x + 1] + down[x + 1] + at[x] + at[x + 2] - 4 * at[x + 1];
}

}  // namespace

ARRCOC_CLONES void stencils(const float* __restrict up, const float* __restrict at,
                            const float* __restrict down, int64_t w, float* __restrict gx,
                            float* __restrict gy, float* __restrict high) {
  for (int64_t x = 0; x < w; ++x) {
    const Gradient g = gradient(up, at, down, x);
    gx[x] = g.x;
    gy[x] = g.y;
    high[x] = laplacian(up, at, down, x);
  }
}

ARRCOC_CLONES void outlines(const float* __restrict up, const float* __restrict at,
                            const float* __restrict down, int64_t w, float* __restrict size,
                            float* __restrict high) {
  for (int64_t x = 0; x < w; ++x) {
    size[x] = size_of(gradient(up, at, down, x));
    high[x] = laplacian(up, at, down, x);
  }
}

ARRCOC_CLONES void sizes(const float* __restrict up, const float* __restrict at,
                         const float* __restrict down, int64_t w, float* __restrict out) {
  for (int64_t x = 0; x < w; ++x) out[x] = size_of(gradient(up, at, down, x));
}

ARRCOC_CLONES void add_gradients(const float* __restrict up, const float* __restrict at,
                                 const float* __restrict down, int64_t w, float* __restrict gx,
                                 float* __restrict gy, float* __restrict size) {
  for (int64_t x = 0; x < w; ++x) {
    const Gradient g = gradient(up, at, down, x);
    gx[x] += g.x;
    gy[x] += g.y;
    size[x] += size_of(g);
  }
}

ARRCOC_CLONES void soft_edges(const float* __restrict up, const float* __restrict at,
                              const float* __restrict down, int64_t w, float* __restrict out) {
  for (int64_t x = 0; x < w; ++x) {
    const float m = size_of(gradient(up, at, down, x));
    out[x] = m / (m + 1.0F);
  }
}

ARRCOC_CLONES void normalise(const float* __restrict row, const float* __restrict mean,
                             const float* __restrict square, int64_t w, float* __restrict out) {
  for (int64_t x = 0; x < w; ++x) {
    const float variance = square[x] - mean[x] * mean[x];
    out[x] = (row[x] - mean[x]) / (std::sqrt(variance > 0 ? variance : 0.0F) + 0.02F);
  }
}

ARRCOC_CLONES void blend(const float* __restrict a, const float* __restrict b, float t, int64_t w,
                         float* __restrict out) {
  for (int64_t x = 0; x < w; ++x) out[x] = a[x] * (1 - t) + b[x] * t;
}

ARRCOC_CLONES void spread(const float* __restrict from, const int32_t* __restrict left,
                          const int32_t* __restrict right, const float* __restrict part, int64_t w,
                          float* __restrict out) {
  for (int64_t x = 0; x < w; ++x) {
    out[x] = from[left[x]] * (1 - part[x]) + from[right[x]] * part[x];
  }
}

ARRCOC_CLONES void eccentricity(const float* __restrict x, float dy, int64_t w,
                                float* __restrict out) {
  for (int64_t i = 0; i < w; ++i) {
    const float dx = x[i] - 0.5F;
    out[i] = std::sqrt(dx * dx + dy * dy) / 0.70710678F;
  }
}

}  // namespace arrcoc::texture::rows
