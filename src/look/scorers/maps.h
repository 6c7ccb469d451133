// Between tensors and maps.
#pragma once

#include <ATen/core/Tensor.h>

#include "arrcoc/look.h"

namespace arrcoc::scoring {

// [h,w] of any resolution -> a map of the given shape, by area mean (or bilinear when it grows).
Map to_map(const at::Tensor& plane, const Map& shape);

// How much each cell looks like print: dense edges after local contrast normalisation, found at
// half resolution. Needs no weights; grey on grey counts like black on white.
Map print_map(const Sight& sight);

// Round things: every strong edge votes for the points at several radii along its gradient; where
// votes of many directions meet, something round is centred there. In [0,1], largest 1 (or all 0).
Map radial_symmetry(const Sight& sight);

// features [D,rows,cols], tokens [T,D] -> Map: cosine of every cell with every question token,
// largest over the tokens, then a sigmoid around the mean. keep (optional, [T] bool) leaves out
// uninformative tokens. Error{bad_argument} when the widths differ or no token is left.
Map couple(const at::Tensor& features, const at::Tensor& tokens, const at::Tensor& keep,
           const Map& shape, float sharpness = 10.0F);

}  // namespace arrcoc::scoring
