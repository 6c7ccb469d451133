#include "models/tiny/attend_cpu.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>
#include <ATen/record_function.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "models/tiny/attend_kernels.h"

namespace arrcoc::tiny {
namespace {

int64_t padded(int64_t n) { return (n + kLanes - 1) / kLanes * kLanes; }

// Scratch of one thread.
struct Bench {
  std::vector<float> keys, values, q, scores, out;
  void fit(int64_t length, int64_t d) {
    const int64_t stride = padded(length);
    keys.resize(static_cast<size_t>(d * stride));
    values.resize(static_cast<size_t>(length * d));
    q.resize(static_cast<size_t>(kRows * d));
    out.resize(static_cast<size_t>(kRows * d));
    scores.resize(static_cast<size_t>(kRows * stride));
  }
};

// One head of one sequence: queries [first, last).
struct Head {
  const float *q, *k, *v, *mask;
  int64_t q_step, k_step, v_step, length, d;
  float* out;
  int64_t out_step;
};

// Rows of a column of a page lie far apart, where no processor looks ahead by itself.
constexpr int64_t kAhead = 8;
void fetch(const float* row, int64_t d) {
  for (int64_t i = 0; i < d; i += kLanes) __builtin_prefetch(row + i);
}

void gather(const Head& h, Bench& b) {
  const int64_t stride = padded(h.length);
  for (int64_t s = 0; s < std::min(kAhead, h.length); ++s) fetch(h.k + s * h.k_step, h.d);
  for (int64_t s = 0; s < h.length; ++s) {
    const float* key = h.k + s * h.k_step;
    if (s + kAhead < h.length) fetch(key + kAhead * h.k_step, h.d);
    fetch(h.v + s * h.v_step, h.d);
    for (int64_t i = 0; i < h.d; ++i) b.keys[static_cast<size_t>(i * stride + s)] = key[i];
  }
  for (int64_t i = 0; i < h.d; ++i)
    std::fill_n(b.keys.data() + i * stride + h.length, stride - h.length, 0.0F);
  for (int64_t s = 0; s < h.length; ++s)
    std::memcpy(b.values.data() + s * h.d, h.v + s * h.v_step, sizeof(float) * h.d);
}

void attend_rows(const Head& h, int64_t first, int64_t last, Bench& b) {
  const int64_t stride = padded(h.length);
  const float scale = 1.0F / std::sqrt(static_cast<float>(h.d));
  for (int64_t row = first; row < last; row += kRows) {
    const int64_t rows = std::min<int64_t>(kRows, last - row);
    for (int64_t r = row + rows; r < std::min(last, row + rows + kRows); ++r)
      fetch(h.q + r * h.q_step, h.d);
    std::fill(b.q.begin(), b.q.end(), 0.0F);
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t i = 0; i < h.d; ++i)
        b.q[static_cast<size_t>(r * h.d + i)] = h.q[(row + r) * h.q_step + i] * scale;
    products(b.q.data(), b.keys.data(), h.d, stride, b.scores.data());
    float total[kRows];
    for (int r = 0; r < kRows; ++r) {
      float* scores = b.scores.data() + r * stride;
      if (h.mask)
        for (int64_t s = 0; s < h.length; ++s) scores[s] += h.mask[s];
      std::fill(scores + h.length, scores + stride, -INFINITY);
      total[r] = exponentials(scores, stride);
      // Columns of the padding got exp(-87), not nothing.
      for (int64_t s = h.length; s < stride; ++s) total[r] -= scores[s];
    }
    weigh(b.scores.data(), stride, total, b.values.data(), h.length, h.d, b.out.data());
    for (int64_t r = 0; r < rows; ++r)
      std::memcpy(h.out + (row + r) * h.out_step, b.out.data() + r * h.d, sizeof(float) * h.d);
  }
}

}  // namespace

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
  const auto head = [&](int64_t b, int64_t h) {
    const auto start = [&](const at::Tensor& t) {
      return t.data_ptr<float>() + b * t.stride(0) + h * t.stride(1);
    };
    return Head{start(q),
                start(k),
                start(v),
                dense.defined() ? dense.data_ptr<float>() + b * length : nullptr,
                q.stride(2),
                k.stride(2),
                v.stride(2),
                length,
                d,
                start(out),
                out.stride(2)};
  };
  // Long sequences are split between threads by queries, short ones by head and sequence.
  constexpr int64_t kPiece = 512;
  const int64_t pieces = (rows + kPiece - 1) / kPiece, all = batch * heads * pieces;
  const int64_t work = rows * length * d / pieces;
  at::parallel_for(0, all, std::max<int64_t>(1, (1 << 19) / std::max<int64_t>(1, work)),
                   [&](int64_t begin, int64_t end) {
                     Bench bench;
                     bench.fit(length, d);
                     int64_t gathered = -1;
                     for (int64_t i = begin; i < end; ++i) {
                       const int64_t which = i / pieces, piece = i % pieces;
                       const Head h = head(which / heads, which % heads);
                       if (which != gathered) gather(h, bench);
                       gathered = which;
                       attend_rows(h, piece * kPiece, std::min(rows, (piece + 1) * kPiece), bench);
                     }
                   });
}

}  // namespace arrcoc::tiny
