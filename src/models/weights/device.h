// Where a model computes, and in what.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>

namespace arrcoc {

// "cpu", "cuda", "cuda:1". Error{bad_argument, unsupported}. With CUDA this process computes
// convolutions of float32 in float32 from then on.
at::Device device_named(const std::string& name);
// "" means float32 on the CPU and bfloat16 elsewhere. Error{bad_argument}.
at::ScalarType dtype_named(const std::string& name, at::Device device);

}  // namespace arrcoc
