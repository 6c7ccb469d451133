// A command that this build has not.
#pragma once

#include "arrcoc/error.h"
#include "cli/cli.h"

namespace arrcoc::cli {

inline void absent(CLI::App& app, const std::string& name, const std::string& without) {
  CLI::App* sub = app.add_subcommand(name, "not in this build (" + without + ")");
  sub->allow_extras();
  sub->callback([name, without] {
    throw Error(ErrorCode::unsupported,
                "'" + name + "' is not in this build, which was made without " + without);
  });
}

}  // namespace arrcoc::cli
