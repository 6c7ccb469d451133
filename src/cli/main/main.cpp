#include <unistd.h>

#include <cstdlib>

#include "cli/cli.h"

namespace {

// Idle OpenMP threads that spin take the cores that OpenBLAS's own threads need: on two cores an
// answer takes three times as long. libgomp reads the setting when it is loaded, before main, so
// the program starts itself once more. Whoever has set it is left alone.
void let_idle_threads_sleep(char** argv) {
  if (std::getenv("OMP_WAIT_POLICY") != nullptr) return;
  if (::setenv("OMP_WAIT_POLICY", "PASSIVE", 0) != 0) return;
  ::execv("/proc/self/exe", argv);  // comes back only when that is impossible
}

}  // namespace

int main(int argc, char** argv) {
  let_idle_threads_sleep(argv);
  return arrcoc::cli::run(argc, argv);
}
