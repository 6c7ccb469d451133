#include "picture/area.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace arrcoc {

namespace {

// New pixel i covers the source interval [i*step, (i+1)*step): first and last source pixel with the
// share of each that is covered; everything between is covered whole.
struct Span {
  int64_t first, last;  // inclusive
  float first_share, last_share;
};

std::vector<Span> spans(int64_t from, int64_t to) {
  std::vector<Span> out(to);
  const double step = static_cast<double>(from) / static_cast<double>(to);
  for (int64_t i = 0; i < to; ++i) {
    const double a = i * step;
    const double b = std::min<double>(from, (i + 1) * step);
    Span s{};
    s.first = std::min<int64_t>(from - 1, static_cast<int64_t>(a + 1e-9));
    s.last = std::clamp<int64_t>(static_cast<int64_t>(std::ceil(b - 1e-9)) - 1, s.first, from - 1);
    if (s.first == s.last) {
      s.first_share = static_cast<float>(b - a);
      s.last_share = 0;
    } else {
      s.first_share = static_cast<float>(s.first + 1 - a);
      s.last_share = static_cast<float>(b - s.last);
    }
    out[i] = s;
  }
  return out;
}

void add_row(const uint8_t* row, int64_t width, float share, std::vector<float>& sum) {
  for (int64_t x = 0; x < width; ++x) sum[x] += share * static_cast<float>(row[x]);
}

void shrink_row(const std::vector<float>& sum, const std::vector<Span>& across, float scale,
                float* out) {
  for (size_t i = 0; i < across.size(); ++i) {
    const Span& s = across[i];
    float v = sum[s.first] * s.first_share;
    for (int64_t x = s.first + 1; x < s.last; ++x) v += sum[x];
    v += sum[s.last] * s.last_share;
    out[i] = v * scale;
  }
}

}  // namespace

at::Tensor area_mean(const at::Tensor& rgb, int64_t height, int64_t width) {
  const int64_t from_h = rgb.size(1);
  const int64_t from_w = rgb.size(2);
  if (from_h == height && from_w == width) return rgb.to(at::kFloat);
  const std::vector<Span> down = spans(from_h, height);
  const std::vector<Span> across = spans(from_w, width);
  const float scale = static_cast<float>(static_cast<double>(height) * width /
                                         (static_cast<double>(from_h) * from_w));
  at::Tensor out = at::empty({3, height, width}, at::kFloat);
  const uint8_t* source = rgb.data_ptr<uint8_t>();
  float* target = out.data_ptr<float>();
  at::parallel_for(0, 3 * height, 8, [&](int64_t begin, int64_t end) {
    std::vector<float> sum(from_w);
    for (int64_t k = begin; k < end; ++k) {
      const int64_t plane = k / height;
      const Span& s = down[k % height];
      std::fill(sum.begin(), sum.end(), 0.0F);
      for (int64_t y = s.first; y <= s.last; ++y) {
        const float share = y == s.first ? s.first_share : (y == s.last ? s.last_share : 1.0F);
        add_row(source + (plane * from_h + y) * from_w, from_w, share, sum);
      }
      shrink_row(sum, across, scale, target + k * width);
    }
  });
  return out;
}

}  // namespace arrcoc
