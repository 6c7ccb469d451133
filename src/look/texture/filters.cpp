#include "look/texture/filters.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "arrcoc/error.h"
#include "arrcoc/texture.h"
#include "look/texture/cpu_kernels.h"

namespace arrcoc::texture {

namespace {

// Small constants, kept per device and type: building them anew would cost a blocking copy to the
// GPU in every call. The names are those of the functions that make them.
at::Tensor kept(const std::string& name, const at::Tensor& like, at::Tensor (*make)()) {
  static std::mutex mutex;
  static std::map<std::string, at::Tensor> made;
  const std::string key =
      name + like.device().str() + std::to_string(static_cast<int>(like.scalar_type()));
  std::lock_guard<std::mutex> lock(mutex);
  at::Tensor& constant = made[key];
  if (!constant.defined()) constant = make().to(like.options());
  return constant;
}

constexpr double kRec709[3] = {0.2126, 0.7152, 0.0722};
constexpr double kGamma = 2.4;
constexpr double kDelta = 6.0 / 29.0;

// c * linear sRGB to XYZ / D65 white, with c = 1.055^2.4: see rgb_to_lab.
at::Tensor xyz_matrix() {
  return at::tensor(
             {0.4124564 / 0.95047, 0.3575761 / 0.95047, 0.1804375 / 0.95047, 0.2126729, 0.7151522,
              0.0721750, 0.0193339 / 1.08883, 0.1191920 / 1.08883, 0.9503041 / 1.08883},
             at::kDouble)
      .reshape({3, 3})
      .div_(std::pow(1.055, kGamma));
}

// (fx, fy, fz) -> L = 116 fy - 16, / 100; a = 500 (fx - fy), b = 200 (fy - fz), both / 128.
at::Tensor lab_matrix() {
  constexpr double kA = 500.0 / 128.0;
  constexpr double kB = 200.0 / 128.0;
  return at::tensor({0.0, 1.16, 0.0, kA, -kA, 0.0, 0.0, kB, -kB}, at::kDouble).reshape({1, 3, 3});
}
at::Tensor lab_offset() { return at::tensor({-0.16, 0.0, 0.0}, at::kDouble).reshape({1, 3, 1}); }

// Sobel x / 4, Sobel y / 4, 4-neighbour Laplacian, [3,1,3,3].
at::Tensor stencil_weights() {
  return at::tensor({-.25, 0.,  .25,  -.5, 0.,  .5, -.25, 0., .25,  //
                     -.25, -.5, -.25, 0.,  0.,  0., .25,  .5, .25,  //
                     0.,   1.,  0.,   1.,  -4., 1., 0.,   1., 0.},
                    at::kDouble)
      .reshape({3, 1, 3, 3});
}
at::Tensor gradient_weights() { return stencil_weights().narrow(0, 0, 2).contiguous(); }

// Straight from RGB: luma twice, then the three stencils of luma, [5,3,3,3].
at::Tensor outline_weights() {
  at::Tensor centre = at::zeros({2, 1, 3, 3}, at::kDouble);
  centre.select(2, 1).select(2, 1).fill_(1);
  const at::Tensor luma = at::tensor({kRec709[0], kRec709[1], kRec709[2]}, at::kDouble);
  return (at::cat({centre, stencil_weights()}, 0) * luma.reshape({1, 3, 1, 1})).contiguous();
}

// One launch for all filters; the border is replicated. Never in TF32, whose 10 bits would show.
at::Tensor convolve(const at::Tensor& maps, const at::Tensor& weights) {
  return at::_convolution(at::replication_pad2d(maps, {1, 1, 1, 1}), weights, {}, {1, 1}, {0, 0},
                          {1, 1}, false, {0, 0}, 1, /*benchmark=*/false, /*deterministic=*/true,
                          /*cudnn_enabled=*/true, /*allow_tf32=*/false);
}

}  // namespace

at::Tensor luma(const at::Tensor& rgb) {
  if (has_cpu_kernel(rgb)) return luma_cpu(rgb);
  // In place on one fresh plane: three passes, no temporary.
  at::Tensor y = rgb.narrow(1, 0, 1) * kRec709[0];
  y.add_(rgb.narrow(1, 1, 1), kRec709[1]);
  return y.add_(rgb.narrow(1, 2, 1), kRec709[2]);
}

at::Tensor rgb_to_lab(const at::Tensor& rgb) {
  return has_cpu_kernel(rgb) ? rgb_to_lab_cpu(rgb) : rgb_to_lab_ops(rgb);
}

at::Tensor rgb_to_lab_ops(const at::Tensor& rgb) {
  // linear = x / 12.92 or ((x + 0.055) / 1.055)^2.4; times 1.055^2.4, the second form is a power
  // without a division, and the matrix takes the factor back.
  const at::Tensor linear = at::where(rgb <= 0.04045, rgb * (std::pow(1.055, kGamma) / 12.92),
                                      (rgb + 0.055).pow_(kGamma));
  const at::Tensor xyz = at::matmul(kept("xyz", rgb, xyz_matrix), linear.flatten(2));
  // f = cube root, or a line near black, where the root's slope would be endless.
  const at::Tensor line = at::add(at::scalar_tensor(4.0 / 29.0, xyz.options().device(at::kCPU)),
                                  xyz, 1.0 / (3 * kDelta * kDelta));
  const at::Tensor root =
      (xyz.requires_grad() ? xyz.clamp_min(1e-9) : xyz).pow(1.0 / 3.0);  // no slope at zero
  const at::Tensor f = at::where(xyz > kDelta * kDelta * kDelta, root, line);
  return at::baddbmm(kept("offset", rgb, lab_offset),
                     kept("lab", rgb, lab_matrix).expand({rgb.size(0), 3, 3}), f)
      .reshape(rgb.sizes());
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
  const Cell cell = whole_cells(h, w, rows, cols);
  if (cell.height > 0) {
    return has_cpu_kernel(maps) ? pool_cpu(maps, cell, rows, cols)
                                : at::avg_pool2d(maps, {cell.height, cell.width},
                                                 {cell.height, cell.width}, {0, 0}, true, false);
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

at::Tensor pooled_luma(const at::Tensor& rgb, int64_t rows, int64_t cols) {
  const Cell cell = whole_cells(rgb.size(2), rgb.size(3), rows, cols);
  if (cell.height > 0 && has_cpu_kernel(rgb)) return pooled_luma_cpu(rgb, cell, rows, cols);
  return area_pool(luma(rgb), rows, cols);
}

at::Tensor stencil_ops(const at::Tensor& gray) {
  return convolve(gray, kept("stencils", gray, stencil_weights));
}

at::Tensor outline_ops(const at::Tensor& rgb) {
  return convolve(rgb, kept("outlines", rgb, outline_weights));
}

at::Tensor gradients(const at::Tensor& gray) {
  if (has_cpu_kernel(gray)) return stencils_cpu(gray).narrow(1, 0, 2);
  return convolve(gray, kept("gradients", gray, gradient_weights));
}

at::Tensor stencils(const at::Tensor& gray) {
  return has_cpu_kernel(gray) ? stencils_cpu(gray) : stencil_ops(gray);
}

at::Tensor magnitude(const at::Tensor& a, const at::Tensor& b) { return at::hypot(a, b); }

at::Tensor stretch(const at::Tensor& maps, int64_t rows, int64_t cols) {
  if (maps.size(2) == rows && maps.size(3) == cols) return maps;
  if (!has_cpu_kernel(maps)) return at::upsample_bilinear2d(maps, {rows, cols}, false);
  at::Tensor out = at::empty({maps.size(0), maps.size(1), rows, cols}, maps.options());
  stretch_cpu(maps.flatten(0, 1), rows, cols, out.data_ptr<float>());
  return out;
}

namespace {

// Box mean of `size` cells around each cell, over cells that exist.
at::Tensor box(const at::Tensor& maps, int64_t size) {
  if (has_cpu_kernel(maps)) return box_cpu(maps, size);
  return at::avg_pool2d(maps, {size, size}, {1, 1}, {size / 2, size / 2}, false, false);
}

// Local statistics are smooth: they are taken over 5x5 cells of 4 pixels and stretched back.
constexpr int64_t kLocalCell = 4;
constexpr int64_t kLocalBox = 5;

struct LocalGrid {
  int64_t rows, cols;
};
LocalGrid local_grid(const at::Tensor& gray) {
  return {(gray.size(2) + kLocalCell - 1) / kLocalCell,
          (gray.size(3) + kLocalCell - 1) / kLocalCell};
}

}  // namespace

at::Tensor local_moments(const at::Tensor& gray) {
  const LocalGrid grid = local_grid(gray);
  const Cell cell = whole_cells(gray.size(2), gray.size(3), grid.rows, grid.cols);
  if (has_cpu_kernel(gray) && cell.height > 0) {
    return box(moments_cpu(gray, cell, grid.rows, grid.cols), kLocalBox);
  }
  return box(area_pool(at::cat({gray, gray * gray}, 1), grid.rows, grid.cols), kLocalBox);
}

at::Tensor normalised_gradient_ops(const at::Tensor& pair) {
  const LocalGrid grid = local_grid(pair);
  const at::Tensor moments =
      stretch(box(area_pool(pair, grid.rows, grid.cols), kLocalBox), pair.size(2), pair.size(3));
  const at::Tensor mean = moments.narrow(1, 0, 1);
  const at::Tensor deviation =
      at::addcmul(moments.narrow(1, 1, 1), mean, mean, -1).clamp_min_(0).sqrt_().add_(0.02);
  const at::Tensor edges = gradients((pair.narrow(1, 0, 1) - mean).div_(deviation));
  return magnitude(edges.narrow(1, 0, 1), edges.narrow(1, 1, 1));
}

at::Tensor normalised_edges(const at::Tensor& gray) {
  if (!has_cpu_kernel(gray)) {
    const at::Tensor m = normalised_gradient_ops(at::cat({gray, gray * gray}, 1));
    return m / (m + 1.0);
  }
  const at::Tensor in = gray.contiguous();
  const at::Tensor moments = local_moments(in);
  at::Tensor out = at::empty_like(in);
  const int64_t plane = in.size(2) * in.size(3);
  for (int64_t b = 0; b < in.size(0); ++b) {
    normalised_edges_cpu(in.data_ptr<float>() + b * plane, moments[b], in.size(2), in.size(3),
                         out.data_ptr<float>() + b * plane);
  }
  return out;
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
