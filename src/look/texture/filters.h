// The image filters behind the channels; all batched, all on the device of their input.
#pragma once

#include <ATen/core/Tensor.h>

namespace arrcoc::texture {

// Luma averaged over cells, [B,3,h,w] -> [B,1,rows,cols].
at::Tensor pooled_luma(const at::Tensor& rgb, int64_t rows, int64_t cols);

// gray [B,1,h,w] -> [B,3,h,w]: Sobel x / 4, Sobel y / 4, 4-neighbour Laplacian. The border is
// replicated.
at::Tensor stencils(const at::Tensor& gray);

// The same as plain tensor ops, on any device.
at::Tensor stencil_ops(const at::Tensor& gray);

// The first two alone: [B,2,h,w].
at::Tensor gradients(const at::Tensor& gray);

// rgb_to_lab() as plain tensor ops, on any device.
at::Tensor rgb_to_lab_ops(const at::Tensor& rgb);

// rgb [B,3,h,w] -> [B,5,h,w]: luma twice, then its stencils, in one convolution.
at::Tensor outline_ops(const at::Tensor& rgb);

// sqrt(a^2 + b^2)
at::Tensor magnitude(const at::Tensor& a, const at::Tensor& b);

// Sobel magnitude m of (gray - local mean) / local deviation, as m / (1 + m): in [0,1), equal for
// faint and strong print, which is what finds grey text on grey.
at::Tensor normalised_edges(const at::Tensor& gray);

// m itself as plain tensor ops, from the values and their squares, [B,2,h,w].
at::Tensor normalised_gradient_ops(const at::Tensor& pair);

// Means of values and of squares around each cell of a coarse grid, [B,1,h,w] -> [B,2,rows,cols].
at::Tensor local_moments(const at::Tensor& gray);

// rgb [B,3,h,w] -> [B,1,h',w'], longer side about 128: sum over L, a, b of
// |centre - surround| between scales of a box pyramid, min-max per picture.
at::Tensor saliency(const at::Tensor& rgb);

// [B,C,h,w] -> [B,C,rows,cols], bilinear.
at::Tensor stretch(const at::Tensor& maps, int64_t rows, int64_t cols);

// x, y in 0..1 inclusive and eccentricity, [3,rows,cols].
at::Tensor coordinates(int64_t rows, int64_t cols, const at::TensorOptions& like);

}  // namespace arrcoc::texture
