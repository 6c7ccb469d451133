#include "texture/filters.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <vector>

#include "arrcoc/error.h"
#include "arrcoc/texture.h"
#include "texture/cpu_kernels.h"

namespace arrcoc::texture {

at::Tensor luma(const at::Tensor& rgb) {
  // Rec. 709, in place on one fresh plane: three passes, no temporary.
  at::Tensor y = rgb.narrow(1, 0, 1) * 0.2126;
  y.add_(rgb.narrow(1, 1, 1), 0.7152);
  return y.add_(rgb.narrow(1, 2, 1), 0.0722);
}

at::Tensor rgb_to_lab(const at::Tensor& rgb) {
  at::Tensor linear =
      at::where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055).clamp_min(0).pow(2.4));
  // Rows already divided by the D65 white point.
  const at::Tensor matrix =
      at::tensor(
          {0.4124564 / 0.95047, 0.3575761 / 0.95047, 0.1804375 / 0.95047, 0.2126729, 0.7151522,
           0.0721750, 0.0193339 / 1.08883, 0.1191920 / 1.08883, 0.9503041 / 1.08883},
          at::kDouble)
          .to(rgb.options())
          .reshape({3, 3, 1, 1});
  at::Tensor xyz = at::conv2d(linear, matrix);
  constexpr double kDelta = 6.0 / 29.0;
  at::Tensor f = at::where(xyz > kDelta * kDelta * kDelta, xyz.clamp_min(1e-9).pow(1.0 / 3.0),
                           xyz / (3 * kDelta * kDelta) + 4.0 / 29.0);
  at::Tensor fx = f.narrow(1, 0, 1);
  at::Tensor fy = f.narrow(1, 1, 1);
  at::Tensor fz = f.narrow(1, 2, 1);
  return at::cat({fy * 1.16 - 0.16, (fx - fy) * (500.0 / 128.0), (fy - fz) * (200.0 / 128.0)}, 1);
}

namespace {

// [to, from] weights of an exact area mean along one axis.
at::Tensor area_weights(int64_t from, int64_t to, const at::TensorOptions& like) {
  at::Tensor weights = at::zeros({to, from}, at::kFloat);
  auto w = weights.accessor<float, 2>();
  const double step = static_cast<double>(from) / static_cast<double>(to);
  for (int64_t i = 0; i < to; ++i) {
    const double a = i * step;
    const double b = (i + 1) * step;
    for (auto s = static_cast<int64_t>(a); s < from && s < b; ++s) {
      const double overlap = std::min<double>(b, s + 1) - std::max<double>(a, s);
      if (overlap > 0) w[i][s] = static_cast<float>(overlap / step);
    }
  }
  return weights.to(like);
}

}  // namespace

at::Tensor area_pool(const at::Tensor& maps, int64_t rows, int64_t cols) {
  const int64_t h = maps.size(2);
  const int64_t w = maps.size(3);
  if (rows < 1 || cols < 1) throw Error(ErrorCode::bad_argument, "[area_pool] empty target grid");
  if (rows == h && cols == w) return maps;
  // Whole square cells (the last row and column may be short) have a fast kernel.
  const int64_t cell = (h + rows - 1) / rows;
  const bool square = (w + cols - 1) / cols == cell || rows == 1 || cols == 1;
  const int64_t cell_w = (w + cols - 1) / cols;
  if (square && (h + cell - 1) / cell == rows && (w + cell_w - 1) / cell_w == cols) {
    return has_cpu_kernel(maps)
               ? pool_cpu(maps, cell, cell_w, rows, cols)
               : at::avg_pool2d(maps, {cell, cell_w}, {cell, cell_w}, {0, 0}, true, false);
  }
  const at::Tensor down = area_weights(h, rows, maps.options());
  const at::Tensor across = area_weights(w, cols, maps.options());
  return at::matmul(down, at::matmul(maps, across.t()));
}

at::Tensor min_max(const at::Tensor& maps) {
  const at::Tensor low = maps.amin({-2, -1}, true);
  const at::Tensor span = maps.amax({-2, -1}, true) - low;
  return (maps - low) / at::where(span > 1e-5, span, at::ones_like(span));
}

