#include "models/tiny/attend_kernels.h"

#define ARRCOC_LOOPS "models/tiny/attend_kernels.inc"

namespace arrcoc::tiny {

#include "models/kernels/by_machine.inc"

namespace {

struct Kernels {
  decltype(&plain::attend_rows) rows = ARRCOC_BY_MACHINE(attend_rows);
  decltype(&plain::attend_rows_in_bytes) bytes = ARRCOC_BY_MACHINE(attend_rows_in_bytes);
};

const Kernels& kernels() {
  static const Kernels chosen;
  return chosen;
}

}  // namespace

void attend_rows(const AttendRows& rows, float* out, int64_t out_step) {
  kernels().rows(rows, out, out_step);
}
void attend_rows_in_bytes(const AttendRows& rows, float per, float zero, float top, uint8_t* out,
                          int64_t out_step) {
  kernels().bytes(rows, per, zero, top, out, out_step);
}

}  // namespace arrcoc::tiny
