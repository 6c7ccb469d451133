// Commands that a build without HTTP and SQLite has not.
#include "arrcoc/error.h"
#include "cli/cli.h"

namespace arrcoc::cli {

namespace {

void absent(CLI::App& app, const std::string& name) {
  CLI::App* sub = app.add_subcommand(name, "not in this build (HTTP, SQLite)");
  sub->allow_extras();
  sub->callback([name] {
    throw Error(ErrorCode::unsupported,
                "'" + name + "' is not in this build, which was made without HTTP and SQLite");
  });
}

}  // namespace

void add_serve(CLI::App& app) { absent(app, "serve"); }
void add_mcp(CLI::App& app) { absent(app, "mcp"); }
void add_log(CLI::App& app) { absent(app, "log"); }

}  // namespace arrcoc::cli
