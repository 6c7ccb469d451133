// sRGB to L*a*b* by tables: powers cost more than everything else that is done with a small
// picture.
#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/clones.h"
#include "look/texture/cpu_kernels.h"

namespace arrcoc::texture {

namespace {

// A function on [0,1], linear between kSteps places and beyond both ends. With 2^14 steps the error
// against sRGB's curve stays below 1e-8 and against the cube root of L*a*b* below 3e-7.
constexpr int kSteps = 1 << 14;

class Table {
 public:
  template <class Function>
  explicit Table(Function f) : value_(kSteps + 1), slope_(kSteps + 1) {
    for (int i = 0; i <= kSteps; ++i) value_[i] = static_cast<float>(f(place(i)));
    for (int i = 0; i <= kSteps; ++i) {
      const int at = std::min(i, kSteps - 1);
      slope_[i] = static_cast<float>(f(place(at + 1)) - f(place(at)));
    }
  }
  const float* value() const { return value_.data(); }
  const float* slope() const { return slope_.data(); }

 private:
  static double place(int i) { return static_cast<double>(i) / kSteps; }
  std::vector<float> value_, slope_;
};

const Table& linear_table() {
  static const Table table(
      [](double x) { return x <= 0.04045 ? x / 12.92 : std::pow((x + 0.055) / 1.055, 2.4); });
  return table;
}

const Table& root_table() {
  static const Table table([](double t) {
    constexpr double kDelta = 6.0 / 29.0;
    return t > kDelta * kDelta * kDelta ? std::cbrt(t) : t / (3 * kDelta * kDelta) + 4.0 / 29.0;
  });
  return table;
}

inline float look_up(const float* value, const float* slope, float x) {
  const float at = x * kSteps;
  const int i = std::clamp(static_cast<int>(at), 0, kSteps);
  return value[i] + (at - static_cast<float>(i)) * slope[i];
}

// Linear sRGB to XYZ over the white point of D65.
constexpr float kX[3] = {0.4124564 / 0.95047, 0.3575761 / 0.95047, 0.1804375 / 0.95047};
constexpr float kY[3] = {0.2126729, 0.7151522, 0.0721750};
constexpr float kZ[3] = {0.0193339 / 1.08883, 0.1191920 / 1.08883, 0.9503041 / 1.08883};

struct Tables {
  const float *linear, *linear_slope, *root, *root_slope;
};

ARRCOC_CLONES void lab_row(const float* __restrict r, const float* __restrict g,
                           const float* __restrict b, int64_t n, Tables t, float* __restrict l,
                           float* __restrict a, float* __restrict bb) {
  for (int64_t i = 0; i < n; ++i) {
    const float red = look_up(t.linear, t.linear_slope, r[i]);
    const float green = look_up(t.linear, t.linear_slope, g[i]);
    const float blue = look_up(t.linear, t.linear_slope, b[i]);
    const float x = kX[0] * red + kX[1] * green + kX[2] * blue;
    const float y = kY[0] * red + kY[1] * green + kY[2] * blue;
    const float z = kZ[0] * red + kZ[1] * green + kZ[2] * blue;
    const float fx = look_up(t.root, t.root_slope, x);
    const float fy = look_up(t.root, t.root_slope, y);
    const float fz = look_up(t.root, t.root_slope, z);
    l[i] = 1.16F * fy - 0.16F;
    a[i] = (500.0F / 128.0F) * (fx - fy);
    bb[i] = (200.0F / 128.0F) * (fy - fz);
  }
}

}  // namespace

at::Tensor rgb_to_lab_cpu(const at::Tensor& rgb) {
  const at::Tensor in = rgb.contiguous();
  const int64_t plane = in.size(2) * in.size(3);
  at::Tensor out = at::empty_like(in);
  const Tables tables{linear_table().value(), linear_table().slope(), root_table().value(),
                      root_table().slope()};
  for (int64_t k = 0; k < in.size(0); ++k) {
    const float* from = in.data_ptr<float>() + k * 3 * plane;
    float* to = out.data_ptr<float>() + k * 3 * plane;
    at::parallel_for(0, plane, 4096, [&](int64_t begin, int64_t end) {
      const float* f = from + begin;
      float* t = to + begin;
      lab_row(f, f + plane, f + 2 * plane, end - begin, tables, t, t + plane, t + 2 * plane);
    });
  }
  return out;
}

}  // namespace arrcoc::texture
