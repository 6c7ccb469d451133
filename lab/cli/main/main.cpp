// arrcoc-lab: the commands that measure, train and make scenes; `arrcoc eval` and the like start
// it.
#include "cli/completion.h"
#include "lab/baselines/baselines.h"
#include "lab/cli/lab.h"

int main(int argc, char** argv) {
  using namespace arrcoc::cli;
  let_idle_threads_sleep(argv);
  arrcoc::baselines::register_baselines();
  return run(argc, argv,
             {{add_eval, add_bench, add_synth, add_train, add_label, add_clips, add_passes,
               add_completion},
              ""});
}
