// arrcoc serve: the HTTP server, or a proxy in front of another one.
#include <fcntl.h>
#include <malloc.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <mutex>

#include "arrcoc/error.h"
#include "arrcoc/serve.h"
#include "cli/cli.h"

namespace arrcoc::cli {

namespace {

struct Serve {
  std::string config;
  bool show = false, report = false;
  std::vector<std::function<void(serving::Options&)>> flags;  // set what was given
};

// Configuration file, then environment, then flags.
serving::Options options_of(const Serve& args) {
  serving::Options options;
  if (!args.config.empty()) {
    const auto bytes = media::read_file(args.config, 1 << 20);
    try {
      serving::apply_json(options, std::string(bytes.begin(), bytes.end()));
    } catch (const Error& e) {
      throw Error(e.code(), args.config + ": " + e.what());
    }
  }
  serving::apply_environment(options, [](const char* name) { return std::getenv(name); });
  for (const auto& set : args.flags) set(options);
  return options;
}

// SIGTERM or SIGINT, whichever thread it comes to. Blocking them would not do: math libraries start
// threads before main, which take a signal that nobody waits for yet and end the program.
class EndSignal {
 public:
  EndSignal() {
    if (::pipe2(pipe_, O_CLOEXEC) != 0)
      throw Error(ErrorCode::io, std::string("pipe: ") + std::strerror(errno));
    struct sigaction action {};
    action.sa_flags = SA_RESTART;
    action.sa_handler = [](int) {
      const char byte = 0;
      [[maybe_unused]] const ssize_t written = ::write(pipe_[1], &byte, 1);
    };
    for (int signal : {SIGTERM, SIGINT}) ::sigaction(signal, &action, nullptr);
  }
  // True when it has come; waits for it at most so long, or (-1) for ever.
  bool wait(int milliseconds) const {
    pollfd watch{pipe_[0], POLLIN, 0};
    int found = 0;
    while ((found = ::poll(&watch, 1, milliseconds)) < 0 && errno == EINTR) {
    }
    return found > 0;
  }

 private:
  static inline int pipe_[2] = {-1, -1};
};

void serve(const Serve& args) {
  const serving::Options options = options_of(args);
  if (args.show) {
    std::cout << serving::to_json(options) << "\n";
    return;
  }
  if (args.report) {
    const bool six = options.host.find(':') != std::string::npos;
    const std::string host = six ? "[" + options.host + "]" : options.host;
    std::cout << serving::savings_table("http://" + host + ":" + std::to_string(options.port),
                                        serving::with_keys(options).api_key);
    return;
  }
  // Bodies and pictures of strangers are given back to the system, not kept for the next ones.
  ::mallopt(M_MMAP_THRESHOLD, 8 << 20);
  const EndSignal end;
  std::signal(SIGPIPE, SIG_IGN);
  std::mutex mutex;
  serving::Server server(options, [&](const std::string& line) {
    const std::scoped_lock lock(mutex);
    std::cerr << line << "\n";
  });
  server.start();
  bool ended = false, ready = false;
  while (!ended && !ready) {
    ready = server.wait_ready(0.05);
    ended = end.wait(0);
  }
  if (ready) {
    const std::string host =
        options.host.find(':') == std::string::npos ? options.host : "[" + options.host + "]";
    std::cout << "arrcoc serves on http://" << host << ":" << server.port() << std::endl;
    end.wait(-1);
  }
  const bool clean = server.stop();
  std::cout << "stopped" << std::endl;
  if (!clean) std::_Exit(0);  // something does not listen: what was acknowledged is on disk
}

}  // namespace

void add_serve(CLI::App& app) {
  CLI::App* sub = app.add_subcommand("serve", "answer over HTTP, as OpenAI's servers do");
  auto args = std::make_shared<Serve>();
  sub->add_option("--config", args->config, "options as a JSON file");
  sub->add_flag("--show-options", args->show, "print the options and stop");
  sub->add_flag("--report", args->report,
                "print what the server that runs at --host and --port saved so far, and stop");
  serving::Options defaults;
  serving::visit_fields(defaults, [&](const char* name, const char* help, auto& field) {
    using T = std::decay_t<decltype(field)>;
    std::string flag = std::string("--") + name;
    std::replace(flag.begin(), flag.end(), '_', '-');
    const auto set = [args, key = std::string(name)](const T& value) {
      args->flags.push_back([key, value](serving::Options& options) {
        serving::visit_fields(options, [&](const char* other, const char*, auto& target) {
          if constexpr (std::is_same_v<std::decay_t<decltype(target)>, T>)
            if (key == other) target = value;
        });
      });
    };
    if constexpr (NamedEnum<T>) {
      sub->add_option_function<std::string>(
          flag, [set](const std::string& value) { set(parse_enum<T>(value)); }, help);
    } else if constexpr (std::is_same_v<T, std::optional<double>>) {
      sub->add_option_function<double>(flag, set, help);
    } else {
      sub->add_option_function<T>(flag, set, help);
    }
  });
  sub->callback([args] { serve(*args); });
}

}  // namespace arrcoc::cli
