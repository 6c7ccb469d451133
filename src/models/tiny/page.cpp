#include "models/tiny/page.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <atomic>
#include <vector>

#include "arrcoc/texture.h"
#include "base/clones.h"
#include "models/tiny/kernels.h"

namespace arrcoc::tiny {
namespace {

// The first and the last slice along `dim`, kMargin times more each (padding for bytes too).
Tensor repeat_border(const Tensor& x, int64_t dim) {
  std::vector<int64_t> sizes = x.sizes().vec();
  sizes[static_cast<size_t>(dim)] = kMargin;
  return at::cat(
      {x.narrow(dim, 0, 1).expand(sizes), x, x.narrow(dim, x.size(dim) - 1, 1).expand(sizes)}, dim);
}

// [B,H,W,3] bytes -> [B,3,H,W] in [0,1].
Tensor frames_of(const Tensor& canvases) {
  if (!canvases.device().is_cpu() || !canvases.is_contiguous())
    return canvases.permute({0, 3, 1, 2}).to(at::kFloat).div(255).contiguous();
  const int64_t b = canvases.size(0), area = canvases.size(1) * canvases.size(2);
  Tensor out = scratch({b, 3, canvases.size(1), canvases.size(2)}, at::kFloat);
  const auto* from = canvases.data_ptr<uint8_t>();
  auto* to = out.data_ptr<float>();
  at::parallel_for(0, b * area, 65536, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      float* const pixel = to + i / area * 3 * area + i % area;
      for (int c = 0; c < 3; ++c) pixel[c * area] = static_cast<float>(from[i * 3 + c]) / 255.0F;
    }
  });
  return out;
}

// [B,3,H,W] in [0,1] -> [B,13,H/4,W/4].
Tensor texture_of(const Tensor& frames, const Tensor& extent) {
  const int64_t rows = frames.size(2) / kStride, cols = frames.size(3) / kStride;
  Tensor texture = texture::sense_compact(frames, rows, cols);
  const auto options = texture.options();
  Tensor x = at::arange(cols, options).add(0.5).mul(kStride).view({1, 1, cols}) /
             extent.select(1, 0).view({-1, 1, 1});
  Tensor y = at::arange(rows, options).add(0.5).mul(kStride).view({1, rows, 1}) /
             extent.select(1, 1).view({-1, 1, 1});
  Tensor off = ((x - 0.5).square() + (y - 0.5).square()).sqrt().div(0.7071);
  constexpr int kY = 8, kX = 9, kEccentricity = 10;  // rows of the compact set
  texture.select(1, kY).copy_(y.expand_as(off));
  texture.select(1, kX).copy_(x.expand_as(off));
  texture.select(1, kEccentricity).copy_(off);
  return texture;
}

// A row of a frame's plane as bytes, its last one repeated; whether the floats are those of bytes.
ARRCOC_CLONES bool fill_bytes(const float* __restrict from, int64_t w, int64_t cols,
                              uint8_t* __restrict bytes) {
  int other = 0;
  for (int64_t x = 0; x < w; ++x) {
    const int byte = static_cast<int>(std::min(std::max(from[x] * 255 + 0.5F, 0.0F), 255.0F));
    bytes[x] = static_cast<uint8_t>(byte);
    other |= static_cast<float>(byte) / 255.0F != from[x] ? 1 : 0;
  }
  for (int64_t x = w; x < cols; ++x) bytes[x] = bytes[w - 1];
  return other == 0;
}

ARRCOC_CLONES void fill_floats(const uint8_t* __restrict bytes, int64_t cols,
                               float* __restrict floats) {
  for (int64_t x = 0; x < cols; ++x) floats[x] = static_cast<float>(bytes[x]) / 255.0F;
}

// A row of stem cells from four rows of three planes, [cols/4][4][4][3].
void fill_cells(const uint8_t* rows, int64_t cols, uint8_t* out) {
  for (int64_t x = 0; x < cols; x += kStride, out += kStride * kStride * 3)
    for (int64_t y = 0; y < kStride; ++y)
      for (int64_t u = 0; u < kStride; ++u)
        for (int64_t c = 0; c < 3; ++c)
          out[(y * kStride + u) * 3 + c] = rows[(c * kStride + y) * cols + x + u];
}

}  // namespace

Tensor page_texture(const Tensor& canvases, const Tensor& extent) {
  return texture_of(frames_of(canvases), extent).permute({0, 2, 3, 1}).contiguous();
}

