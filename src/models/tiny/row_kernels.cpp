#include "models/tiny/row_kernels.h"

#include <ATen/Parallel.h>

#include <algorithm>

// As in attend_kernels.cpp: a copy of the loops for each instruction set.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define ARRCOC_KERNELS_BY_MACHINE 1
#endif

// Vectors are handed on within this file only, all of it inlined.
#pragma GCC diagnostic ignored "-Wpsabi"

namespace arrcoc::tiny {

namespace plain {
#include "models/tiny/row_kernels.inc"
}

#ifdef ARRCOC_KERNELS_BY_MACHINE
#pragma GCC push_options
#pragma GCC target("arch=haswell")
namespace avx2 {
#include "models/tiny/row_kernels.inc"
}
#pragma GCC pop_options
#pragma GCC push_options
#pragma GCC target("arch=skylake-avx512,prefer-vector-width=512")
namespace avx512 {
#include "models/tiny/row_kernels.inc"
}
#pragma GCC pop_options
#endif

namespace {

using Row = decltype(&plain::work_row);

Row choose() {
#ifdef ARRCOC_KERNELS_BY_MACHINE
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw"))
    return avx512::work_row;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return avx2::work_row;
#endif
  return plain::work_row;
}

Row chosen() {
  static const Row row = choose();
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
