// The inner loops of attend_cpu, compiled once per instruction set.
#pragma once

#include <cstdint>

namespace arrcoc::tiny {

inline constexpr int kRows = 8;    // queries at a time
inline constexpr int kLanes = 16;  // floats of one vector: a register of AVX-512, two of AVX2

// scores[r][s] = sum_i q[r][i] keys[i][s] for kRows queries; keys is [d][stride], stride a multiple
// of kLanes.
void products(const float* q, const float* keys, int64_t d, int64_t stride, float* scores);
// x <- exp(x - the largest), returns the sum; n is a multiple of kLanes. 1e-7 relative.
float exponentials(float* x, int64_t n);
// out[r][j] = sum_s p[r][s] values[s][j] / total[r] for kRows rows; values is [length][d], d a
// multiple of kLanes.
void weigh(const float* p, int64_t stride, const float* total, const float* values, int64_t length,
           int64_t d, float* out);

}  // namespace arrcoc::tiny
