#include "models/tiny/attend_cpu.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>
#include <ATen/record_function.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "models/tiny/attend_kernels.h"

namespace arrcoc::tiny {
namespace {

// Rows of a column of a page lie far apart, where no processor looks ahead by itself.
constexpr int64_t kAhead = 8;
void fetch(const float* row, int64_t d) {
  for (int64_t i = 0; i < d; i += kLanes) __builtin_prefetch(row + i);
}

}  // namespace

void AttendBench::take(const AttendHead& h) {
  const int64_t d = h.d;
  bench_.resize(static_cast<size_t>(kLanes * (2 * d + h.length + kLanes)));
  rows_ = {h.q,           h.q_step, 0,      h.k, h.v,           h.k_step,
           h.v_step,      h.length, h.mask, d,   bench_.data(), h.shares,
           h.shares_step, h.told,   h.part};
  if (h.k_step == d && h.v_step == d) return;  // they lie side by side already
  kept_.resize(static_cast<size_t>(2 * h.length * d));
  float *keys = kept_.data(), *values = keys + h.length * d;
  for (int64_t s = 0; s < std::min(kAhead, h.length); ++s) fetch(h.k + s * h.k_step, d);
  for (int64_t s = 0; s < h.length; ++s) {
    if (s + kAhead < h.length) fetch(h.k + (s + kAhead) * h.k_step, d);
    std::memcpy(keys + s * d, h.k + s * h.k_step, sizeof(float) * d);
    std::memcpy(values + s * d, h.v + s * h.v_step, sizeof(float) * d);
  }
  rows_.k = keys;
  rows_.v = values;
  rows_.k_step = rows_.v_step = d;
}

template <class Attend>
void AttendBench::each(int64_t first, int64_t last, const Attend& attend) {
  AttendRows some = rows_;
  for (int64_t row = first; row < last; row += kLanes) {
    some.rows = std::min<int64_t>(kLanes, last - row);
    some.q = rows_.q + row * rows_.q_step;
    some.shares = rows_.shares + row * rows_.shares_step;
    for (int64_t r = kLanes; r < std::min<int64_t>(2 * kLanes, last - row); ++r)
      fetch(some.q + r * some.q_step, some.d);
    attend(some, row);
  }
}

void AttendBench::attend(int64_t first, int64_t last, float* out, int64_t out_step) {
  each(first, last, [&](const AttendRows& some, int64_t row) {
    attend_rows(some, out + row * out_step, out_step);
  });
}

void AttendBench::attend(int64_t first, int64_t last, const Scale& scale, uint8_t* out,
                         int64_t out_step) {
  each(first, last, [&](const AttendRows& some, int64_t row) {
    attend_rows_in_bytes(some, 1 / scale.step, static_cast<float>(scale.zero),
                         static_cast<float>(scale.top), out + row * out_step, out_step);
  });
}

bool attend_cpu_takes(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                      const at::Tensor& mask) {
  if (at::GradMode::is_enabled() || q.dim() != 4 || q.size(3) % kLanes != 0) return false;
  for (const at::Tensor* t : {&q, &k, &v})
    if (!t->device().is_cpu() || t->scalar_type() != at::kFloat || t->stride(3) != 1) return false;
  return !mask.defined() ||
         (mask.scalar_type() == at::kFloat && mask.dim() == 4 && mask.size(1) == 1 &&
          mask.size(2) == 1 && mask.size(0) == q.size(0) && mask.size(3) == k.size(2));
}

at::Tensor attend_cpu(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                      const at::Tensor& mask) {
  at::Tensor out =
      at::empty({q.size(0), q.size(2), q.size(1), q.size(3)}, q.options()).transpose(1, 2);
  attend_cpu_into(q, k, v, mask, out);
  return out;
}

void attend_cpu_into(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                     const at::Tensor& mask, const at::Tensor& out) {
  // Whoever counts the work (libtorch's profilers, answering/cost.h) sees this product too.
  RECORD_FUNCTION("arrcoc::attend_cpu", std::vector<c10::IValue>({q, k, v}));
  const int64_t batch = q.size(0), heads = q.size(1), rows = q.size(2), d = q.size(3);
  const int64_t length = k.size(2);
  const at::Tensor dense = mask.defined() ? mask.contiguous() : at::Tensor();
  const auto start = [&](const at::Tensor& t, int64_t b, int64_t h) {
    return t.data_ptr<float>() + b * t.stride(0) + h * t.stride(1);
  };
  // Long sequences are split between threads by queries, short ones by head and sequence.
  constexpr int64_t kPiece = 512;
  const int64_t pieces = (rows + kPiece - 1) / kPiece, all = batch * heads * pieces;
  const int64_t work = rows * length * d / pieces;
  at::parallel_for(
      0, all, std::max<int64_t>(1, (1 << 19) / std::max<int64_t>(1, work)),
      [&](int64_t begin, int64_t end) {
        AttendBench bench;
        int64_t taken = -1;
        for (int64_t i = begin; i < end; ++i) {
          const int64_t which = i / pieces, piece = i % pieces, b = which / heads,
                        h = which % heads;
          if (which != taken)
            bench.take({start(q, b, h), q.stride(2), start(k, b, h), k.stride(2), start(v, b, h),
                        v.stride(2), length,
                        dense.defined() ? dense.data_ptr<float>() + b * length : nullptr, d});
          taken = which;
          bench.attend(piece * kPiece, std::min(rows, (piece + 1) * kPiece), start(out, b, h),
                       out.stride(2));
        }
      });
}

}  // namespace arrcoc::tiny
