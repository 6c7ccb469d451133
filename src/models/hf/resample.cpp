#include "models/hf/resample.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace arrcoc::hf {
namespace {

constexpr int kBits = 32 - 8 - 2;  // of the fraction: 8-bit samples times a sum near 1, plus a sign

double sinc(double x) { return x == 0 ? 1.0 : std::sin(x * M_PI) / (x * M_PI); }

// Of each filter, in the order of the enumeration.
constexpr double kSupport[] = {0, 3, 1, 2, 0.5, 1};

double value_of(Filter filter, double x) {
  switch (filter) {
    case Filter::box:
      return x > -0.5 && x <= 0.5 ? 1 : 0;
    case Filter::bilinear:
      return std::max(0.0, 1 - std::abs(x));
    case Filter::hamming:
      x = std::abs(x);
      return x >= 1 ? 0 : sinc(x) * (0.54 + 0.46 * std::cos(x * M_PI));
    case Filter::bicubic: {
      constexpr double a = -0.5;  // Keys' kernel
      x = std::abs(x);
      if (x < 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
      return x < 2 ? (((x - 5) * x + 8) * x - 4) * a : 0;
    }
    case Filter::lanczos:
      return std::abs(x) < 3 ? sinc(x) * sinc(x / 3) : 0;
    case Filter::nearest:
      return 0;
  }
  return 0;
}

// For every output sample: the first input sample and the fixed-point weights from there on.
struct Taps {
  std::vector<int64_t> first;
  std::vector<int64_t> count;
  std::vector<int32_t> weights;  // [out, width]
  int64_t width = 0;
};

Taps taps_of(int64_t in, int64_t out, Filter filter) {
  double scale = static_cast<double>(in) / static_cast<double>(out);
  double stretch = std::max(scale, 1.0);
  double support = kSupport[static_cast<int>(filter)] * stretch;
  Taps taps;
  taps.width = static_cast<int64_t>(std::ceil(support)) * 2 + 1;
  taps.weights.assign(static_cast<size_t>(out * taps.width), 0);
  std::vector<double> raw(static_cast<size_t>(taps.width));
  for (int64_t i = 0; i < out; ++i) {
    double centre = (static_cast<double>(i) + 0.5) * scale;
    int64_t begin = std::max<int64_t>(0, static_cast<int64_t>(centre - support + 0.5));
    int64_t end = std::min(in, static_cast<int64_t>(centre + support + 0.5));
    double sum = 0;
    for (int64_t x = begin; x < end; ++x) {
      double weight = value_of(filter, (static_cast<double>(x) - centre + 0.5) / stretch);
      raw[static_cast<size_t>(x - begin)] = weight;
      sum += weight;
    }
    for (int64_t k = 0; k < end - begin; ++k) {
      double weight = raw[static_cast<size_t>(k)];
      if (sum != 0) weight /= sum;
      double fixed = weight * (1 << kBits);
      taps.weights[static_cast<size_t>(i * taps.width + k)] =
          static_cast<int32_t>(fixed < 0 ? fixed - 0.5 : fixed + 0.5);
    }
    taps.first.push_back(begin);
    taps.count.push_back(end - begin);
  }
  return taps;
}

uint8_t clip8(int32_t sum) { return static_cast<uint8_t>(std::clamp(sum >> kBits, 0, 255)); }

at::Tensor along_width(const at::Tensor& in, int64_t width, Filter filter) {
  Taps taps = taps_of(in.size(2), width, filter);
  at::Tensor out = at::empty({in.size(0), in.size(1), width}, in.options());
  const uint8_t* from = in.data_ptr<uint8_t>();
  uint8_t* to = out.data_ptr<uint8_t>();
  int64_t stride = in.size(2);
  at::parallel_for(0, in.size(0) * in.size(1), 64, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      for (int64_t x = 0; x < width; ++x) {
        auto at = static_cast<size_t>(x);
        const uint8_t* samples = from + row * stride + taps.first[at];
        const int32_t* weights = taps.weights.data() + x * taps.width;
        int32_t sum = 1 << (kBits - 1);
        for (int64_t k = 0; k < taps.count[at]; ++k) sum += samples[k] * weights[k];
        to[row * width + x] = clip8(sum);
      }
    }
  });
  return out;
}

at::Tensor along_height(const at::Tensor& in, int64_t height, Filter filter) {
  Taps taps = taps_of(in.size(1), height, filter);
  int64_t width = in.size(2);
  at::Tensor out = at::empty({in.size(0), height, width}, in.options());
  const uint8_t* from = in.data_ptr<uint8_t>();
  uint8_t* to = out.data_ptr<uint8_t>();
  at::parallel_for(0, in.size(0) * height, 16, [&](int64_t begin, int64_t end) {
    std::vector<int32_t> sums(static_cast<size_t>(width));
    for (int64_t row = begin; row < end; ++row) {
      int64_t y = row % height;
      auto at = static_cast<size_t>(y);
      const uint8_t* plane = from + (row / height * in.size(1) + taps.first[at]) * width;
      std::fill(sums.begin(), sums.end(), 1 << (kBits - 1));
      for (int64_t k = 0; k < taps.count[at]; ++k) {
        int32_t weight = taps.weights[static_cast<size_t>(y * taps.width + k)];
        for (int64_t x = 0; x < width; ++x)
          sums[static_cast<size_t>(x)] += plane[k * width + x] * weight;
      }
      for (int64_t x = 0; x < width; ++x) to[row * width + x] = clip8(sums[static_cast<size_t>(x)]);
    }
  });
  return out;
}

at::Tensor nearest(const at::Tensor& in, int64_t height, int64_t width) {
  auto index = [](int64_t from, int64_t to) {
    double scale = static_cast<double>(from) / static_cast<double>(to);
    return ((at::arange(to, at::kDouble) + 0.5) * scale).floor().to(at::kLong).clamp(0, from - 1);
  };
  return in.index_select(1, index(in.size(1), height)).index_select(2, index(in.size(2), width));
}

}  // namespace

at::Tensor resample(const at::Tensor& rgb, int64_t height, int64_t width, Filter filter) {
  at::Tensor out = rgb.contiguous();
  if (filter == Filter::nearest) return nearest(out, height, width);
  if (width != out.size(2)) out = along_width(out, width, filter);
  if (height != out.size(1)) out = along_height(out, height, filter);
  return out;
}

}  // namespace arrcoc::hf
