#include "models/kernels/rows.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <algorithm>
#include <vector>

#define ARRCOC_LOOPS "models/kernels/rows.inc"

namespace arrcoc::kernels {

constexpr int kLanes = 16;
struct RowBytes {
  float step, zero;
};

#include "models/kernels/by_machine.inc"

namespace {

constexpr int64_t kAtOnce = 1 << 20;  // weights that are floats at a time
constexpr int64_t kWork = 1 << 16;    // numbers that are worth a thread

}  // namespace

RowDense::RowDense(const at::Tensor& weights, const at::Tensor& bias) {
  const int64_t outputs = weights.size(0), inputs = weights.size(1);
  Weights whole{at::empty({outputs, inputs}, at::kChar), at::zeros({outputs}, at::kFloat),
                at::empty({outputs}, at::kFloat)};
  sums_ = at::empty({outputs}, at::kFloat);
  const int64_t some = std::max<int64_t>(1, kAtOnce / std::max<int64_t>(1, inputs));
  for (int64_t from = 0; from < outputs; from += some) {
    const int64_t rows = std::min(some, outputs - from);
    const Weights part = in_int8({weights.narrow(0, from, rows), {}, {}});
    whole.values.narrow(0, from, rows).copy_(part.values);
    whole.scales.narrow(0, from, rows).copy_(part.scales);
    sums_.narrow(0, from, rows).copy_(part.values.sum(1, false, at::kFloat).mul(part.scales));
  }
  bias_ = bias.defined() ? bias.to(at::kFloat).contiguous() : at::zeros({outputs}, at::kFloat);
  Scale bytes;  // as they are: steps and zeros are the rows' own
  bytes.top = top_ = scale_of({0, 1}).top;
  product_ = std::make_unique<const Dense>(whole, &bytes);
  whole = {};
  (*this)(
      at::zeros({1, inputs}));  // packs: later, more layers would be there beside the two copies
}

at::Tensor RowDense::operator()(const at::Tensor& x) const {
  static const auto to_bytes = ARRCOC_BY_MACHINE(bytes_of_row);
  static const auto finish = ARRCOC_BY_MACHINE(finish_row);
  const at::Tensor in = x.to(at::kFloat).contiguous();
  std::vector<int64_t> sizes = x.sizes().vec();
  sizes.back() = outputs();
  const int64_t rows = in.numel() / std::max<int64_t>(1, inputs());
  if (rows == 0) return at::empty(sizes, at::kFloat);
  const at::Tensor bytes = room_for(rows, inputs(), at::kByte);
  const at::Tensor out = room_for(rows, outputs(), at::kFloat);
  std::vector<RowBytes> scales(static_cast<size_t>(rows));
  const auto each = [&](int64_t width, const auto& work) {
    at::parallel_for(0, rows, std::max<int64_t>(1, kWork / width), [&](int64_t from, int64_t to) {
      for (int64_t i = from; i < to; ++i) work(i);
    });
  };
  each(inputs(), [&](int64_t i) {
    scales[static_cast<size_t>(i)] = to_bytes(in.data_ptr<float>() + i * inputs(), inputs(), top_,
                                              bytes.data_ptr<uint8_t>() + i * inputs());
  });
  product_->run(bytes.data_ptr(), rows, out.data_ptr());
  each(outputs(), [&](int64_t i) {
    finish(out.data_ptr<float>() + i * outputs(), outputs(), scales[static_cast<size_t>(i)],
           sums_.data_ptr<float>(), bias_.data_ptr<float>());
  });
  return out.view(sizes);
}

}  // namespace arrcoc::kernels
