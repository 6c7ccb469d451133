// Arithmetic on rows of floats: the inner loops of the CPU kernels.
//
// "Padded" rows hold w + 2 values: the row with its first and last value repeated, which replicates
// the picture's border.
#pragma once

#include <cstdint>

namespace arrcoc::texture::rows {

// Rec. 709 luma.
void luma(const float* r, const float* g, const float* b, int64_t w, float* out);

// The same as 0..255, rounded.
void luma_bytes(const float* r, const float* g, const float* b, int64_t w, uint8_t* out);

// peak = max(peak, row)
void larger(const float* row, int64_t w, float* peak);

// sum += row, and of its squares.
void add(const float* row, int64_t w, float* sum);
void add_moments(const float* row, int64_t w, float* sum, float* squares);

// Means of runs of `cell` values (the last may be short); scale divides by the number of rows.
void mean_of_cells(const float* sum, int64_t w, int64_t cell, int64_t rows, float* out);

// gx, gy: Sobel / 4; high: 4-neighbour Laplacian. Of three padded rows.
void stencils(const float* up, const float* at, const float* down, int64_t w, float* gx, float* gy,
              float* high);
// The same with the gradient's size instead of its parts.
void outlines(const float* up, const float* at, const float* down, int64_t w, float* size,
              float* high);
// Adds gx, gy and sqrt(gx^2 + gy^2) to three rows of sums.
void add_gradients(const float* up, const float* at, const float* down, int64_t w, float* gx,
                   float* gy, float* size);
// m / (1 + m) with m = sqrt(gx^2 + gy^2)
void soft_edges(const float* up, const float* at, const float* down, int64_t w, float* out);

// (row - mean) / (deviation + 0.02), the deviation from the means of values and of squares.
void normalise(const float* row, const float* mean, const float* square, int64_t w, float* out);

// out = a (1 - t) + b t
void blend(const float* a, const float* b, float t, int64_t w, float* out);
// out[i] = from[left[i]] (1 - part[i]) + from[right[i]] part[i]
void spread(const float* from, const int32_t* left, const int32_t* right, const float* part,
            int64_t w, float* out);

// sqrt((x - 0.5)^2 + dy^2) / sqrt(0.5)
void eccentricity(const float* x, float dy, int64_t w, float* out);

}  // namespace arrcoc::texture::rows
