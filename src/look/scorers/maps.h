// Between tensors and maps.
#pragma once

#include <ATen/core/Tensor.h>

#include "arrcoc/look.h"

namespace arrcoc::scoring {

// [h,w] of any resolution -> a map of the given shape, by area mean (or bilinear when it grows).
Map to_map(const at::Tensor& plane, const Map& shape);

// A channel of the texture as a map; all zeros when the texture does not have it.
Map channel_map(const Sight& sight, Channel channel);

// How much each cell looks like print: dense edges after local contrast normalisation, found at
// half resolution. Needs no weights; grey on grey counts like black on white.
Map print_map(const Sight& sight);

}  // namespace arrcoc::scoring
