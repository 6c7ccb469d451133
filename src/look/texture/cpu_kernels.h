// One-pass CPU forms of what is limited by memory at full resolution. The tensor-op forms in
// filters.cpp and sense.cpp define what they compute (and run on CUDA); tests hold the two
// together. Rows are shared out over threads; no result depends on how many there are.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace arrcoc::texture {

// Float tensors on the CPU that need no gradient.
bool has_cpu_kernel(const at::Tensor& maps);

// Size of whole cells when h x w pixels are cut into rows x cols of them, only the last row and
// column of which may be short; height 0 where no such cells exist.
struct Cell {
  int64_t height = 0, width = 0;
};
Cell whole_cells(int64_t h, int64_t w, int64_t rows, int64_t cols);

// gray [B,1,h,w] -> [B,3,h,w], see stencils().
at::Tensor stencils_cpu(const at::Tensor& gray);

// [B,C,h,w] -> [B,C,rows,cols]
at::Tensor pool_cpu(const at::Tensor& maps, Cell cell, int64_t rows, int64_t cols);

// rgb [B,3,h,w] -> [B,6,rows,cols]: means of red, green, blue, Sobel x, Sobel y and of the Sobel
// magnitude of luma. 12 bytes are read and about 40 operations done per pixel.
at::Tensor pooled_outlines_cpu(const at::Tensor& rgb, Cell cell, int64_t rows, int64_t cols);

// See rgb_to_lab(); within 2e-6 of it.
at::Tensor rgb_to_lab_cpu(const at::Tensor& rgb);

// rgb [B,3,h,w] -> [B,1,h,w]
at::Tensor luma_cpu(const at::Tensor& rgb);

// rgb [B,3,h,w] -> [B,1,rows,cols]: mean luma.
at::Tensor pooled_luma_cpu(const at::Tensor& rgb, Cell cell, int64_t rows, int64_t cols);

// gray [B,1,h,w] -> [B,2,rows,cols]: means of values and of squares.
at::Tensor moments_cpu(const at::Tensor& gray, Cell cell, int64_t rows, int64_t cols);

// Mean over the `size` x `size` cells around each that exist; size is odd.
at::Tensor box_cpu(const at::Tensor& maps, int64_t size);

// out (views of the result, [h,w] each) of one picture, rgb [3,h,w]. 12 bytes are read and 12
// written per pixel.
struct Outlines {
  float *eccentricity, *edges, *highpass;
};
void outlines_cpu(const at::Tensor& rgb, const Outlines& out);

// The edges of normalised_edges() from gray [h,w] and its local moments [2,rows,cols], which are
// stretched on the way.
void normalised_edges_cpu(const float* gray, const at::Tensor& moments, int64_t h, int64_t w,
                          float* out);

// Bilinear, [k,rows,cols] -> k planes of h x w.
void stretch_cpu(const at::Tensor& maps, int64_t h, int64_t w, float* out);

}  // namespace arrcoc::texture
