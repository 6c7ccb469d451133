#include "models/weights/device.h"

#include <ATen/Context.h>

#include "arrcoc/error.h"
#include "arrcoc/weights.h"

namespace arrcoc {

at::Device device_named(const std::string& name) {
  at::Device device = at::kCPU;
  bool known = false;
  try {
    device = at::Device(name);
    known = device.is_cpu() || device.is_cuda();  // libtorch has names for many more
  } catch (const c10::Error&) {
    known = false;
  }
  if (!known)
    throw Error(ErrorCode::bad_argument, "unknown device '" + name + "'; known: cpu, cuda, cuda:N");
  if (device.is_cuda() && !at::hasCUDA())
    throw Error(ErrorCode::unsupported, "this build of libtorch has no CUDA, or no GPU was found");
  // Convolutions of float32 are float32: libtorch would take ten bits of each number.
  if (device.is_cuda()) at::globalContext().setAllowTF32CuDNN(false);
  return device;
}

at::ScalarType dtype_named(const std::string& name, at::Device device) {
  if (name.empty()) return device.is_cpu() ? at::kFloat : at::kBFloat16;
  for (at::ScalarType known : {at::kFloat, at::kBFloat16, at::kHalf})
    if (name == dtype_name(known)) return known;
  throw Error(
      ErrorCode::bad_argument,
      "unknown dtype '" + name +
          "'; known: float32, bfloat16, float16 and, for models of others on the CPU, int8");
}

}  // namespace arrcoc
