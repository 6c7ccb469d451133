// Products of inference in 8 bits: linear layers and convolutions that are made once from weights.
//
// Activations are bytes, x = step (q - zero), one range a layer that was fitted before (ranges.h);
// weights are int8 with one scale per output channel, as they are stored. Sums are whole numbers:
// neither the number of threads nor that of rows changes a bit of what comes out. Bias, addition to
// what is there, GELU and the next layer's bytes happen while the sums are still in registers.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace arrcoc::kernels {

// What bytes mean: x = step (q - zero), q from 0 to top.
struct Scale {
  float step = 1;
  int zero = 0, top = 255;
};
struct Range {
  float low = 0, high = 0;
};
// Bytes over a range, zero included. Where products of neighbours are added in 16 bits (AVX2), the
// top is 127: 2 x 127 x 127 still fits.
Scale scale_of(const Range& range);

// Weights of a product: floats, or whole numbers with one scale per output channel.
struct Weights {
  at::Tensor values;  // [outputs,inputs(,rows,cols)], fp32 or int8
  at::Tensor bias;    // [outputs], fp32
  at::Tensor scales;  // [outputs], of int8
};
// The same in int8. Weights that were stored so come back as they were.
Weights in_int8(const Weights& weights);

// What happens to a product before it is written.
struct Finish {
  bool add = false;              // to the floats that are there
  bool gelu = false;             // after the addition
  const Scale* bytes = nullptr;  // written as bytes of this scale; null: floats
};

// Rows are computed up to this number of them more: buffers of `rows` rows hold room for
// padded_rows(rows), whatever stands there.
int64_t padded_rows(int64_t rows);
// [rows, width] with that room behind it.
at::Tensor room_for(int64_t rows, int64_t width, at::ScalarType type);

// y = x W^T + b. Every function may be called from several threads.
class Dense {
 public:
  // Weights are shared, not copied, as far as they are in int8; null scale: products of floats.
  Dense(const Weights& weights, const Scale* input);
  ~Dense();
  int64_t inputs() const;
  int64_t outputs() const;
  // x: bytes or floats [rows,inputs]; out: floats or bytes [rows,outputs]; both with room.
  void run(const void* x, int64_t rows, void* out, const Finish& finish = {}) const;
  // The same for one of several threads that share rows which their caller has counted.
  void share(const void* x, int64_t rows, void* out, const Finish& finish = {}) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Tells whoever counts the work (lab/measure/cost.h) of products that are shared between threads.
void count_work(int64_t multiply_adds);

// x [B,H,W,inputs] and the result with channels last; zero padding.
class Convolution {
 public:
  Convolution(const Weights& weights, const std::vector<int64_t>& stride,
              const std::vector<int64_t>& padding, const Scale& input);
  ~Convolution();
  int64_t outputs() const;
  int64_t rows_after(int64_t rows) const;
  int64_t cols_after(int64_t cols) const;
  void run(const uint8_t* x, int64_t batch, int64_t rows, int64_t cols, void* out,
           const Finish& finish = {}) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Why there are no fast kernels here; "" when there are. Tried once: instructions that a virtual
// machine reports and does not have end the attempt, not the program.
const std::string& no_fast_kernels();
// The instructions that they use, for reports: "AVX512-VNNI", "AVX2", ...
std::string kernel_instructions();

}  // namespace arrcoc::kernels
