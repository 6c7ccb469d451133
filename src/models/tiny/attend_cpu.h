// Attention on the CPU without a matrix of scores in memory, for inference.
#pragma once

#include <ATen/core/Tensor.h>

namespace arrcoc::tiny {

// True when attend_cpu takes these tensors: fp32 on the CPU, gradients off, last dimension dense.
bool attend_cpu_takes(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                      const at::Tensor& mask);

// softmax(q k^T / sqrt(d) + mask) v for q [B,H,L,d], k and v [B,H,S,d], mask [B,1,1,S] or undefined
// -> [B,H,L,d] with the memory of [B,L,H,d]. Rows are independent: threads change no bit.
//
// Many short sequences (rows and columns of a page) make libtorch 1.13 spend most of the time on
// copies and tiny products, and one long sequence (4,096 native tokens) on passes over hundreds of
// megabytes of scores; here eight queries at a time stay in cache.
at::Tensor attend_cpu(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                      const at::Tensor& mask);
// The same into out [B,H,L,d], whose last dimension is dense.
void attend_cpu_into(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                     const at::Tensor& mask, const at::Tensor& out);

}  // namespace arrcoc::tiny
