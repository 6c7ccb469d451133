// The inner loops of attend_cpu, compiled once per instruction set.
#pragma once

#include <cstdint>

namespace arrcoc::tiny {

inline constexpr int kLanes = 16;  // queries at a time: a register of AVX-512, two of AVX2

// Up to kLanes queries of one head, each in a lane of its own: scores, their largest, exponentials
// and sums need no step across lanes, and keys and values are read as they lie.
struct AttendRows {
  const float* q;
  int64_t q_step, rows;  // rows <= kLanes
  const float *k, *v;    // `step` floats from one to the next
  int64_t k_step, v_step, length;
  const float* mask;  // of keys, additive; or null
  int64_t d;          // a multiple of kLanes
  float* bench;       // kLanes (2 d + length + kLanes) floats
  // What each query gives the first `told` keys, times `part`, is added to shares[r][key].
  float* shares;
  int64_t shares_step, told;
  float part;
};
// out[r][j] <- softmax(q k^T / sqrt(d) + mask) v.
void attend_rows(const AttendRows& rows, float* out, int64_t out_step);
// The same as bytes, out / step + zero within [0, top].
void attend_rows_in_bytes(const AttendRows& rows, float per, float zero, float top, uint8_t* out,
                          int64_t out_step);

}  // namespace arrcoc::tiny
