// Several processes that train one model: each works on its share of a step, gradients are added.
//
// Started by RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT, as torchrun, Slurm scripts and
// Kubernetes PyTorchJobs set them. Gloo on CPUs, NCCL on GPUs where this libtorch has it.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>

namespace arrcoc::training {

class Together {
 public:
  virtual ~Together() = default;
  virtual int rank() const = 0;
  virtual int world() const = 0;
  // Adds the tensors of all processes; each has the sum afterwards.
  virtual void sum(at::Tensor& tensor) = 0;

  // A process on its own when WORLD_SIZE is absent or 1. Error{bad_argument} for a half-set or
  // senseless environment, Error{unsupported} when this build has no c10d.
  static std::unique_ptr<Together> from_environment(at::Device device);
};

}  // namespace arrcoc::training
