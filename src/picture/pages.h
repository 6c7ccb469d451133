// Memory of frames.
#pragma once

#include <ATen/core/Tensor.h>

namespace arrcoc {

// Uninitialised floats in large pages. One buffer of the latest size waits for the next frame:
// clearing it again would take as long as filling it.
at::Tensor frame_pages(at::IntArrayRef sizes);

}  // namespace arrcoc
