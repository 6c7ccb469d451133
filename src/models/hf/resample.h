// Resampling 8-bit pictures as Pillow does it, to the last bit: separable filters widened when
// shrinking, fixed-point coefficients, rounding to 8 bits between the two passes.
#pragma once

#include <ATen/core/Tensor.h>

namespace arrcoc::hf {

// Numbered like PIL.Image.Resampling, which is how preprocessor_config.json spells them.
enum class Filter { nearest = 0, lanczos = 1, bilinear = 2, bicubic = 3, box = 4, hamming = 5 };

// rgb [C,H,W] uint8 -> [C,height,width] uint8.
at::Tensor resample(const at::Tensor& rgb, int64_t height, int64_t width, Filter filter);

}  // namespace arrcoc::hf
