// A linear layer in 8 bits for inputs that nobody has measured: every row of them becomes bytes
// over its own range, so that an answer does not depend on the rows beside it.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>

#include "models/kernels/kernels.h"

namespace arrcoc::kernels {

// y = x W^T + b. May be called from several threads.
class RowDense {
 public:
  // weights [outputs,inputs] of any floating type, which are read a few rows at a time and not
  // kept; bias [outputs] or undefined.
  RowDense(const at::Tensor& weights, const at::Tensor& bias);
  int64_t inputs() const { return product_->inputs(); }
  int64_t outputs() const { return product_->outputs(); }
  // [..,inputs] -> [..,outputs], float.
  at::Tensor operator()(const at::Tensor& x) const;

 private:
  std::unique_ptr<const Dense> product_;
  at::Tensor sums_;  // [outputs], of each one's weights
  at::Tensor bias_;  // [outputs]
  int top_ = 255;    // the largest byte
};

}  // namespace arrcoc::kernels
