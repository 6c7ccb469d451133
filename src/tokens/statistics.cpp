#include "arrcoc/tokens.h"

#include <ATen/ATen.h>

#include <cmath>

#include "arrcoc/error.h"

namespace arrcoc {

StageStatistics measure(const std::string& stage, const at::Tensor& tensor) {
  StageStatistics out;
  out.stage = stage;
  out.shape = tensor.sizes().vec();
  out.dtype = c10::toString(tensor.scalar_type());
  if (tensor.numel() == 0) return out;
  const at::Tensor values = tensor.to(at::kDouble);
  out.min = values.min().item<double>();
  out.max = values.max().item<double>();
  out.mean = values.mean().item<double>();
  out.std = values.numel() > 1 ? values.std().item<double>() : 0.0;
  if (!std::isfinite(out.min) || !std::isfinite(out.max) || !std::isfinite(out.mean)) {
    throw Error(ErrorCode::numeric, "[" + stage + "] holds NaN or infinity");
  }
  return out;
}

StageStatistics measure(const std::string& stage, const Map& map) {
  if (map.empty()) return measure(stage, at::empty({0, 0}));
  return measure(stage, at::tensor(map.values).reshape({map.rows, map.cols}));
}

}  // namespace arrcoc
