#include "arrcoc/picture.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "arrcoc/error.h"
#include "base/clones.h"
#include "picture/area.h"

namespace arrcoc {

namespace {

// Four interleaved multiply-rotate lanes over 64-bit words: a few GB/s, order-dependent.
uint64_t hash_bytes(const uint8_t* data, size_t size, uint64_t seed) {
  constexpr uint64_t kOdd = 0x9E3779B97F4A7C15ULL;
  uint64_t lane[4] = {seed, seed ^ kOdd, seed + kOdd, ~seed};
  size_t i = 0;
  for (; i + 32 <= size; i += 32) {
    uint64_t word[4];
    std::memcpy(word, data + i, 32);
    for (int k = 0; k < 4; ++k) {
      lane[k] = (lane[k] ^ word[k]) * kOdd;
      lane[k] ^= lane[k] >> 29;
    }
  }
  uint64_t h = seed;
  for (; i < size; ++i) h = (h ^ data[i]) * kOdd;
  for (uint64_t l : lane) h = ((h ^ l) * kOdd) ^ (h >> 31);
  return h ^ (h >> 32);
}

ARRCOC_CLONES void unit_row(const uint8_t* __restrict from, int64_t n, float* __restrict to) {
  for (int64_t i = 0; i < n; ++i) to[i] = static_cast<float>(from[i]) / 255.0F;
}

at::Tensor unit_floats(const at::Tensor& rgb) {
  at::Tensor out = zero_pages(rgb.sizes());
  const uint8_t* from = rgb.data_ptr<uint8_t>();
  float* to = out.data_ptr<float>();
  at::parallel_for(0, rgb.numel(), 1 << 16, [&](int64_t begin, int64_t end) {
    unit_row(from + begin, end - begin, to + begin);
  });
  return out;
}

}  // namespace

int Picture::width() const { return rgb.defined() ? static_cast<int>(rgb.size(2)) : 0; }
int Picture::height() const { return rgb.defined() ? static_cast<int>(rgb.size(1)) : 0; }

Picture make_picture(at::Tensor rgb, std::string source) {
  if (!rgb.defined() || rgb.dim() != 3 || rgb.size(0) != 3 || rgb.scalar_type() != at::kByte) {
    throw Error(ErrorCode::bad_image, "[make_picture] needs a [3,H,W] uint8 tensor");
  }
  if (rgb.size(1) < 1 || rgb.size(2) < 1) {
    throw Error(ErrorCode::bad_image, "[make_picture] the picture is empty (" +
                                          std::to_string(rgb.size(2)) + "x" +
                                          std::to_string(rgb.size(1)) + ")");
  }
  if (rgb.size(1) > (1 << 24) || rgb.size(2) > (1 << 24)) {
    throw Error(ErrorCode::too_large, "[make_picture] a side is longer than 16,777,216 pixels");
  }
  Picture picture;
  picture.rgb = rgb.to(at::kCPU).contiguous();
  picture.source = std::move(source);
  picture.hash = hash_bytes(picture.rgb.data_ptr<uint8_t>(), picture.rgb.numel(),
                            static_cast<uint64_t>(rgb.size(1)) << 32 ^ rgb.size(2));
  return picture;
}

at::Tensor frame_of(const Picture& picture, int longest) {
  const int w = picture.width();
  const int h = picture.height();
  const int side = std::max(w, h);
  if (longest < 1) throw Error(ErrorCode::bad_argument, "[frame_of] longest must be positive");
  if (side <= longest) return unit_floats(picture.rgb);
  const int fw =
      std::max(1, static_cast<int>(std::lround(static_cast<double>(w) * longest / side)));
  const int fh =
      std::max(1, static_cast<int>(std::lround(static_cast<double>(h) * longest / side)));
  return area_mean(picture.rgb, fh, fw).div_(255.0);
}

Picture resize(const Picture& picture, int width, int height) {
  if (width < 1 || height < 1) {
    throw Error(ErrorCode::bad_argument, "[resize] the new size must be at least 1x1");
  }
  if (width == picture.width() && height == picture.height()) return picture;
  at::Tensor out =
      area_mean(picture.rgb, std::min(height, picture.height()), std::min(width, picture.width()));
  if (out.size(1) != height || out.size(2) != width) {
    out = at::upsample_bilinear2d(out.unsqueeze(0), {height, width}, false).squeeze(0);
  }
  return make_picture(out.round_().clamp_(0, 255).to(at::kByte), picture.source);
}

}  // namespace arrcoc
