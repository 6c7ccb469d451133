// check_golden of arrcoc/hf.h on another device.
#pragma once

#include <string>
#include <vector>

#include "models/hf/hf.h"

namespace arrcoc::hf {

// float32 on that device ("cpu", "cuda", ...); the tolerances are the same.
std::vector<TensorCheck> check_golden_on(const std::string& folder, const std::string& golden,
                                         const std::string& device);

}  // namespace arrcoc::hf
