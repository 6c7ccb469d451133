// What differs between libtorch 1.13 (Debian, CPU) and libtorch 2.x (CUDA).
#pragma once

#include <ATen/ATen.h>
#include <torch/version.h>

#include <algorithm>
#include <cmath>
#include <vector>

// Fused attention with grouped queries, and fused RMS norm.
#if TORCH_VERSION_MAJOR > 2 || (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 6)
#define ARRCOC_FUSED_KERNELS 1
#else
#define ARRCOC_FUSED_KERNELS 0
#endif

namespace arrcoc::compat {

// x / sqrt(mean(x^2) + eps) * weight over the last dimension, computed in float.
inline at::Tensor rms_norm(const at::Tensor& x, const at::Tensor& weight, double eps) {
#if ARRCOC_FUSED_KERNELS
  if (x.is_cuda()) return at::rms_norm(x, {weight.size(0)}, weight, eps);
#endif
  at::Tensor wide = x.to(at::kFloat);
  wide = wide * at::rsqrt(wide.square().mean(-1, true) + eps);
  return weight * wide.to(x.scalar_type());
}

// One slice of queries [begin, begin+count) of attention(), below, with the heads of a group as
// further queries of their shared key: keys and values are never copied.
inline at::Tensor attend_slice(const at::Tensor& q, const at::Tensor& key, const at::Tensor& value,
                               double scale, int64_t visible, const at::Tensor& mask) {
  int64_t batch = q.size(0), heads = q.size(1), count = q.size(2), width = q.size(3);
  int64_t groups = key.size(1), length = key.size(2);
  at::Tensor folded = (q * scale).reshape({batch, groups, heads / groups * count, width});
  at::Tensor scores = at::matmul(folded, key.transpose(2, 3)).view({batch, heads, count, length});
  if (mask.defined()) scores = scores + mask;
  if (visible < length) {  // query i sees keys up to visible + i
    auto options = at::TensorOptions().dtype(at::kLong).device(q.device());
    at::Tensor row = at::arange(visible, visible + count, options).unsqueeze(1);
    at::Tensor col = at::arange(length, options).unsqueeze(0);
    scores = scores.masked_fill(col >= row, -INFINITY);
  }
  at::Tensor share = at::softmax(scores, -1, at::kFloat).to(value.scalar_type());
  return at::matmul(share.view({batch, groups, heads / groups * count, length}), value)
      .view({batch, heads, count, width});
}

// softmax(q k^T * scale + mask) v. q [B,H,Q,D], k and v [B,K,L,D] with H a multiple of K (grouped
// queries); causal: query i sees keys up to L-Q+i; mask: added, [B or 1,1,Q or 1,L], may be
// undefined.
inline at::Tensor attention(const at::Tensor& q, const at::Tensor& key, const at::Tensor& value,
                            double scale, bool causal = false, const at::Tensor& mask = {}) {
  int64_t queries = q.size(2);
  int64_t length = key.size(2);
#if ARRCOC_FUSED_KERNELS
  // cuDNN makes a plan for every length and thread, tens of milliseconds each: not for one query,
  // whose keys grow with every token that is written.
  const bool fused = !q.is_cuda() || queries > 1;
#endif
  bool limited = causal && queries > 1;  // one query, the newest token, sees everything
#if ARRCOC_FUSED_KERNELS
  if (fused && (!limited || (queries == length && !mask.defined()))) {
    bool grouped = q.size(1) != key.size(1);
    if (mask.defined()) {
      return at::scaled_dot_product_attention(q, key, value, mask.to(q.scalar_type()), 0.0, false,
                                              scale, grouped);
    }
    return at::scaled_dot_product_attention(q, key, value, {}, 0.0, limited, scale, grouped);
  }
#endif
  // In slices of queries, so that the scores never need more than a few hundred megabytes.
  int64_t per_query = q.size(0) * q.size(1) * length;
  int64_t slice = std::max<int64_t>(16, (int64_t{1} << 25) / std::max<int64_t>(1, per_query));
  std::vector<at::Tensor> parts;
  for (int64_t begin = 0; begin < queries; begin += slice) {
    int64_t count = std::min(slice, queries - begin);
    int64_t visible = limited ? length - queries + begin + 1 : length;
    bool whole = !mask.defined() || mask.size(-2) == 1;
    parts.push_back(attend_slice(q.narrow(2, begin, count), key, value, scale, visible,
                                 whole ? mask : mask.narrow(-2, begin, count)));
  }
  return parts.size() == 1 ? parts[0] : at::cat(parts, 2);
}

}  // namespace arrcoc::compat
