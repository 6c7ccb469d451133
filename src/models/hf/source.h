// Where a model's tensors come from: a checkpoint under one of several spellings, or nothing yet
// (to learn which tensors a configuration needs).
#pragma once

#include <ATen/core/Tensor.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "arrcoc/weights.h"
#include "models/kernels/rows.h"

namespace arrcoc::hf {

// Our prefix of a name and the prefixes checkpoints use for it, the preferred one first.
struct Spelling {
  std::string ours;
  std::vector<std::string> theirs;
};
using Spellings = std::vector<Spelling>;

class Source {
 public:
  // in_bytes: linear layers are made for products in 8 bits.
  explicit Source(bool in_bytes = false) : in_bytes_(in_bytes) {}
  virtual ~Source() = default;
  virtual bool has(const std::string& name) const = 0;
  // The tensor, of that shape. Error{bad_weights} naming file and tensor otherwise.
  virtual at::Tensor get(const std::string& name, const std::vector<int64_t>& shape) = 0;
  // The same for tables whose rows are looked up and for weights of layer(): as it is stored, where
  // a copy in another type would be the larger part of what the model holds.
  virtual at::Tensor table(const std::string& name, const std::vector<int64_t>& shape) {
    return get(name, shape);
  }

  struct Linear {
    at::Tensor weight, bias;                                   // bias may be undefined
    std::shared_ptr<const kernels::RowDense> bytes = nullptr;  // in their place
    bool defined() const { return weight.defined() || bytes != nullptr; }
    at::Tensor operator()(const at::Tensor& x) const;
  };
  struct Norm {
    at::Tensor weight, bias;
    double eps = 1e-6;
    bool rms = false;
    at::Tensor operator()(const at::Tensor& x) const;
  };
  Linear linear(const std::string& name, int64_t in, int64_t out, bool bias = true);
  Norm layer_norm(const std::string& name, int64_t size, double eps);
  Norm rms_norm(const std::string& name, int64_t size, double eps);
  // The layer of weights [outputs,inputs] that table() gave.
  Linear layer(const at::Tensor& weight, const at::Tensor& bias = {}) const;

 protected:
  const bool in_bytes_;
};

using Linear = Source::Linear;
using Norm = Source::Norm;

class FileSource : public Source {
 public:
  FileSource(WeightFile weights, Spellings spellings, at::ScalarType dtype, at::Device device,
             bool in_bytes = false)
      : Source(in_bytes),
        weights_(std::move(weights)),
        spellings_(std::move(spellings)),
        dtype_(dtype),
        device_(device) {}
  bool has(const std::string& name) const override { return !find(name).empty(); }
  at::Tensor get(const std::string& name, const std::vector<int64_t>& shape) override;
  at::Tensor table(const std::string& name, const std::vector<int64_t>& shape) override;

 protected:
  // Its name in the file, checked for shape and type.
  std::string locate(const std::string& name, const std::vector<int64_t>& shape) const;

 private:
  std::string find(const std::string& name) const;  // "" when no spelling is in the file
  WeightFile weights_;
  Spellings spellings_;
  at::ScalarType dtype_;
  at::Device device_;
};

// Checks that a checkpoint has every tensor, without reading any.
class HeaderSource : public FileSource {
 public:
  HeaderSource(WeightFile weights, Spellings spellings)
      : FileSource(std::move(weights), std::move(spellings), at::kFloat, at::kCPU) {}
  at::Tensor get(const std::string& name, const std::vector<int64_t>& shape) override;
};

// Hands out tensors without memory behind them and remembers what was asked for.
class PlanSource : public Source {
 public:
  explicit PlanSource(Spellings spellings) : spellings_(std::move(spellings)) {}
  bool has(const std::string& name) const override { return planned_.count(name) != 0; }
  at::Tensor get(const std::string& name, const std::vector<int64_t>& shape) override;
  // Name in the preferred spelling -> shape.
  const std::map<std::string, std::vector<int64_t>>& planned() const { return planned_; }

 private:
  Spellings spellings_;
  std::map<std::string, std::vector<int64_t>> planned_;
};

// Norms of one, biases of zero, the rest small and normal; each tensor by its name and the seed.
at::Tensor random_tensor(const std::string& name, const std::vector<int64_t>& shape,
                         at::ScalarType dtype, at::Device device, uint64_t seed);

// Random tensors made where they are needed, for measuring without weights.
class RandomSource : public Source {
 public:
  RandomSource(at::ScalarType dtype, at::Device device, uint64_t seed, bool in_bytes = false)
      : Source(in_bytes), dtype_(dtype), device_(device), seed_(seed) {}
  bool has(const std::string&) const override { return false; }
  at::Tensor get(const std::string& name, const std::vector<int64_t>& shape) override {
    return random_tensor(name, shape, dtype_, device_, seed_);
  }

 private:
  at::ScalarType dtype_;
  at::Device device_;
  uint64_t seed_;
};

}  // namespace arrcoc::hf
