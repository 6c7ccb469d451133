// oneDNN behind kernels.h; nobody else includes this.
#pragma once

#include <functional>

#include "models/kernels/kernels.h"

namespace arrcoc::kernels {

// The largest byte of activations that this machine's products can take.
int dnnl_top();

// Runs it on one thread; what is wrong when it says no, throws, or executes an instruction that the
// machine does not have; "" when all is well.
std::string tried(const std::function<bool()>& work);

// A matrix product (no stride) or convolution with packed weights, and the latest shapes of it.
class PackedProduct {
 public:
  PackedProduct(const Weights& weights, const std::vector<int64_t>& stride,
                const std::vector<int64_t>& padding, const Scale* input);
  PackedProduct(PackedProduct&&) noexcept;
  ~PackedProduct();
  int64_t inputs() const;
  int64_t outputs() const;
  int64_t input_bytes() const;  // of one number
  struct Size {
    int64_t batch, rows, cols;  // a matrix product has `batch` rows
  };
  void run(const Size& size, const void* x, void* out, const Finish& finish) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace arrcoc::kernels
