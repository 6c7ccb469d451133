#include "models/tiny/attend_kernels.h"

#include <cstring>

// A vector type gets its registers where it is declared, so each instruction set has its own copy
// of the loops; the best that the machine has is chosen once.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define ARRCOC_KERNELS_BY_MACHINE 1
#endif

namespace arrcoc::tiny {

namespace plain {
#include "models/tiny/attend_kernels.inc"
}

#ifdef ARRCOC_KERNELS_BY_MACHINE
#pragma GCC push_options
#pragma GCC target("arch=haswell")
namespace avx2 {
#include "models/tiny/attend_kernels.inc"
}
#pragma GCC pop_options
#pragma GCC push_options
#pragma GCC target("arch=skylake-avx512")
namespace avx512 {
#include "models/tiny/attend_kernels.inc"
}
#pragma GCC pop_options
#endif

namespace {

struct Kernels {
  decltype(&plain::products) products = plain::products;
  decltype(&plain::exponentials) exponentials = plain::exponentials;
  decltype(&plain::weigh) weigh = plain::weigh;
};

Kernels choose() {
#ifdef ARRCOC_KERNELS_BY_MACHINE
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw"))
    return {avx512::products, avx512::exponentials, avx512::weigh};
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    return {avx2::products, avx2::exponentials, avx2::weigh};
#endif
  return {};
}

const Kernels& kernels() {
  static const Kernels chosen = choose();
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
