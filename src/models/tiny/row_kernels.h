// What happens between products, row by row in one pass: normalisation, GELU, bytes.
#pragma once

#include <cstdint>

#include "models/tiny/kernels.h"

namespace arrcoc::tiny {

inline constexpr int kRowLanes = 16;  // widths are multiples of this

// Layer normalisation of rows [rows,width], then what is wanted of it. GELU is that of bytes: 4e-4
// off at most.
struct RowWork {
  bool lit = false;               // the row itself becomes its GELU first
  const float* weight = nullptr;  // null: rows are taken as they are
  const float* bias = nullptr;
  bool gelu = false;         // of what becomes bytes
  float* floats = nullptr;   // normalised, before GELU; may be x itself
  uint8_t* bytes = nullptr;  // of `scale`
  Scale scale;
  const float* along = nullptr;  // [width]: the product of a normalised row with it ...
  float* products = nullptr;     // ... of each row
};
// On all threads; rows are independent: their number changes no bit.
void work_rows(float* x, int64_t rows, int64_t width, const RowWork& work);

// The same of one row, on this thread; returns its product.
float work_row(float* x, int64_t width, const RowWork& work, float* floats, uint8_t* bytes);
// Bytes of the GELU of `count` numbers, on this thread.
void light(const float* x, int64_t count, const Scale& scale, uint8_t* bytes);
// to += x, on this thread.
void add_row(const float* x, int64_t width, float* to);

}  // namespace arrcoc::tiny
