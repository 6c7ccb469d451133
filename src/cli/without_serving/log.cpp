// The example log in a build without SQLite.
#include "cli/without_serving/absent.h"

namespace arrcoc::cli {

void add_log(CLI::App& app) { absent(app, "log", "SQLite"); }

}  // namespace arrcoc::cli
