// A checkpoint's tensors, held by name for training.
#pragma once

#include <array>
#include <map>
#include <string>
#include <vector>

#include "models/hf/checkpoint.h"
#include "models/hf/vlm.h"

namespace arrcoc::training {

using Named = std::map<std::string, at::Tensor>;

// float32 on the CPU, one tensor a name; they want gradients where they learn.
class KeptSource : public hf::FileSource {
 public:
  KeptSource(const std::string& folder, const hf::ModelConfig& config, bool learns)
      : hf::FileSource(WeightFile::open(folder), hf::spellings_of(config), at::kFloat, at::kCPU),
        learns_(learns) {}
  at::Tensor get(const std::string& name, const std::vector<int64_t>& shape) override;
  const Named& tensors() const { return tensors_; }  // under the names of the file

 private:
  bool learns_;
  Named tensors_;
};

// Of all names and bytes.
std::array<uint8_t, 32> digest_of(const Named& tensors);

// AdamW (0.9, 0.98, 1e-8) with the joint norm of all gradients cut at 1; matrices decay.
class Steps {
 public:
  explicit Steps(std::vector<at::Tensor> learned, double decay = 0.01);
  // With the gradients that are there, which are zero afterwards. Nothing where one is not finite.
  void step(double rate);

 private:
  std::vector<at::Tensor> learned_, mean_, square_;
  double decay_;
  int64_t count_ = 0;
};

}  // namespace arrcoc::training
