#include "texture/filters.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <string>
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

namespace {

// out = a - b, into a part of a larger tensor.
void subtract_into(at::Tensor out, const at::Tensor& a, const at::Tensor& b) {
  at::sub_out(out, a, b);
}

// Linear sRGB to XYZ, rows divided by the D65 white point. Kept per device: building it anew would
// cost a blocking copy to the GPU in every call.
at::Tensor xyz_matrix(const at::Tensor& like) {
  static std::mutex mutex;
  static std::map<std::string, at::Tensor> made;
  const std::string key =
      like.device().str() + std::to_string(static_cast<int>(like.scalar_type()));
  std::lock_guard<std::mutex> lock(mutex);
  at::Tensor& matrix = made[key];
  if (!matrix.defined()) {
    matrix = at::tensor({0.4124564 / 0.95047, 0.3575761 / 0.95047, 0.1804375 / 0.95047, 0.2126729,
                         0.7151522, 0.0721750, 0.0193339 / 1.08883, 0.1191920 / 1.08883,
                         0.9503041 / 1.08883},
                        at::kDouble)
                 .to(like.options())
                 .reshape({3, 3});
  }
  return matrix;
}

}  // namespace

at::Tensor rgb_to_lab(const at::Tensor& rgb) {
  const at::Tensor linear =
      at::where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055).pow_(2.4));
  const at::Tensor xyz = at::matmul(xyz_matrix(rgb), linear.flatten(2)).reshape(rgb.sizes());
  constexpr double kDelta = 6.0 / 29.0;
  const at::Tensor f =
      at::where(xyz > kDelta * kDelta * kDelta, xyz.clamp_min(1e-9).pow_(1.0 / 3.0),
                (xyz / (3 * kDelta * kDelta)).add_(4.0 / 29.0));
  // a = 500 (fx - fy), b = 200 (fy - fz), both / 128; L = 116 fy - 16, / 100.
  at::Tensor lab = at::empty_like(f);
  subtract_into(lab.narrow(1, 1, 2), f.narrow(1, 0, 2), f.narrow(1, 1, 2));
  lab.narrow(1, 0, 1).copy_(f.narrow(1, 1, 1)).mul_(1.16).sub_(0.16);
  lab.narrow(1, 1, 1).mul_(500.0 / 128.0);
  lab.narrow(1, 2, 1).mul_(200.0 / 128.0);
  return lab;
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
  const auto [low, high] = at::aminmax(maps.flatten(2), 2, true);
  const at::Tensor base = low.unsqueeze(3);
  // A map without contrast stays zero instead of showing its rounding errors.
  return (maps - base).div_((high - low).clamp_min_(1e-5).unsqueeze(3));
}

at::Tensor stencil_ops(const at::Tensor& gray) {
  const int64_t h = gray.size(2);
  const int64_t w = gray.size(3);
  const at::Tensor p = at::replication_pad2d(gray, {1, 1, 1, 1});
  const auto at = [&](int64_t y, int64_t x) { return p.narrow(2, y, h).narrow(3, x, w); };
  // Sums along one axis first, [h+2, w] and [h, w+2], then in place: every op is a kernel launch.
  const at::Tensor across = (p.narrow(3, 0, w) + p.narrow(3, 2, w)).add_(p.narrow(3, 1, w), 2);
  const at::Tensor down = (p.narrow(2, 0, h) + p.narrow(2, 2, h)).add_(p.narrow(2, 1, h), 2);
  at::Tensor out = at::empty({gray.size(0), 4, h, w}, gray.options());
  subtract_into(out.narrow(1, 0, 1), down.narrow(3, 2, w), down.narrow(3, 0, w));
  subtract_into(out.narrow(1, 1, 1), across.narrow(2, 2, h), across.narrow(2, 0, h));
  out.narrow(1, 0, 2).mul_(0.25);
  // Laplacian = cross sum - 4 centre.
  at::Tensor high = out.narrow(1, 2, 1);
  at::add_out(high, at(0, 1), at(2, 1));
  high.add_(at(1, 0)).add_(at(1, 2)).sub_(at(1, 1), 4);
  at::Tensor low = out.narrow(1, 3, 1);
  at::add_out(low, across.narrow(2, 0, h), across.narrow(2, 2, h));
  low.add_(across.narrow(2, 1, h), 2).mul_(0.0625);
  return out;
}

at::Tensor gradients(const at::Tensor& gray) {
  if (has_cpu_kernel(gray)) return stencils_cpu(gray).narrow(1, 0, 2);
  const int64_t h = gray.size(2);
  const int64_t w = gray.size(3);
  const at::Tensor p = at::replication_pad2d(gray, {1, 1, 1, 1});
  const at::Tensor across = (p.narrow(3, 0, w) + p.narrow(3, 2, w)).add_(p.narrow(3, 1, w), 2);
  const at::Tensor down = (p.narrow(2, 0, h) + p.narrow(2, 2, h)).add_(p.narrow(2, 1, h), 2);
  at::Tensor out = at::empty({gray.size(0), 2, h, w}, gray.options());
  subtract_into(out.narrow(1, 0, 1), down.narrow(3, 2, w), down.narrow(3, 0, w));
  subtract_into(out.narrow(1, 1, 1), across.narrow(2, 2, h), across.narrow(2, 0, h));
  return out.mul_(0.25);
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
  const at::Tensor edges = gradients((gray - mean).div_(deviation));
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
  // |centre - surround| over pairs of scales. Surrounds are blurred, so that they do not depend on
  // how objects fall on their grid; the last one is the picture's mean colour: what is unlike
  // everything stands out.
  const at::Tensor second = scale.size() > 1 ? stretch(scale[1], rows, cols) : lab;
  std::vector<at::Tensor> centres = {second};
  std::vector<at::Tensor> surrounds = {lab.mean({2, 3}, true).expand_as(lab)};
  for (size_t s = 3; s <= 5 && s < scale.size(); ++s) {
    const at::Tensor around = stretch(box(scale[s], 3), rows, cols);
    if (s <= 4) {
      centres.push_back(lab);
      surrounds.push_back(around);
    }
    if (s >= 4) {
      centres.push_back(second);
      surrounds.push_back(around);
    }
  }
  const at::Tensor sum = (at::cat(centres, 1) - at::cat(surrounds, 1)).abs_().sum(1, true);
  return min_max(sum);
}

at::Tensor coordinates(int64_t rows, int64_t cols, const at::TensorOptions& like) {
  // The same for every picture of a size: kept for the last one, a dozen small kernels otherwise.
  static std::mutex mutex;
  static at::Tensor last;
  std::lock_guard<std::mutex> lock(mutex);
  if (last.defined() && last.size(1) == rows && last.size(2) == cols &&
      last.device() == like.device() && last.dtype() == like.dtype()) {
    return last;
  }
  const auto axis = [&](int64_t n) {
    return n == 1 ? at::full({1}, 0.5, like) : at::linspace(0.0, 1.0, n, like);
  };
  const at::Tensor x = axis(cols).reshape({1, cols}).expand({rows, cols});
  const at::Tensor y = axis(rows).reshape({rows, 1}).expand({rows, cols});
  const at::Tensor far = magnitude(x - 0.5, y - 0.5) / 0.70710678;
  last = at::stack({x, y, far});
  return last;
}

}  // namespace arrcoc::texture
