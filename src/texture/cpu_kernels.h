// One-pass CPU forms of the two filters that dominate at full resolution. The tensor-op forms in
// filters.cpp define what they compute (and run on CUDA); a test holds the two together.
// On a 1024x1024 frame, Debian libtorch 1.13, a busy machine, best of 7: stencils 108 ms as a
// convolution (one thread), 11 ms here (two threads); pooling three planes by 16 7.3 ms against
// 0.4 ms. Not ratios of one run: measure again before building on them.
#pragma once

#include <ATen/core/Tensor.h>

namespace arrcoc::texture {

// Float tensors on the CPU that need no gradient.
bool has_cpu_kernel(const at::Tensor& maps);

at::Tensor stencils_cpu(const at::Tensor& gray);
at::Tensor pool_cpu(const at::Tensor& maps, int64_t cell_h, int64_t cell_w, int64_t rows,
                    int64_t cols);

}  // namespace arrcoc::texture
