#include "models/tiny/row_kernels.h"

#include <ATen/Parallel.h>

#include <algorithm>

#define ARRCOC_LOOPS "models/tiny/row_kernels.inc"

namespace arrcoc::tiny {

#include "models/kernels/by_machine.inc"

namespace {

struct Kernels {
  decltype(&plain::work_row) work = ARRCOC_BY_MACHINE(work_row);
  decltype(&plain::light) light = ARRCOC_BY_MACHINE(light);
  decltype(&plain::add_row) add = ARRCOC_BY_MACHINE(add_row);
};

const Kernels& kernels() {
  static const Kernels chosen;
  return chosen;
}

}  // namespace

float work_row(float* x, int64_t width, const RowWork& work, float* floats, uint8_t* bytes) {
  return kernels().work(x, width, work, floats, bytes);
}

void light(const float* x, int64_t count, const Scale& scale, uint8_t* bytes) {
  kernels().light(x, count, scale, bytes);
}

void add_row(const float* x, int64_t width, float* to) { kernels().add(x, width, to); }

void work_rows(float* x, int64_t rows, int64_t width, const RowWork& work) {
  const auto row = kernels().work;
  at::parallel_for(0, rows, std::max<int64_t>(1, 65536 / width), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const float product =
          row(x + i * width, width, work, work.floats ? work.floats + i * width : nullptr,
              work.bytes ? work.bytes + i * width : nullptr);
      if (work.products) work.products[i] = product;
    }
  });
}

}  // namespace arrcoc::tiny