at::Tensor stencil_ops(const at::Tensor& gray) {
  const int64_t h = gray.size(2);
  const int64_t w = gray.size(3);
  const at::Tensor p = at::replication_pad2d(gray, {1, 1, 1, 1});
  const auto at = [&](int64_t y, int64_t x) { return p.narrow(2, y, h).narrow(3, x, w); };
  // Sums along one axis first: [h+2, w] and [h, w+2].
  const at::Tensor across = p.narrow(3, 0, w) + p.narrow(3, 2, w) + p.narrow(3, 1, w) * 2;
  const at::Tensor down = p.narrow(2, 0, h) + p.narrow(2, 2, h) + p.narrow(2, 1, h) * 2;
  const at::Tensor gx = (down.narrow(3, 2, w) - down.narrow(3, 0, w)) * 0.25;
  const at::Tensor gy = (across.narrow(2, 2, h) - across.narrow(2, 0, h)) * 0.25;
  const at::Tensor high = at(0, 1) + at(2, 1) + at(1, 0) + at(1, 2) - at(1, 1) * 4;
  const at::Tensor low =
      (across.narrow(2, 0, h) + across.narrow(2, 2, h) + across.narrow(2, 1, h) * 2) * 0.0625;
  return at::cat({gx, gy, high, low}, 1);
}

at::Tensor stencils(const at::Tensor& gray) {
  return has_cpu_kernel(gray) ? stencils_cpu(gray) : stencil_ops(gray);
}

at::Tensor magnitude(const at::Tensor& a, const at::Tensor& b) {
  return (a * a).addcmul_(b, b).sqrt_();
}

at::Tensor stretch(const at::Tensor& maps, int64_t rows, int64_t cols) {
  if (maps.size(2) == rows && maps.size(3) == cols) return maps;
  return at::upsample_bilinear2d(maps, {rows, cols}, false);
}

namespace {

// Box mean of `size` cells around each cell, over cells that exist.
at::Tensor box(const at::Tensor& maps, int64_t size) {
  return at::avg_pool2d(maps, {size, size}, {1, 1}, {size / 2, size / 2}, false, false);
}

}  // namespace

at::Tensor normalised_edges(const at::Tensor& gray) {
  // Local statistics are smooth: taken on a grid of 4 pixels over 5x5 cells, then stretched back.
  const int64_t h = gray.size(2);
  const int64_t w = gray.size(3);
  const int64_t rows = (h + 3) / 4;
  const int64_t cols = (w + 3) / 4;
  const at::Tensor moments =
      stretch(box(area_pool(at::cat({gray, gray * gray}, 1), rows, cols), 5), h, w);
  const at::Tensor mean = moments.narrow(1, 0, 1);
  const at::Tensor deviation =
      (moments.narrow(1, 1, 1) - mean * mean).clamp_min_(0).sqrt_().add_(0.02);
  const at::Tensor edges = stencils((gray - mean).div_(deviation));
  const at::Tensor m = magnitude(edges.narrow(1, 0, 1), edges.narrow(1, 1, 1));
  return m / (m + 1.0);
}

at::Tensor saliency(const at::Tensor& rgb) {
  const int64_t longest = std::max(rgb.size(2), rgb.size(3));
  const int64_t cell = std::max<int64_t>(1, (longest + 127) / 128);
  const int64_t rows = (rgb.size(2) + cell - 1) / cell;
  const int64_t cols = (rgb.size(3) + cell - 1) / cell;
  const at::Tensor lab = rgb_to_lab(area_pool(rgb, rows, cols));
  std::vector<at::Tensor> scale = {lab};
  for (int64_t size = 2; size <= 32; size *= 2) {
    const at::Tensor& last = scale.back();
    if (std::max(last.size(2), last.size(3)) < 2) break;
    const int64_t down = std::min<int64_t>(2, last.size(2));
    const int64_t across = std::min<int64_t>(2, last.size(3));
    scale.push_back(at::avg_pool2d(last, {down, across}, {down, across}, {0, 0}, true, false));
  }
  // The last surround is the whole picture's mean colour: what is unlike everything stands out.
  at::Tensor sum =
      (stretch(scale[std::min<size_t>(1, scale.size() - 1)], rows, cols) - lab.mean({2, 3}, true))
          .abs_()
          .sum(1, true);
  for (const auto& [centre, surround] : {std::pair<size_t, size_t>{0, 3}, {0, 4}, {1, 4}, {1, 5}}) {
    if (surround >= scale.size()) continue;
    // Blurred, so that a surround does not depend on how objects fall on its grid.
    const at::Tensor around = stretch(box(scale[surround], 3), rows, cols);
    sum = sum + (stretch(scale[centre], rows, cols) - around).abs_().sum(1, true);
  }
  return min_max(sum);
}

at::Tensor coordinates(int64_t rows, int64_t cols, const at::TensorOptions& like) {
  const auto axis = [&](int64_t n) {
    return n == 1 ? at::full({1}, 0.5, like) : at::linspace(0.0, 1.0, n, like);
  };
  const at::Tensor x = axis(cols).reshape({1, cols}).expand({rows, cols});
  const at::Tensor y = axis(rows).reshape({rows, 1}).expand({rows, cols});
  const at::Tensor far = magnitude(x - 0.5, y - 0.5) / 0.70710678;
  return at::stack({x, y, far});
}

}  // namespace arrcoc::texture
