#include <unistd.h>

#include <cstdlib>

#include "cli/cli.h"

namespace arrcoc::cli {

// Idle OpenMP threads that spin take the cores that OpenBLAS's own threads need: on two cores an
// answer takes three times as long. Threads that sleep at once are woken between any two of the
// fast kernels' products, which doubles their time; 4,000 turns bridge those gaps and cost OpenBLAS
// nothing (docs/measurements.md, "Fast kernels"). OpenBLAS's idle threads in turn call sched_yield
// for 2^26 cycles, about 20 ms, where 2^18 bridge the gaps between its products. Both libraries
// read their setting when they are loaded, before main, so the program starts itself once more.
// What somebody has set is left alone.
void let_idle_threads_sleep(char** argv) {
  bool changed = false;
  const auto usual = [&](const char* name, const char* value) {
    if (std::getenv(name) == nullptr) changed |= ::setenv(name, value, 0) == 0;
  };
  if (std::getenv("OMP_WAIT_POLICY") == nullptr) usual("GOMP_SPINCOUNT", "4000");
  usual("OMP_WAIT_POLICY", "PASSIVE");
  usual("OPENBLAS_THREAD_TIMEOUT", "18");
  if (changed) ::execv("/proc/self/exe", argv);  // comes back only when that is impossible
}

}  // namespace arrcoc::cli
