// What happens between products, row by row in one pass: normalisation, GELU, bytes.
#pragma once

#include <cstdint>

#include "models/tiny/kernels.h"

namespace arrcoc::tiny {

inline constexpr int kRowLanes = 16;  // widths are multiples of this

// Layer normalisation of rows [rows,width], then what is wanted of it.
struct RowWork {
  const float* weight = nullptr;  // null: rows are taken as they are
  const float* bias = nullptr;
  bool gelu = false;         // of what becomes bytes
  float* floats = nullptr;   // normalised, before GELU; may be x itself
  uint8_t* bytes = nullptr;  // of `scale`
  Scale scale;
};
// On all threads; rows are independent: their number changes no bit.
void work_rows(const float* x, int64_t rows, int64_t width, const RowWork& work);

// The same of one row, on this thread.
void work_row(const float* x, int64_t width, const RowWork& work, float* floats, uint8_t* bytes);

}  // namespace arrcoc::tiny
