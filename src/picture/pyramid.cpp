#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <algorithm>
#include <map>
#include <mutex>

#include "arrcoc/error.h"
#include "arrcoc/picture.h"

namespace arrcoc {

namespace {

// 2x2 mean, rounded half up; at the last odd row or column only pixels that exist are averaged.
at::Tensor halve(const at::Tensor& rgb) {
  const int64_t h = rgb.size(1);
  const int64_t w = rgb.size(2);
  const int64_t oh = (h + 1) / 2;
  const int64_t ow = (w + 1) / 2;
  at::Tensor out = at::empty({3, oh, ow}, at::kByte);
  const uint8_t* source = rgb.data_ptr<uint8_t>();
  uint8_t* target = out.data_ptr<uint8_t>();
  at::parallel_for(0, 3 * oh, 64, [&](int64_t begin, int64_t end) {
    for (int64_t k = begin; k < end; ++k) {
      const int64_t plane = k / oh;
      const int64_t y = (k % oh) * 2;
      const uint8_t* a = source + (plane * h + y) * w;
      // A missing second row repeats the first: the mean of what exists.
      const uint8_t* b = y + 1 < h ? a + w : a;
      uint8_t* o = target + k * ow;
      const int64_t whole = w / 2;
      for (int64_t x = 0; x < whole; ++x) {
        o[x] = static_cast<uint8_t>((a[2 * x] + a[2 * x + 1] + b[2 * x] + b[2 * x + 1] + 2) >> 2);
      }
      if (w % 2 != 0) o[ow - 1] = static_cast<uint8_t>((a[w - 1] + b[w - 1] + 1) >> 1);
    }
  });
  return out;
}

at::Tensor enlarge(const at::Tensor& rgb) {
  at::Tensor big = at::upsample_bilinear2d(rgb.unsqueeze(0).to(at::kFloat),
                                           {rgb.size(1) * 2, rgb.size(2) * 2}, false);
  return big.squeeze(0).round_().clamp_(0, 255).to(at::kByte);
}

// Flat pixel indices [N, size, size] of windows that start at (y0[i], x0[i]); coordinates outside
// the h x w plane are clamped, which repeats the border.
at::Tensor windows(const std::vector<int64_t>& y0, const std::vector<int64_t>& x0, int64_t size,
                   int64_t h, int64_t w) {
  const auto n = static_cast<int64_t>(y0.size());
  at::Tensor index = at::empty({n, size, size}, at::kLong);
  int64_t* out = index.data_ptr<int64_t>();
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t y = 0; y < size; ++y) {
      const int64_t row = std::clamp<int64_t>(y0[i] + y, 0, h - 1) * w;
      for (int64_t x = 0; x < size; ++x) {
        *out++ = row + std::clamp<int64_t>(x0[i] + x, 0, w - 1);
      }
    }
  }
  return index;
}

at::Tensor gather(const at::Tensor& rgb, const at::Tensor& index) {
  const int64_t n = index.size(0);
  const int64_t size = index.size(1);
  return rgb.reshape({3, -1})
      .index_select(1, index.reshape({-1}))
      .reshape({3, n, size, size})
      .transpose(0, 1)
      .contiguous();
}

}  // namespace

struct Pyramid::Levels {
  std::mutex mutex;
  std::map<int, at::Tensor> built;
};

Pyramid::Pyramid(Picture picture, int finest)
    : picture_(std::move(picture)), levels_(std::make_shared<Levels>()) {
  if (!picture_.rgb.defined()) throw Error(ErrorCode::bad_image, "[Pyramid] no picture");
  if (finest != 0 && finest != kFinestEver) {
    throw Error(ErrorCode::bad_argument, "[Pyramid] finest level must be 0 or -1");
  }
  geometry_ = Geometry{picture_.width(), picture_.height(), finest};
}

at::Tensor Pyramid::level(int level) const {
  if (level < geometry_.finest || level > geometry_.coarsest()) {
    throw Error(ErrorCode::bad_argument, "[Pyramid] level " + std::to_string(level) +
                                             " does not exist; levels " +
                                             std::to_string(geometry_.finest) + " to " +
                                             std::to_string(geometry_.coarsest()));
  }
  std::lock_guard<std::mutex> lock(levels_->mutex);
  auto& built = levels_->built;
  if (built.empty()) built[0] = picture_.rgb;
  if (level < 0 && built.count(level) == 0) built[level] = enlarge(built[0]);
  for (int l = 1; l <= level; ++l) {
    if (built.count(l) == 0) built[l] = halve(built[l - 1]);
  }
  return built[level];
}

at::Tensor Pyramid::patches(int level, const std::vector<int64_t>& rows,
                            const std::vector<int64_t>& cols, int margin) const {
  if (rows.size() != cols.size()) {
    throw Error(ErrorCode::bad_argument, "[Pyramid] as many rows as columns are needed");
  }
  if (margin < 0 || margin % 2 != 0) {
    throw Error(ErrorCode::bad_argument, "[Pyramid] a margin is even and not negative");
  }
  std::vector<int64_t> y0(rows.size());
  std::vector<int64_t> x0(cols.size());
  const int64_t step = level < 0 ? kPatch / 2 : kPatch;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (!geometry_.exists(level, static_cast<int>(rows[i]), static_cast<int>(cols[i]))) {
      throw Error(ErrorCode::bad_argument, "[Pyramid] no cell (" + std::to_string(rows[i]) + "," +
                                               std::to_string(cols[i]) + ") at level " +
                                               std::to_string(level));
    }
    y0[i] = rows[i] * step - (level < 0 ? margin / 2 : margin);
    x0[i] = cols[i] * step - (level < 0 ? margin / 2 : margin);
  }
  if (level >= 0) {
    const at::Tensor rgb = this->level(level);
    return gather(rgb, windows(y0, x0, kPatch + 2 * margin, rgb.size(1), rgb.size(2)));
  }
  // Level -1 is never built whole for patches: 8x8 windows with one pixel around, enlarged, give
  // the same values as enlarging the picture.
  for (size_t i = 0; i < y0.size(); ++i) {
    --y0[i];
    --x0[i];
  }
  const at::Tensor& rgb = picture_.rgb;
  const int64_t window = step + margin + 2;
  const int64_t wanted = kPatch + 2 * margin;
  at::Tensor small = gather(rgb, windows(y0, x0, window, rgb.size(1), rgb.size(2)));
  at::Tensor big = at::upsample_bilinear2d(small.to(at::kFloat), {2 * window, 2 * window}, false);
  return big.slice(2, 2, 2 + wanted).slice(3, 2, 2 + wanted).round().clamp_(0, 255).to(at::kByte);
}

}  // namespace arrcoc
