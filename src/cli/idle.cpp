#include <unistd.h>

#include <cstdlib>
#include <utility>

#include "cli/cli.h"

namespace arrcoc::cli {

// Idle OpenMP threads that spin take the cores that OpenBLAS's own threads need: on two cores an
// answer takes three times as long. OpenBLAS's idle threads in turn call sched_yield for 2^26
// cycles, about 20 ms, where 2^18 bridge the gaps between its products. Both libraries read their
// setting when they are loaded, before main, so the program starts itself once more. What somebody
// has set is left alone.
void let_idle_threads_sleep(char** argv) {
  bool changed = false;
  for (const auto& [name, value] :
       {std::pair{"OMP_WAIT_POLICY", "PASSIVE"}, std::pair{"OPENBLAS_THREAD_TIMEOUT", "18"}})
    if (std::getenv(name) == nullptr) {
      if (::setenv(name, value, 0) != 0) return;
      changed = true;
    }
  if (changed) ::execv("/proc/self/exe", argv);  // comes back only when that is impossible
}

}  // namespace arrcoc::cli
