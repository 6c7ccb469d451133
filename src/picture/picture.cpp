#include "arrcoc/picture.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "arrcoc/error.h"
#include "base/clones.h"
#include "base/sha256.h"
#include "picture/area.h"
#include "picture/pages.h"

namespace arrcoc {

namespace {

constexpr int64_t kChunk = 1 << 20;

// SHA-256 over height, width and the SHA-256 of every megabyte: large pictures take all cores.
std::array<uint8_t, 32> digest_of(const at::Tensor& rgb) {
  const int64_t size = rgb.numel(), chunks = (size + kChunk - 1) / kChunk;
  const uint8_t* data = rgb.data_ptr<uint8_t>();
  std::vector<std::array<uint8_t, 32>> parts(static_cast<size_t>(chunks) + 1);
  const int64_t sides[2] = {rgb.size(1), rgb.size(2)};
  std::memcpy(parts[0].data(), sides, sizeof sides);
  at::parallel_for(0, chunks, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      parts[static_cast<size_t>(i) + 1] =
          sha256(data + i * kChunk, static_cast<size_t>(std::min(kChunk, size - i * kChunk)));
  });
  return sha256(parts.data(), parts.size() * sizeof parts[0]);
}

ARRCOC_CLONES void unit_row(const uint8_t* __restrict from, int64_t n, float* __restrict to) {
  for (int64_t i = 0; i < n; ++i) to[i] = static_cast<float>(from[i]) / 255.0F;
}

at::Tensor unit_floats(const at::Tensor& rgb) {
  at::Tensor out = frame_pages(rgb.sizes());
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
  picture.digest = digest_of(picture.rgb);
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
