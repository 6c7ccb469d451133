// The page part of the realizer network in 8 bits.
#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <algorithm>

#include "base/clones.h"
#include "models/tiny/kernels.h"
#include "models/tiny/prepared.h"
#include "models/tiny/realizer.h"
#include "models/tiny/strips.h"

namespace arrcoc::tiny {
namespace {

constexpr int kPixels = 48, kInputs = 64;  // of a stem cell: 4x4 pixels of RGB; with texture, zeros
constexpr float kPixelStep = 1 / 127.5F;   // pixels are p / 127.5 - 1
// The compact channels lie within [0,1], those of colour contrast and edges within [-0.5,0.5].
// Their bytes have the step of pixels: so the product has the stored weights, not others rounded
// anew.
constexpr float kTextureLow = -0.5F;

// Where bytes end at 127, one stands for two values of a pixel.
int values_of_byte(int top) { return top < 255 ? 2 : 1; }

constexpr int64_t kCells = 1024, kGroup = 16;  // of a strip, and at a time

// Bytes of some cells of one page. Pixels are bytes already.
ARRCOC_CLONES void fill_cells(const uint8_t* __restrict pixels, const float* __restrict texture,
                              int64_t next, int64_t plane, int64_t count, int top,
                              uint8_t* __restrict to) {
  const int shift = values_of_byte(top) - 1;
  const float most = static_cast<float>(top),
              per = 1 / (kPixelStep * static_cast<float>(values_of_byte(top)));
  for (int c = 0; c < kTextureChannels; ++c) {
    uint8_t bytes[kGroup];
    for (int64_t i = 0; i < count; ++i) {
      const float value = (texture[c * plane + i * next] - kTextureLow) * per + 0.5F;
      bytes[i] = static_cast<uint8_t>(static_cast<int>(std::min(std::max(value, 0.0F), most)));
    }
    for (int64_t i = 0; i < count; ++i) to[i * kInputs + kPixels + c] = bytes[i];
  }
  for (int64_t i = 0; i < count; ++i) {
    for (int c = 0; c < kPixels; ++c)
      to[i * kInputs + c] = static_cast<uint8_t>(pixels[i * kPixels + c] >> shift);
    for (int c = kPixels + kTextureChannels; c < kInputs; ++c) to[i * kInputs + c] = 0;
  }
}

struct Folded {
  Weights weights;
  Scale scale;
};

// The first layer for such bytes: offsets of its inputs go into the bias, by the weights that its
// product really has.
Folded folded_stem(const Tensor& weight, const Tensor& bias, int top) {
  const auto values = static_cast<float>(values_of_byte(top));
  Folded out;
  out.scale = {kPixelStep * values, 0, top};
  out.weights = in_int8({weight.flatten(1), bias, {}});
  Tensor offset = at::zeros({kInputs});
  offset.narrow(0, 0, kPixels).fill_(-1 + (values - 1) / 2 * kPixelStep);
  offset.narrow(0, kPixels, kTextureChannels).fill_(kTextureLow);
  const Tensor whole = out.weights.values.to(at::kFloat);
  out.weights.bias = bias + (whole * offset).sum(1) * out.weights.scales;
  return out;
}

}  // namespace

void RealizerNet::Axial::run(const Parameters& w, const Tensor& x, int64_t b, int64_t rows,
                             int64_t cols, const Tensor& row_mask, const Tensor& column_mask,
                             const Sublayers::Other& before) const {
  const int64_t cells = rows * cols;
  Sublayers along, across;
  along.other = before;
  along.self = {&norm1, &row, row_mask};
  across.self = {&norm2, &column, column_mask};
  across.inner = {&norm3, &mlp};
  w.fast->through(w, x, {b * rows, cols, 1, cols, rows, cells}, along);
  w.fast->through(w, x, {b * cols, rows, cols, 1, cols, cells}, across);
}

Tensor RealizerNet::fast_cells(const Parameters& w, const Page& page) const {
  const Prepared& fast = *w.fast;
  const Scale next = fast.scale(stem2_.weight);
  Folded folded;
  if (!fast.made(stem1_.weight)) folded = folded_stem(w[stem1_.weight], w[stem1_.bias], next.top);
  const Dense& first = fast.dense(stem1_.weight, folded.weights, folded.scale);
  const Tensor pixels = page.pixels.contiguous();
  const bool dense = page.texture.stride(1) == page.texture.stride(2) * page.texture.size(2);
  const Tensor texture = dense ? page.texture : page.texture.contiguous();
  const int64_t pages = pixels.size(0), each = pixels.size(1) * pixels.size(2), all = pages * each;
  const int64_t width = first.outputs();
  const Tensor out = scratch({pages, pixels.size(1), pixels.size(2), width}, at::kByte);
  count_work(all * kInputs * width);
  each_strip((all + kCells - 1) / kCells, [&](int64_t strip) {
    const int64_t begin = strip * kCells, count = std::min(kCells, all - begin);
    const Shelf shelf;
    uint8_t* const in = shelf.bytes(padded_rows(count) * kInputs);
    float* const sums = shelf.floats(padded_rows(count) * width);
    for (int64_t i = 0; i < count; i += kGroup) {
      const int64_t cell = begin + i, page_of = cell / each;
      fill_cells(pixels.data_ptr<uint8_t>() + cell * kPixels,
                 texture.data_ptr<float>() + page_of * texture.stride(0) +
                     (cell - page_of * each) * texture.stride(2),
                 texture.stride(2), texture.stride(3), std::min(kGroup, count - i), next.top,
                 in + i * kInputs);
    }
    first.share(in, count, sums);
    light(sums, count * width, next, out.data_ptr<uint8_t>() + begin * width);
  });
  return out;
}

Tensor RealizerNet::fast_stem(const Parameters& w, const Page& page, Tensor& text) const {
  const Prepared& fast = *w.fast;
  int64_t b = page.pixels.size(0), rows = page.pixels.size(1), cols = page.pixels.size(2);
  Tensor bytes = fast_cells(w, page);
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
  const Finish plain, add{true, false, nullptr};
  RowWork own, lit;  // lit: GELU of what becomes bytes
  lit.gelu = true;
  Tensor x = step(stem2_, plain, {});
  own = lit;
  own.floats = x.data_ptr<float>();
  bytes = fast.bytes(w, &norm2_, x, stem3_.weight, own);
  x = step(stem3_, add, x);
  bytes = fast.bytes(w, &norm3_, x, stem4_.weight);
  x = step(stem4_, plain, {});
  own = lit;
  own.lit = true;
  bytes = fast.bytes(w, &norm5_, x, stem5_.weight, own);
  x = step(stem5_, add, x);
  bytes = fast.bytes(w, &norm6_, x, stem6_.weight, lit);
  x = step(stem6_, add, x);
  text = at::empty({b, rows, cols}, at::kFloat);
  own = lit;
  own.along = w[text_.weight].data_ptr<float>();
  own.products = text.data_ptr<float>();
  const Tensor packed = fast.bytes(w, &word_norm_, x, word_.weight, own).view(x.sizes());
  text.add_(w[text_.bias]);
  return packed;
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
