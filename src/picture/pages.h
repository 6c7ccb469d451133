// Memory for large arrays of which only a part is written.
#pragma once

#include <ATen/core/Tensor.h>

namespace arrcoc {

// Zero-filled float tensor on the CPU whose pages come from the system at the first touch: what is
// never written costs nothing, and what is written comes in large pages where the system has them.
at::Tensor zero_pages(at::IntArrayRef sizes);

}  // namespace arrcoc
