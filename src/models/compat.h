// What differs between libtorch 1.13 (Debian, CPU) and libtorch 2.x (CUDA).
#pragma once

#include <ATen/ATen.h>
#include <torch/version.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace arrcoc::compat {

// softmax(q k^T * scale + mask) v. q [B,H,Q,D], k and v [B,K,L,D] with H a multiple of K (grouped
// queries); causal: query i sees keys up to L-Q+i; mask: added, may be undefined.
inline at::Tensor attention(const at::Tensor& q, const at::Tensor& key, const at::Tensor& value,
                            double scale, bool causal = false, const at::Tensor& mask = {}) {
  int64_t queries = q.size(2);
  int64_t length = key.size(2);
  int64_t group = q.size(1) / key.size(1);
  auto widen = [group](const at::Tensor& x) {
    if (group == 1) return x;
    return x.unsqueeze(2)
        .expand({x.size(0), x.size(1), group, x.size(2), x.size(3)})
        .reshape({x.size(0), x.size(1) * group, x.size(2), x.size(3)});
  };
  at::Tensor k = widen(key);
  at::Tensor v = widen(value);
  bool one_query = queries == 1;  // the newest token sees everything
#if TORCH_VERSION_MAJOR >= 2 && (TORCH_VERSION_MAJOR > 2 || TORCH_VERSION_MINOR >= 1)
  if (!causal || one_query || queries == length) {
    c10::optional<at::Tensor> extra;
    if (mask.defined()) extra = mask;
    return at::scaled_dot_product_attention(q, k, v, extra, 0.0, causal && !one_query, scale);
  }
#endif
  // In slices of queries, so that the scores never need more than a few hundred megabytes.
  int64_t per_query = q.size(0) * q.size(1) * length;
  int64_t slice = std::max<int64_t>(16, (int64_t{1} << 25) / std::max<int64_t>(1, per_query));
  at::Tensor turned = k.transpose(2, 3);
  std::vector<at::Tensor> parts;
  for (int64_t begin = 0; begin < queries; begin += slice) {
    int64_t count = std::min(slice, queries - begin);
    at::Tensor scores = at::matmul(q.narrow(2, begin, count) * scale, turned);
    if (mask.defined()) {
      scores = scores + (mask.size(-2) == 1 ? mask : mask.narrow(-2, begin, count));
    }
    if (causal && !one_query) {
      auto options = at::TensorOptions().dtype(at::kLong).device(q.device());
      at::Tensor row = at::arange(begin, begin + count, options).unsqueeze(1) + (length - queries);
      at::Tensor col = at::arange(length, options).unsqueeze(0);
      scores = scores.masked_fill(col > row, -INFINITY);
    }
    parts.push_back(at::matmul(at::softmax(scores, -1, at::kFloat).to(v.scalar_type()), v));
  }
  return parts.size() == 1 ? parts[0] : at::cat(parts, 2);
}

}  // namespace arrcoc::compat
