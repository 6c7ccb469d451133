// What of this machine a run uses.
#pragma once

#include <ATen/ATen.h>
#include <torch/version.h>

#include <algorithm>
#include <string>
#include <thread>

#include "arrcoc/error.h"

namespace arrcoc::training {

// auto, cpu or cuda. Error{unsupported} for cuda where there is none.
inline at::Device device_of(const std::string& name) {
  const bool there = at::hasCUDA();
  if (name == "cuda" && !there)
    throw Error(ErrorCode::unsupported, "device cuda: this libtorch finds no CUDA device");
  return at::Device(name == "cpu" || !there ? at::kCPU : at::kCUDA);
}

// Threads that make pictures: as many as wanted, else (0) all cores but two.
inline int workers_of(int wanted) {
  const int cores = static_cast<int>(std::thread::hardware_concurrency());
  return wanted > 0 ? wanted : std::max(1, cores - 2);
}

inline void prefer_fast_kernels() {
  at::globalContext().setBenchmarkCuDNN(true);  // convolutions keep their shapes
#if TORCH_VERSION_MAJOR >= 2
  at::globalContext().setSDPUseCuDNN(false);  // it would plan anew for every number of tokens
#endif
}

}  // namespace arrcoc::training
