#include "models/tiny/attend_kernels.h"

#include <cstring>

#define ARRCOC_LOOPS "models/tiny/attend_kernels.inc"

namespace arrcoc::tiny {

#include "models/kernels/by_machine.inc"

namespace {

struct Kernels {
  decltype(&plain::products) products = ARRCOC_BY_MACHINE(products);
  decltype(&plain::exponentials) exponentials = ARRCOC_BY_MACHINE(exponentials);
  decltype(&plain::weigh) weigh = ARRCOC_BY_MACHINE(weigh);
};

const Kernels& kernels() {
  static const Kernels chosen;
  return chosen;
}

}  // namespace

void products(const float* q, const float* keys, int64_t d, int64_t stride, float* scores) {
  kernels().products(q, keys, d, stride, scores);
}
float exponentials(float* x, int64_t n) { return kernels().exponentials(x, n); }
void weigh(const float* p, int64_t stride, const float* total, const float* values, int64_t length,
           int64_t d, float* out) {
  kernels().weigh(p, stride, total, values, length, d, out);
}

}  // namespace arrcoc::tiny
