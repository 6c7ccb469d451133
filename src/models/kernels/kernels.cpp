#include "models/kernels/kernels.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <ATen/record_function.h>

#include <algorithm>
#include <cmath>

#include "arrcoc/error.h"
#include "base/clones.h"
#include "models/kernels/kernels_dnnl.h"
#include "models/kernels/scratch.h"

namespace arrcoc::kernels {
namespace {

constexpr int64_t kChunk = 512;  // rows of one product
constexpr int64_t kFew = 8;      // up to here every number of rows has a product of its own
constexpr int64_t kStep = 16;

int64_t rounded_up(int64_t rows) {
  return rows <= kFew ? rows : (rows + kStep - 1) / kStep * kStep;
}

// Whole numbers of w / scale; how many lie off.
ARRCOC_CLONES int64_t make_whole(const float* __restrict w, int64_t count, float scale,
                                 int8_t* __restrict out) {
  constexpr float kNear = 1e-3F;
  int off = 0;
  for (int64_t i = 0; i < count; ++i) {
    const float value = w[i] / scale;
    const int whole = static_cast<int>(value + (value < 0 ? -0.5F : 0.5F));
    out[i] = static_cast<int8_t>(whole);
    off += std::abs(value - static_cast<float>(whole)) < kNear ? 0 : 1;
  }
  return off;
}

// Weights of one output channel as whole numbers times a scale. Weights that were stored as int8
// come back as they were: their scale was a little above max / 127.
float whole_numbers(const float* w, int64_t count, int8_t* out) {
  float most = 0;
  for (int64_t i = 0; i < count; ++i) most = std::max(most, std::abs(w[i]));
  if (most == 0) {
    std::fill_n(out, count, int8_t{0});
    return 1;
  }
  const int64_t first = std::min<int64_t>(count, 64);  // weights that were never whole show it here
  for (const float top : {127.0F, 126.0F, 125.0F})
    if (make_whole(w, first, most / top, out) == 0 && make_whole(w, count, most / top, out) == 0)
      return most / top;
  make_whole(w, count, most / 127.0F, out);
  return most / 127.0F;
}

}  // namespace

int64_t padded_rows(int64_t rows) {
  const int64_t rest = rows % kChunk;
  return rows - rest + (rest == 0 ? 0 : rounded_up(rest));
}

at::Tensor room_for(int64_t rows, int64_t width, at::ScalarType type) {
  return scratch({padded_rows(rows), width}, type).narrow(0, 0, rows);
}

Scale scale_of(const Range& range) {
  const float low = std::min(range.low, 0.0F), high = std::max(range.high, 0.0F);
  Scale out;
  out.top = dnnl_top();
  out.step = std::max(high - low, 1e-12F) / static_cast<float>(out.top);
  out.zero = std::clamp(static_cast<int>(std::lround(-low / out.step)), 0, out.top);
  return out;
}

Weights in_int8(const Weights& weights) {
  if (weights.values.scalar_type() == at::kChar) return weights;
  const at::Tensor w = weights.values.detach().to(at::kFloat).contiguous();
  const int64_t outputs = w.size(0), each = w.numel() / outputs;
  const Weights out{at::empty_like(w, at::kChar), weights.bias, at::empty({outputs}, at::kFloat)};
  auto* q = out.values.data_ptr<int8_t>();
  auto* scales = out.scales.data_ptr<float>();
  at::parallel_for(0, outputs, 16, [&](int64_t begin, int64_t end) {
    for (int64_t n = begin; n < end; ++n)
      scales[n] = whole_numbers(w.data_ptr<float>() + n * each, each, q + n * each);
  });
  return out;
}

struct Dense::State {
  PackedProduct product;
};

Dense::Dense(const Weights& weights, const Scale* input)
    : state_(new State{PackedProduct(weights, {}, {}, input)}) {}
Dense::~Dense() = default;
int64_t Dense::inputs() const { return state_->product.inputs(); }
int64_t Dense::outputs() const { return state_->product.outputs(); }

void count_work(int64_t multiply_adds) {
  RECORD_FUNCTION("arrcoc::product", std::vector<c10::IValue>({2 * multiply_adds}));
}

void Dense::run(const void* x, int64_t rows, void* out, const Finish& finish) const {
  count_work(rows * inputs() * outputs());
  share(x, rows, out, finish);
}

void Dense::share(const void* x, int64_t rows, void* out, const Finish& finish) const {
  const PackedProduct& p = state_->product;
  const int64_t in = p.inputs() * p.input_bytes(), per = finish.bytes ? 1 : sizeof(float);
  for (int64_t row = 0; row < rows; row += kChunk) {
    const int64_t some = std::min(kChunk, rows - row);
    p.run({rounded_up(some), 0, 0}, static_cast<const char*>(x) + row * in,
          static_cast<char*>(out) + row * p.outputs() * per, finish);
  }
}

struct Convolution::State {
  PackedProduct product;
  std::vector<int64_t> kernel, stride, padding;
};

Convolution::Convolution(const Weights& weights, const std::vector<int64_t>& stride,
                         const std::vector<int64_t>& padding, const Scale& input)
    : state_(new State{PackedProduct(weights, stride, padding, &input),
                       {weights.values.size(2), weights.values.size(3)},
                       stride,
                       padding}) {}
Convolution::~Convolution() = default;
int64_t Convolution::outputs() const { return state_->product.outputs(); }
int64_t Convolution::rows_after(int64_t rows) const {
  return (rows + 2 * state_->padding[0] - state_->kernel[0]) / state_->stride[0] + 1;
}
int64_t Convolution::cols_after(int64_t cols) const {
  return (cols + 2 * state_->padding[1] - state_->kernel[1]) / state_->stride[1] + 1;
}

void Convolution::run(const uint8_t* x, int64_t batch, int64_t rows, int64_t cols, void* out,
                      const Finish& finish) const {
  const int64_t products = state_->product.inputs() * state_->kernel[0] * state_->kernel[1];
  count_work(batch * rows_after(rows) * cols_after(cols) * products * outputs());
  state_->product.run({batch, rows, cols}, x, out, finish);
}

}  // namespace arrcoc::kernels
