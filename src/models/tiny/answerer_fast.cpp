// Patches as they enter the network, and one written character, with fast kernels.
#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <cmath>
#include <vector>

#include "base/clones.h"
#include "models/tiny/answerer.h"
#include "models/tiny/page.h"
#include "models/tiny/strips.h"

namespace arrcoc::tiny {
namespace {

constexpr int kRow = kPatch * 3, kPixels = kPatch * kRow;
constexpr float kStep = 1 / 127.5F;

// Pixels [16,16,3] from the middle of a wide patch, then the same at a contrast of one; returns
// what they were divided by, `mean` what was taken away.
ARRCOC_CLONES float normalise_patch(const uint8_t* __restrict wide, float* __restrict out,
                                    float* __restrict mean) {
  float sums[kRow] = {}, squares[kRow] = {};
  for (int y = 0; y < kPatch; ++y) {
    const uint8_t* from = wide + ((y + kMargin) * kWide + kMargin) * 3;
    for (int i = 0; i < kRow; ++i) {
      const float value = static_cast<float>(from[i]) / 127.5F - 1;
      out[y * kRow + i] = value;
      sums[i] += value;
    }
  }
  float sum = 0, square = 0;
  for (const float one : sums) sum += one;
  *mean = sum / kPixels;
  for (int y = 0; y < kPatch; ++y)
    for (int i = 0; i < kRow; ++i) {
      const float flat = out[y * kRow + i] - *mean;
      squares[i] += flat * flat;
    }
  for (const float one : squares) square += one;
  const float deviation = std::sqrt(square / kPixels + 1e-3F);
  for (int i = 0; i < kPixels; ++i) out[kPixels + i] = (out[i] - *mean) / deviation;
  return deviation;
}

// Brightness of the pixels around, in the order of the weights: above, below, left, right.
void normalise_ring(const uint8_t* wide, float mean, float deviation, float* out) {
  const auto put = [&](int top, int left, int rows, int cols) {
    for (int y = top; y < top + rows; ++y)
      for (int x = left; x < left + cols; ++x) {
        const uint8_t* rgb = wide + (y * kWide + x) * 3;
        const auto all = static_cast<float>(rgb[0] + rgb[1] + rgb[2]);
        *out++ = (all * (kStep / 3) - 1 - mean) / deviation;
      }
  };
  const int far = kMargin + kPatch;
  put(0, 0, kMargin, kWide);
  put(far, 0, kMargin, kWide);
  put(kMargin, 0, kPatch, kMargin);
  put(kMargin, far, kPatch, kMargin);
}

}  // namespace

Tensor Answerer::fast_patches(const Parameters& w, const Tensor& patches) const {
  const Tensor dense = patches.contiguous();
  const int64_t rows = dense.size(0) * dense.size(1);
  const Dense& first = w.fast->dense(patch_.weight);
  const Tensor pixels = room_for(rows, 2 * kPixels, at::kFloat),
               out = room_for(rows, first.outputs(), at::kFloat);
  const Tensor around = at::empty({rows, w[ring_].size(1)}, at::kFloat);
  at::parallel_for(0, rows, 16, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const uint8_t* wide = dense.data_ptr<uint8_t>() + i * kPatchBytes;
      float mean = 0;
      const float deviation =
          normalise_patch(wide, pixels.data_ptr<float>() + i * 2 * kPixels, &mean);
      normalise_ring(wide, mean, deviation, around.data_ptr<float>() + i * around.size(1));
    }
  });
  first.run(pixels.data_ptr(), rows, out.data_ptr());
  out.addmm_(around, w[ring_].t());
  return out.view({dense.size(0), dense.size(1), first.outputs()});
}

Tensor Answerer::fast_decode(const Parameters& w, const Memory& memory, const Tensor& symbol,
                             int64_t place, Decoding& past, Tensor* looked) const {
  const Tensor x = at::embedding(w[symbols_], symbol) + w[answer_places_].narrow(0, place, 1);
  const int64_t rows = x.size(0), width = x.size(2), length = place + 1;
  const int64_t answers = memory.mask.size(0), candidates = rows / answers;
  const Tensor mask = memory.mask.contiguous();
  past.written.resize(decoder_.size());
  Strip strip(*w.fast, w, width, rows);
  std::vector<int64_t> alone, together;  // where rows begin that look at the same
  for (int64_t i = 0; i < rows; ++i) strip.row(i) = x.data_ptr<float>() + i * width;
  for (int64_t i = 0; i <= rows; ++i) alone.push_back(i);
  for (int64_t i = 0; i <= rows; i += candidates) together.push_back(i);
  const Tensor all = room_for(rows, 3 * width, at::kFloat);
  const int64_t seen = length + memory.mask.size(3);
  count_work(static_cast<int64_t>(decoder_.size()) * rows * 2 * width *
             (3 * width + seen + shape_.mlp));
  for (size_t i = 0; i < decoder_.size(); ++i) {
    const DecoderLayer& layer = decoder_[i];
    strip.ask(layer.norm1, layer.self, all.data_ptr<float>());
    const Tensor now = all.narrow(1, width, 2 * width).unsqueeze(1);
    Tensor& written = past.written[i];
    written = place > 0 ? at::cat({written, now}, 1) : now.clone(at::MemoryFormat::Contiguous);
    const int64_t each = width / layer.self.heads;
    strip.attend(layer.self, alone, [&](int64_t row, int64_t h) {
      const float* keys = written.data_ptr<float>() + row * length * 2 * width + h * each;
      return AttendHead{all.data_ptr<float>() + row * 3 * width + h * each,
                        3 * width,
                        keys,
                        2 * width,
                        keys + width,
                        2 * width,
                        length,
                        nullptr,
                        each};
    });
    strip.look_up({&layer.norm2, &layer.cross, &past.cross[i], mask}, mask, together, 0, looked);
    strip.inner(layer.norm3, layer.mlp);
  }
  return at::softmax(out_(w, final_(w, x)).select(1, 0), -1);
}

}  // namespace arrcoc::tiny