Tensor page_pixels(const Tensor& canvases) {
  const int64_t b = canvases.size(0), rows = canvases.size(1) / 4, cols = canvases.size(2) / 4;
  return canvases.view({b, rows, 4, cols, 4, 3})
      .permute({0, 1, 3, 2, 4, 5})
      .reshape({b, rows, cols, 48});
}

Tensor page_pixels_of_patches(const Tensor& patches, int64_t rows, int64_t cols) {
  const int64_t b = patches.size(0);
  return patches.view({b, rows * cols, kWide, kWide, 3})
      .narrow(2, kMargin, kPatch)
      .narrow(3, kMargin, kPatch)
      .reshape({b, rows, cols, 4, 4, 4, 4, 3})
      .permute({0, 1, 3, 2, 5, 4, 6, 7})
      .reshape({b, rows * 4, cols * 4, 48});
}

Tensor patches_of(const Tensor& canvases) {
  const int64_t b = canvases.size(0), rows = canvases.size(1) / 16, cols = canvases.size(2) / 16;
  Tensor padded = repeat_border(repeat_border(canvases, 1), 2);
  return padded.unfold(1, kWide, kPatch)
      .unfold(2, kWide, kPatch)
      .permute({0, 1, 2, 4, 5, 3})
      .reshape({b, rows * cols, kPatchBytes});
}

Tensor halve(const Tensor& canvases) {
  const int64_t b = canvases.size(0), rows = canvases.size(1) / 2, cols = canvases.size(2) / 2;
  return canvases.view({b, rows, 2, cols, 2, 3}).to(at::kFloat).mean({2, 4}).add(0.5).to(at::kByte);
}

Page page_of_frame(const Tensor& frame) {
  const int64_t h = frame.size(1), w = frame.size(2);
  const int64_t rows = (h + 31) / 32 * 32, cols = (w + 31) / 32 * 32;
  const Tensor dense = frame.to(at::kFloat).contiguous();
  Page out;
  out.extent = at::tensor({static_cast<float>(w), static_cast<float>(h)}, at::kFloat).view({1, 2});
  out.pixels = scratch({1, rows / kStride, cols / kStride, 48}, at::kByte);
  const float* from = dense.data_ptr<float>();
  auto* cells = out.pixels.data_ptr<uint8_t>();
  // The texture is that of the bytes. A frame that shows whole pixels is its own.
  std::atomic<bool> exact = rows == h && cols == w;
  const auto fill = [&](float* floats) {
    at::parallel_for(0, rows / kStride, 8, [&](int64_t begin, int64_t end) {
      std::vector<uint8_t> bytes(static_cast<size_t>(3 * kStride * cols));
      for (int64_t r = begin; r < end && (floats || exact); ++r) {
        for (int64_t c = 0; c < 3; ++c)
          for (int64_t y = 0; y < kStride; ++y) {
            const int64_t row = r * kStride + y;
            uint8_t* to = bytes.data() + (c * kStride + y) * cols;
            if (!fill_bytes(from + (c * h + std::min(row, h - 1)) * w, w, cols, to)) exact = false;
            if (floats) fill_floats(to, cols, floats + (c * rows + row) * cols);
          }
        fill_cells(bytes.data(), cols, cells + r * (cols / kStride) * 48);
      }
    });
  };
  if (exact) fill(nullptr);
  Tensor frames = dense.unsqueeze(0);
  if (!exact) {
    frames = scratch({1, 3, rows, cols}, at::kFloat);
    fill(frames.data_ptr<float>());
  }
  out.texture = texture_of(frames, out.extent).permute({0, 2, 3, 1});
  return out;
}

Tensor bytes_of_frame(const Tensor& frame) {
  const Tensor dense = frame.to(at::kFloat).contiguous();
  Tensor out = scratch(dense.sizes().vec(), at::kByte);
  const int64_t w = dense.size(2);
  const float* from = dense.data_ptr<float>();
  auto* to = out.data_ptr<uint8_t>();
  at::parallel_for(0, dense.numel() / w, 32, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) fill_bytes(from + row * w, w, w, to + row * w);
  });
  return out;
}

Page page_of_bytes(const Tensor& bytes, const Tensor& extent) {
  Tensor canvas = bytes;
  for (const int64_t side : {1, 2}) {
    const int64_t size = bytes.size(side), whole = (size + 31) / 32 * 32;
    if (whole == size) continue;
    const Tensor from = at::arange(whole, extent.options().dtype(at::kLong)).clamp_max(size - 1);
    canvas = canvas.index_select(side, from);
  }
  const Tensor canvases = canvas.permute({1, 2, 0}).unsqueeze(0).contiguous();
  return {page_pixels(canvases), page_texture(canvases, extent), extent};
}

}  // namespace arrcoc::tiny
