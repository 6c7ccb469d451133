// What passes between the stages, behind one switch.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

#include "arrcoc/map.h"

namespace arrcoc {

struct StageStatistics {
  std::string stage;  // "texture", "knowing.coupling", ...
  std::vector<int64_t> shape;
  std::string dtype;
  double min = 0, max = 0, mean = 0, std = 0;
};

// Error{numeric} with the stage's name when a value is NaN or infinite.
StageStatistics measure(const std::string& stage, const at::Tensor& tensor);
StageStatistics measure(const std::string& stage, const Map& map);

}  // namespace arrcoc
