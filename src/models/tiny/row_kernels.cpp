#include "models/tiny/row_kernels.h"

#include <ATen/Parallel.h>

#include <algorithm>

#define ARRCOC_LOOPS "models/tiny/row_kernels.inc"

namespace arrcoc::tiny {

#include "models/kernels/by_machine.inc"

namespace {

using Row = decltype(&plain::work_row);

Row chosen() {
  static const Row row = ARRCOC_BY_MACHINE(work_row);
  return row;
}

}  // namespace

void work_row(const float* x, int64_t width, const RowWork& work, float* floats, uint8_t* bytes) {
  chosen()(x, width, work, floats, bytes);
}

void work_rows(const float* x, int64_t rows, int64_t width, const RowWork& work) {
  const Row row = chosen();
  at::parallel_for(0, rows, std::max<int64_t>(1, 65536 / width), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      row(x + i * width, width, work, work.floats ? work.floats + i * width : nullptr,
          work.bytes ? work.bytes + i * width : nullptr);
  });
}

}  // namespace arrcoc::tiny
