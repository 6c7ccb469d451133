// Large buffers that are handed back and used again: fresh memory of this size costs a page fault
// every 4 KB, as much time as the work in it.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

namespace arrcoc::kernels {

// An uninitialised dense tensor; its memory goes back when the last reference to it does. Safe for
// threads. At most 64 MB wait for their next use.
at::Tensor scratch(const std::vector<int64_t>& sizes, at::ScalarType type);

}  // namespace arrcoc::kernels
