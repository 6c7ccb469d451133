#include "cli/cli.h"
#include "cli/completion.h"
#include "cli/main/lab.h"

int main(int argc, char** argv) {
  using namespace arrcoc::cli;
  if (const char* command = command_of(argc, argv); command && is_lab_command(command))
    return start_lab(argv, command);
  let_idle_threads_sleep(argv);
  return run(argc, argv,
             {{add_look, add_ask, add_watch, add_serve, add_mcp, add_models, add_info, add_log,
               add_doctor, add_completion},
              lab_commands_help(),
              lab_commands(),
              welcome});
}
