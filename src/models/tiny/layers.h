// Layers as plain functions over a list of weight tensors.
//
// Each layer remembers the numbers of its tensors in a Layout; the tensors themselves are passed to
// every call. Training keeps all of them in one flat buffer (one cast to bf16, one clip, one AdamW
// update a step instead of hundreds of small kernels), inference as a list read from a file.
// Activations have one type throughout: bf16 on CUDA, fp32 on the CPU.
#pragma once

#include <ATen/ATen.h>

#include <string>
#include <vector>

namespace arrcoc::tiny {

using at::Tensor;
using Tensors = std::vector<Tensor>;

enum class Init { normal, zeros, ones };

struct TensorSpec {
  std::string name;
  std::vector<int64_t> shape;
  Init init = Init::zeros;
  float deviation = 0;  // Init::normal
  bool decays = false;  // takes part in weight decay
  int64_t count() const;
};

// A matrix product or convolution of a network, by the numbers of its tensors.
struct ProductSpec {
  int weight = -1, bias = -1;
  std::vector<int64_t> stride, padding;  // of a convolution
};

// Names, shapes and first values of a network's tensors, in order.
class Layout {
 public:
  int add(const std::string& name, std::vector<int64_t> shape, Init init, float deviation = 0);
  const std::vector<TensorSpec>& specs() const { return specs_; }
  void add_product(ProductSpec product) { products_.push_back(std::move(product)); }
  const std::vector<ProductSpec>& products() const { return products_; }
  int64_t count() const;
  // Fresh weights on the CPU, fp32, from a seed; one tensor a spec.
  Tensors initial(uint64_t seed) const;

 private:
  std::vector<TensorSpec> specs_;
  std::vector<ProductSpec> products_;
};

class Prepared;  // prepared.h
class RangesSeen;

// Parameters of a network and how its products are made: as they are (nothing set: training,
// reference and everything on a GPU), in 8 bits on the CPU, or as they are with the ranges of all
// inputs written down. Lives as long as a call.
struct Parameters {
  Parameters(const Tensors& tensors, const Prepared* fast = nullptr, RangesSeen* seen = nullptr)
      : tensors(&tensors), fast(fast), seen(seen) {}
  const Tensor& operator[](int i) const { return (*tensors)[static_cast<size_t>(i)]; }
  const Tensors* tensors;
  const Prepared* fast;
  RangesSeen* seen;
};

struct Linear {
  int weight = -1, bias = -1;
  Linear() = default;
  // gain scales the usual deviation 1/sqrt(inputs).
  Linear(Layout& layout, const std::string& name, int64_t inputs, int64_t outputs, float gain = 1);
  Tensor operator()(const Parameters& w, const Tensor& x) const;
};

struct Norm {
  int weight = -1, bias = -1;
  int64_t width = 0;
  Norm() = default;
  Norm(Layout& layout, const std::string& name, int64_t width);
  Tensor operator()(const Parameters& w, const Tensor& x) const;
};

// x and the result are [B,H,W,C]; the kernel is dense.
struct Conv {
  int weight = -1, bias = -1;
  std::vector<int64_t> stride, padding;
  Conv() = default;
  Conv(Layout& layout, const std::string& name, int64_t inputs, int64_t outputs,
       std::vector<int64_t> kernel, std::vector<int64_t> stride, float gain = 1.4F);
  Tensor operator()(const Parameters& w, const Tensor& x) const;
};

// Keys and values of one sequence, [B,heads,S,width/heads].
struct KeysValues {
  Tensor keys, values;
};

// softmax(q k^T / sqrt(d) + mask) v; mask is additive, broadcast over heads and queries. `shares`
// (optional) becomes the softmax, [B,heads,L,S].
Tensor attend(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& mask, bool causal,
              Tensor* shares = nullptr);

struct Attention {
  Linear query, memory, out;  // memory gives keys and values
  int heads = 1;
  Attention() = default;
  Attention(Layout& layout, const std::string& name, int64_t width, int64_t memory_width, int heads,
            float gain);
  KeysValues remember(const Parameters& w, const Tensor& memory) const;
  // x [B,L,width] looks at itself or at a memory. mask [B,1,1,S] or undefined.
  Tensor operator()(const Parameters& w, const Tensor& x, const KeysValues& past,
                    const Tensor& mask, bool causal = false, Tensor* shares = nullptr) const;
};

struct Mlp {
  Linear in, out;
  Mlp() = default;
  Mlp(Layout& layout, const std::string& name, int64_t width, int64_t hidden, float gain);
  Tensor operator()(const Parameters& w, const Tensor& x) const;
};

// Pre-norm transformer layer.
struct Layer {
  Norm norm1, norm2;
  Attention attention;
  Mlp mlp;
  Layer() = default;
  Layer(Layout& layout, const std::string& name, int64_t width, int heads, int64_t hidden,
        float gain);
  Tensor operator()(const Parameters& w, const Tensor& x, const Tensor& mask) const;
};

inline std::vector<const Layer*> pointers_to(const std::vector<Layer>& layers) {
  std::vector<const Layer*> out;
  for (const Layer& layer : layers) out.push_back(&layer);
  return out;
}

// Additive mask [B,1,1,S] in the type of the activations from real [B,S] (bool).
Tensor additive_mask(const Tensor& real, at::ScalarType type);

// sin and cos of 2 pi v / wavelength for wavelengths first, 2*first, ...: [...] -> [..., 2*count].
Tensor waves(const Tensor& values, double first, int count);

}  // namespace arrcoc::tiny
