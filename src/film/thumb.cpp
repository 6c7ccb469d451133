#include <ATen/ATen.h>

#include <algorithm>

#include "arrcoc/film.h"
#include "base/clones.h"

namespace arrcoc::filming {

namespace {

constexpr int kThumb = 160;

// Rows of a cell that are read: every other one where there are enough.
constexpr int rows_read(int k) { return k >= 4 ? (k + 1) / 2 : k; }

// A row of cells from the sums of its columns; kSide: k where it is known, else 0. Where it is the
// compiler knows what it divides by.
template <int kStep, int kSide>
void row_of_cells(const uint16_t* cell, int k, int width, bool bgr, uint8_t* to) {
  const int side = kSide > 0 ? kSide : k;
  const auto area = static_cast<uint32_t>(side * rows_read(side));
  for (int x = 0; x < width; ++x, to += 3) {
    uint32_t sum[kStep] = {};
    for (int u = 0; u < side; ++u, cell += kStep)
      for (int c = 0; c < kStep; ++c) sum[c] += cell[c];
    for (int c = 0; c < kStep; ++c)
      to[kStep == 3 && bgr ? 2 - c : c] = static_cast<uint8_t>((sum[c] + area / 2) / area);
  }
}

ARRCOC_CLONES void add_row(const uint8_t* __restrict row, uint16_t* __restrict sums, int count) {
  for (int i = 0; i < count; ++i) sums[i] = static_cast<uint16_t>(sums[i] + row[i]);
}

// Allowance of k x k samples, of k >= 4 every other row: thumbs are for motion and cuts, and
// decoding is what their cost is measured by. `kStep` samples lie between horizontal neighbours (1
// planar, 3 interleaved). Rows are summed first: that loop runs over memory in order.
template <int kStep>
void shrink(const Samples& from, int k, int width, int height, uint8_t* out) {
  const int across = width * k * kStep;
  const int skip = k >= 4 ? 2 : 1;
  // 16 bits hold the sum of 257 samples; no frame is shrunk by more (see thumb_factor).
  std::vector<uint16_t> sums(static_cast<size_t>(across));
  const auto row = k == 2   ? row_of_cells<kStep, 2>
                   : k == 3 ? row_of_cells<kStep, 3>
                   : k == 4 ? row_of_cells<kStep, 4>
                   : k == 5 ? row_of_cells<kStep, 5>
                   : k == 6 ? row_of_cells<kStep, 6>
                            : row_of_cells<kStep, 0>;
  for (int y = 0; y < height; ++y) {
    std::fill(sums.begin(), sums.end(), 0);
    for (int v = 0; v < k; v += skip)
      add_row(from.data + (static_cast<int64_t>(y) * k + v) * from.stride, sums.data(), across);
    row(sums.data(), k, width, from.bgr, out + static_cast<int64_t>(y) * width * 3);
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
  return std::clamp(std::min(std::max(width, height) / kThumb, std::min(width, height)), 1, 256);
}

Thumb thumb_of(const Samples& frame) {
  const int k = thumb_factor(frame.width, frame.height);
  Thumb out = empty_thumb(frame.width, frame.height, k);
  shrink<3>(frame, k, out.width, out.height, out.rgb.data());
  return out;
}

Thumb thumb_of(const Picture& picture) {
  const int width = picture.width(), height = picture.height();
  const int k = thumb_factor(width, height);
  Thumb out = empty_thumb(width, height, k);
  for (int c = 0; c < 3; ++c) {
    const Samples plane{picture.rgb.data_ptr<uint8_t>() + static_cast<int64_t>(c) * width * height,
                        width, height, width, false};
    shrink<1>(plane, k, out.width, out.height, out.rgb.data() + c);
  }
  return out;
}

}  // namespace arrcoc::filming
