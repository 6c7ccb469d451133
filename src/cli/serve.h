// What `serve` and `mcp` share.
#pragma once

#include "arrcoc/serve.h"
#include "cli/cli.h"

namespace arrcoc::cli {

// --config FILE and one flag per option of the server; the method is valid in the callback.
class ServerFlags {
 public:
  explicit ServerFlags(CLI::App& app);
  // Configuration file, then environment, then flags. Error{bad_json, not_found}.
  serving::Options options() const;
  // The same with the folders of models that were given by name, pulled where they are not there.
  serving::Options with_models() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

// Until SIGTERM or SIGINT.
void run_server(const serving::Options& options);

}  // namespace arrcoc::cli
