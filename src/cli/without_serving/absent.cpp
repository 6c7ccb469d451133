// The server in a build without cpp-httplib.
#include "cli/without_serving/absent.h"

namespace arrcoc::cli {

void add_serve(CLI::App& app) { absent(app, "serve", "HTTP and SQLite"); }
void add_mcp(CLI::App& app) { absent(app, "mcp", "HTTP and SQLite"); }

}  // namespace arrcoc::cli
