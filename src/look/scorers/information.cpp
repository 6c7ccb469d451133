// Propositional knowing: how much information is in a cell, whatever it says?
#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "arrcoc/look.h"
#include "base/clones.h"
#include "look/scorers/maps.h"
#include "look/scorers/scorers.h"
#include "look/texture/rows.h"

namespace arrcoc::scoring {

namespace {

// Pixel range [first, last) of cell i when n pixels are cut into cells of frame pixels.
struct Range {
  int64_t first, last;
};
Range cell_range(int64_t i, int64_t cells, int64_t pixels) {
  const int64_t size = (pixels + cells - 1) / cells;
  return {std::min(pixels, i * size), std::min(pixels, (i + 1) * size)};
}

using Histogram = std::array<uint32_t, 256>;

// n log2 n for every count that a cell may hold.
std::vector<double> count_log_count(const Sight& sight, const Map& shape) {
  const Range ys = cell_range(0, shape.rows, sight.frame.size(1));
  const Range xs = cell_range(0, shape.cols, sight.frame.size(2));
  std::vector<double> out((ys.last - ys.first) * (xs.last - xs.first) + 1, 0.0);
  for (size_t n = 2; n < out.size(); ++n) {
    out[n] = static_cast<double>(n) * std::log2(static_cast<double>(n));
  }
  return out;
}

// H = log2 n - sum(count log2 count) / n
float entropy(const Histogram& histogram, int64_t n, const std::vector<double>& weighted) {
  if (n <= 1) return 0;
  double sum[4] = {0, 0, 0, 0};  // four chains of additions overlap
  for (size_t i = 0; i < histogram.size(); i += 4) {
    for (size_t k = 0; k < 4; ++k) sum[k] += weighted[histogram[i + k]];
  }
  const double count = static_cast<double>(n);
  const double bits = std::log2(count);
  const double used = bits - ((sum[0] + sum[1]) + (sum[2] + sum[3])) / count;
  return static_cast<float>(std::max(0.0, used / std::min(8.0, bits)));
}

ARRCOC_CLONES void point_row(const float* __restrict edges, const float* __restrict normal,
                             const float* __restrict high, const float* __restrict away, float near,
                             int64_t n, float* __restrict out) {
  const auto at_most_one = [](float v) { return v < 1.0F ? v : 1.0F; };
  for (int64_t i = 0; i < n; ++i) {
    const float edge = edges[i] > normal[i] ? edges[i] : normal[i];
    out[i] =
        0.4F * at_most_one(edge) + 0.3F * at_most_one(std::fabs(high[i])) + near * (1.0F - away[i]);
  }
}

}  // namespace

// H = -sum p log2 p of a 256-bin luminance histogram, / 8 bits. A short cell at the border cannot
// reach 8 bits: it is divided by what it can reach.
Map shannon(const Sight& sight) {
  const at::Tensor frame = sight.frame.contiguous();
  const int64_t h = frame.size(1);
  const int64_t w = frame.size(2);
  const float* red = frame.data_ptr<float>();
  const float* green = red + h * w;
  const float* blue = green + h * w;
  Map out = like(sight.shape, 0.0F);
  const std::vector<double> weighted = count_log_count(sight, out);
  at::parallel_for(0, out.rows, 4, [&](int64_t begin, int64_t end) {
    std::vector<Histogram> histograms(out.cols);
    std::vector<uint8_t> bins(w);
    for (int64_t r = begin; r < end; ++r) {
      const Range ys = cell_range(r, out.rows, h);
      for (Histogram& histogram : histograms) histogram.fill(0);
      for (int64_t y = ys.first; y < ys.last; ++y) {
        texture::rows::luma_bytes(red + y * w, green + y * w, blue + y * w, w, bins.data());
        for (int64_t c = 0; c < out.cols; ++c) {
          const Range xs = cell_range(c, out.cols, w);
          for (int64_t x = xs.first; x < xs.last; ++x) ++histograms[c][bins[x]];
        }
      }
      for (int64_t c = 0; c < out.cols; ++c) {
        const Range xs = cell_range(c, out.cols, w);
        const int64_t n = (ys.last - ys.first) * (xs.last - xs.first);
        out.at(static_cast<int>(r), static_cast<int>(c)) = entropy(histograms[c], n, weighted);
      }
    }
  });
  return out;
}

// Entropy of the normalised magnitude spectrum of a cell (without its mean), weighed by how much
// amplitude there is at all: otherwise sensor noise on a wall would score like print.
Map spectrum(const Sight& sight) {
  constexpr int64_t kSize = 16;
  const at::Tensor gray = texture::luma(sight.frame.unsqueeze(0));
  const int64_t rows = sight.shape.rows;
  const int64_t cols = sight.shape.cols;
  at::Tensor cells = gray;
  if (gray.size(2) != rows * kSize || gray.size(3) != cols * kSize) {
    cells = at::upsample_bilinear2d(gray, {rows * kSize, cols * kSize}, false);
  }
  cells = cells.reshape({rows, kSize, cols, kSize}).permute({0, 2, 1, 3});
  cells = cells - cells.mean({2, 3}, true);
  const at::Tensor power = at::fft_rfft2(cells).abs().flatten(2);
  const at::Tensor total = power.sum(2);
  const at::Tensor p = power / total.clamp_min(1e-9).unsqueeze(2);
  const at::Tensor bits = -(p * (p + 1e-12).log2()).sum(2);
  const at::Tensor spread = bits / std::log2(static_cast<double>(power.size(2)));
  const at::Tensor amplitude = cells.pow(2).mean({2, 3}).sqrt();
  return to_map(spread * (amplitude / (amplitude + 0.05)), sight.shape);
}

// 0.4 max(edges, normalised edges) + 0.3 |highpass| + 0.3 (1 - distance to the nearest edge)
Map points(const Sight& sight) {
  const Texture& t = sight.texture;
  if (!t.has(Channel::edges)) {
    return to_map(t.of(Channel::gradient_magnitude).clamp(0, 1) * 0.4, sight.shape);
  }
  const at::Tensor edges = t.of(Channel::edges).contiguous();
  const at::Tensor normal = t.of(Channel::edges_inverted).contiguous();
  const at::Tensor high = t.of(Channel::highpass).contiguous();
  const at::Tensor away = t.of(Channel::distance_field).contiguous();
  // Without the provider the distance field is all zero, which would read as "edges everywhere".
  const float near = away.max().item<float>() > 0 ? 0.3F : 0.0F;
  at::Tensor sum = at::empty_like(edges);
  const int64_t w = edges.size(1);
  at::parallel_for(0, edges.size(0), 16, [&](int64_t begin, int64_t end) {
    const int64_t at = begin * w;
    point_row(edges.data_ptr<float>() + at, normal.data_ptr<float>() + at,
              high.data_ptr<float>() + at, away.data_ptr<float>() + at, near, (end - begin) * w,
              sum.data_ptr<float>() + at);
  });
  return to_map(sum, sight.shape);
}

}  // namespace arrcoc::scoring
