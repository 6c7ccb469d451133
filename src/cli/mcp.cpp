// arrcoc mcp: the Model Context Protocol, over standard streams or at /mcp of the server.
#include <fcntl.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <iostream>

#include "arrcoc/error.h"
#include "cli/serve.h"

namespace arrcoc::cli {

namespace {

struct Mcp {
  bool http = false;
  std::vector<std::string> roots;
};

// Flags that say something about HTTP alone.
constexpr const char* kHttpOnly[] = {"--host", "--port", "--api-key", "--api-key-file"};

void mcp(const CLI::App& app, const Mcp& args, const ServerFlags& flags) {
  for (const char* flag : kHttpOnly)
    if (!args.http && app.count(flag) > 0)
      throw Error(ErrorCode::bad_argument, std::string(flag) + " is for --http");
  serving::Options options = flags.with_models();
  if (!options.upstream.empty())
    throw Error(ErrorCode::bad_argument, "mcp answers by itself: --upstream belongs to serve");
  auto& roots = options.file_root;
  roots.insert(roots.end(), args.roots.begin(), args.roots.end());
  // A client over standard streams is of the same user; whoever reaches a port may be a stranger.
  if (roots.empty() && !args.http) roots = {"."};
  for (const std::string& root : roots)
    if (!std::filesystem::is_directory(root))
      throw Error(ErrorCode::not_found, "--root: there is no folder '" + root + "'");
  if (args.http) return run_server(options);
  std::signal(SIGPIPE, SIG_IGN);
  // Whatever else writes to standard output goes to standard error: only messages may be there.
  const int out = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
  if (out < 0 || ::dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
    throw Error(ErrorCode::io, "standard output or standard error is closed");
  if (::isatty(STDIN_FILENO) != 0)
    std::cerr << "arrcoc mcp waits for messages of a client (docs/mcp.md); --http serves them\n";
  serving::serve_mcp(options, STDIN_FILENO, out,
                     [](const std::string& line) { std::cerr << line + "\n"; });
  ::close(out);
}

}  // namespace

void add_mcp(CLI::App& app) {
  CLI::App* sub = app.add_subcommand("mcp", "tools for agents: look, zoom, read, count (MCP)");
  auto args = std::make_shared<Mcp>();
  sub->add_flag("--http", args->http, "serve them at /mcp instead of over standard streams");
  sub->add_option(
      "--root", args->roots,
      "pictures by path below this folder; may be repeated (default: here; with --http none)");
  const ServerFlags flags(*sub);
  sub->callback([sub, args, flags] { mcp(*sub, *args, flags); });
}

}  // namespace arrcoc::cli
