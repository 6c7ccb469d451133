// The page part of the realizer network in 8 bits.
#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <algorithm>

#include "models/tiny/kernels.h"
#include "models/tiny/prepared.h"
#include "models/tiny/realizer.h"
#include "models/tiny/row_kernels.h"

namespace arrcoc::tiny {
namespace {

constexpr int kPixels = 48, kInputs = 64;  // of a stem cell: 4x4 pixels of RGB; with texture, zeros
constexpr float kPixelStep = 1 / 127.5F;   // pixels are p / 127.5 - 1
// The compact channels lie within [0,1], those of colour contrast and edges within [-0.5,0.5].
constexpr float kTextureLow = -0.5F, kTextureHigh = 1;

// Pixels are bytes already; texture becomes bytes over its range. Where bytes end at 127, both
// halve.
Tensor stem_bytes(const Page& page, int top) {
  const int64_t cells = page.pixels.numel() / kPixels;
  const Tensor pixels = page.pixels.contiguous(), texture = page.texture;
  // Channel after channel or cell after cell, one page after the other.
  const int64_t pages = texture.size(0), each = cells / pages, apart = texture.stride(0),
                next = texture.stride(2), plane = texture.stride(3);
  if (texture.stride(1) != next * texture.size(2))
    return stem_bytes({pixels, texture.contiguous(), page.extent}, top);
  std::vector<int64_t> sizes = page.pixels.sizes().vec();
  sizes.back() = kInputs;
  Tensor out = scratch(sizes, at::kByte);
  const auto* p = pixels.data_ptr<uint8_t>();
  const float* t = texture.data_ptr<float>();
  auto* to = out.data_ptr<uint8_t>();
  const int shift = top < 255 ? 1 : 0;
  const float per = static_cast<float>(top) / (kTextureHigh - kTextureLow);
  at::parallel_for(0, cells, 4096, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      uint8_t* cell = to + i * kInputs;
      const float* own = t + i / each * apart + i % each * next;
      for (int c = 0; c < kPixels; ++c) cell[c] = static_cast<uint8_t>(p[i * kPixels + c] >> shift);
      for (int c = 0; c < kTextureChannels; ++c) {
        const float value = (own[c * plane] - kTextureLow) * per + 0.5F;
        cell[kPixels + c] = static_cast<uint8_t>(
            static_cast<int>(std::clamp(value, 0.0F, static_cast<float>(top))));
      }
      std::fill(cell + kPixels + kTextureChannels, cell + kInputs, uint8_t{0});
    }
  });
  return out;
}

struct Folded {
  Weights weights;
  Scale scale;
};

// The first layer for such bytes: steps and offsets of its inputs go into weights and bias.
Folded folded_stem(const Tensor& weight, const Tensor& bias, int top) {
  Folded out;
  out.scale = {kPixelStep, 0, top};
  const float halved = top < 255 ? 2.0F : 1.0F;
  Tensor factor = at::zeros({kInputs}), offset = at::zeros({kInputs});
  factor.narrow(0, 0, kPixels).fill_(halved);
  // A halved pixel stands for two values.
  offset.narrow(0, 0, kPixels).fill_(-1 + (halved - 1) / 2 * kPixelStep);
  factor.narrow(0, kPixels, kTextureChannels)
      .fill_((kTextureHigh - kTextureLow) / static_cast<float>(top) / kPixelStep);
  offset.narrow(0, kPixels, kTextureChannels).fill_(kTextureLow);
  out.weights.values = weight * factor.view({1, kInputs, 1, 1});
  out.weights.bias = bias + (weight.flatten(1) * offset).sum(1);
  return out;
}

}  // namespace

void RealizerNet::Axial::run(const Parameters& w, const Tensor& x, int64_t b, int64_t rows,
                             int64_t cols, const Tensor& row_mask,
                             const Tensor& column_mask) const {
  const int64_t cells = rows * cols;
  w.fast->attend_self(w, norm1, row, x, {{b * rows, cols, 1, cols}}, {row_mask});
  std::vector<Sequences> columns;
  std::vector<Tensor> masks;
  for (int64_t i = 0; i < b; ++i) {
    columns.push_back({cols, rows, cols, 1, i * cells});
    masks.push_back(column_mask.defined() ? column_mask.narrow(0, i * cols, cols) : Tensor());
  }
  w.fast->attend_self(w, norm2, column, x, columns, masks);
  w.fast->mlp(w, norm3, mlp, x);
}

Tensor RealizerNet::fast_stem(const Parameters& w, const Page& page, Tensor& packed) const {
  const Prepared& fast = *w.fast;
  int64_t b = page.pixels.size(0), rows = page.pixels.size(1), cols = page.pixels.size(2);
  const int top = fast.scale(stem2_.weight).top;
  Folded folded;
  if (!fast.made(stem1_.weight)) folded = folded_stem(w[stem1_.weight], w[stem1_.bias], top);
  const Convolution& first = fast.convolution(stem1_.weight, folded.weights, folded.scale);
  const Scale second = fast.scale(stem2_.weight);
  Tensor bytes = scratch({b, rows, cols, first.outputs()}, at::kByte);
  first.run(stem_bytes(page, top).data_ptr<uint8_t>(), b, rows, cols, bytes.data_ptr(),
            {false, true, &second});
  // One convolution of `bytes`; `into` (optional) is added to.
  const auto step = [&](const Conv& conv, const Finish& finish, Tensor into) {
    const Convolution& c = fast.convolution(conv.weight);
    const int64_t down = c.rows_after(rows), right = c.cols_after(cols);
    if (!into.defined()) into = scratch({b, down, right, c.outputs()}, at::kFloat);
    c.run(bytes.data_ptr<uint8_t>(), b, rows, cols, into.data_ptr(), finish);
    rows = down;
    cols = right;
    return into;
  };
  const Finish plain, add{true, false, nullptr}, gelu{false, true, nullptr};
  Tensor x = step(stem2_, plain, {});
  bytes = fast.bytes(w, &norm2_, x, stem3_.weight, true, x.data_ptr<float>());
  x = step(stem3_, add, x);
  bytes = fast.bytes(w, &norm3_, x, stem4_.weight);
  x = step(stem4_, gelu, {});
  bytes = fast.bytes(w, &norm5_, x, stem5_.weight, true);
  x = step(stem5_, add, x);
  bytes = fast.bytes(w, &norm6_, x, stem6_.weight, true);
  x = step(stem6_, add, x);
  packed = fast.bytes(w, &word_norm_, x, word_.weight, true, x.data_ptr<float>()).view(x.sizes());
  return x;
}

Tensor RealizerNet::fast_words(const Parameters& w, const Tensor& packed,
                               const Tensor& places) const {
  const Tensor out = places.contiguous();
  w.fast->convolution(word_.weight)
      .run(packed.data_ptr<uint8_t>(), packed.size(0), packed.size(1), packed.size(2),
           out.data_ptr(), {true, false, nullptr});
  return out;
}

}  // namespace arrcoc::tiny
