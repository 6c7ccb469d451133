// Area averaging of 8-bit pictures without a float copy of the whole.
#pragma once

#include <ATen/core/Tensor.h>

namespace arrcoc {

// [3,H,W] uint8 -> [3,h,w] float (0..255), h <= H, w <= W: the exact mean of the area under each
// new pixel. Works row by row: extra memory is one row per thread.
at::Tensor area_mean(const at::Tensor& rgb, int64_t height, int64_t width);

}  // namespace arrcoc
