// Attention on the CPU without a matrix of scores in memory, for inference.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "models/tiny/attend_kernels.h"
#include "models/tiny/kernels.h"

namespace arrcoc::tiny {

// True when attend_cpu takes these tensors: fp32 on the CPU, gradients off, last dimension dense.
bool attend_cpu_takes(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                      const at::Tensor& mask);

// softmax(q k^T / sqrt(d) + mask) v for q [B,H,L,d], k and v [B,H,S,d], mask [B,1,1,S] or undefined
// -> [B,H,L,d] with the memory of [B,L,H,d]. Rows are independent: threads change no bit.
//
// Many short sequences (rows and columns of a page) make libtorch 1.13 spend most of the time on
// copies and tiny products, and one long sequence (4,096 native tokens) on passes over hundreds of
// megabytes of scores; here sixteen queries at a time stay in cache.
at::Tensor attend_cpu(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                      const at::Tensor& mask);
// The same into out [B,H,L,d], whose last dimension is dense.
void attend_cpu_into(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                     const at::Tensor& mask, const at::Tensor& out);

// One head of one sequence: where its queries, keys and values lie, `step` floats from one to the
// next; mask [length] or null.
struct AttendHead {
  const float* q;
  int64_t q_step;
  const float* k;
  int64_t k_step;
  const float* v;
  int64_t v_step, length;
  const float* mask;
  int64_t d;
  float* shares = nullptr;  // as in AttendRows
  int64_t shares_step = 0, told = 0;
  float part = 0;
};

// Keys and values of a head side by side in memory, and room to work in, of one thread.
class AttendBench {
 public:
  void take(const AttendHead& head);
  // Queries [first,last) of the head taken last, to out[query * out_step ..].
  void attend(int64_t first, int64_t last, float* out, int64_t out_step);
  void attend(int64_t first, int64_t last, const Scale& scale, uint8_t* out, int64_t out_step);

 private:
  template <class Attend>
  void each(int64_t first, int64_t last, const Attend& attend);
  std::vector<float> kept_, bench_;
  AttendRows rows_;
};

}  // namespace arrcoc::tiny
