#include <ATen/ATen.h>

#include <algorithm>

#include "arrcoc/temporal.h"

namespace arrcoc::temporal {

namespace {

constexpr int kThumb = 160;

// Means of k x k samples; `step` samples lie between horizontal neighbours (1 planar, 3
// interleaved). Rows are summed first: that loop runs over memory in order.
void shrink(const Samples& from, int step, int k, int width, int height, uint8_t* out) {
  const int across = width * k * step;
  const int area = k * k;
  std::vector<uint32_t> sums(static_cast<size_t>(across));
  for (int y = 0; y < height; ++y) {
    std::fill(sums.begin(), sums.end(), 0);
    for (int v = 0; v < k; ++v) {
      const uint8_t* row = from.data + (static_cast<int64_t>(y) * k + v) * from.stride;
      for (int i = 0; i < across; ++i) sums[static_cast<size_t>(i)] += row[i];
    }
    for (int x = 0; x < width; ++x) {
      for (int c = 0; c < step; ++c) {
        uint32_t sum = 0;
        for (int u = 0; u < k; ++u) sum += sums[static_cast<size_t>((x * k + u) * step + c)];
        const int place = step == 3 && from.bgr ? 2 - c : c;
        out[(static_cast<int64_t>(y) * width + x) * 3 + place] = static_cast<uint8_t>(
            (sum + static_cast<uint32_t>(area) / 2) / static_cast<uint32_t>(area));
      }
    }
  }
}

Thumb empty_thumb(int width, int height, int k) {
  Thumb out;
  out.width = width / k;
  out.height = std::max(1, height / k);
  out.width = std::max(1, out.width);
  out.rgb.resize(static_cast<size_t>(out.width) * out.height * 3);
  return out;
}

}  // namespace

// A very thin frame keeps its pixels: there must be k of them on the shorter side as well.
int thumb_factor(int width, int height) {
  return std::max(1, std::min(std::max(width, height) / kThumb, std::min(width, height)));
}

Thumb thumb_of(const Samples& frame) {
  const int k = thumb_factor(frame.width, frame.height);
  Thumb out = empty_thumb(frame.width, frame.height, k);
  shrink(frame, 3, k, out.width, out.height, out.rgb.data());
  return out;
}

Thumb thumb_of(const Picture& picture) {
  const int width = picture.width(), height = picture.height();
  const int k = thumb_factor(width, height);
  Thumb out = empty_thumb(width, height, k);
  for (int c = 0; c < 3; ++c) {
    const Samples plane{picture.rgb.data_ptr<uint8_t>() + static_cast<int64_t>(c) * width * height,
                        width, height, width, false};
    shrink(plane, 1, k, out.width, out.height, out.rgb.data() + c);
  }
  return out;
}

}  // namespace arrcoc::temporal
