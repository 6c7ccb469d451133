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
#include "cli/device.h"
#include "cli/hub.h"
#include "cli/serve.h"

namespace arrcoc::cli {

namespace {

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

std::string address(const serving::Options& options, int port) {
  const bool six = options.host.find(':') != std::string::npos;
  return "http://" + (six ? "[" + options.host + "]" : options.host) + ":" + std::to_string(port);
}

}  // namespace

struct ServerFlags::State {
  explicit State(CLI::App& app) : hub(app) {}
  HubFlags hub;
  std::string config;
  std::vector<std::function<void(serving::Options&)>> set;  // what was given
};

serving::Options ServerFlags::options() const {
  serving::Options options;
  if (const std::string& config = state_->config; !config.empty()) {
    const auto bytes = media::read_file(config, 1 << 20);
    try {
      serving::apply_json(options, std::string(bytes.begin(), bytes.end()));
    } catch (const Error& e) {
      throw Error(e.code(), config + ": " + e.what());
    }
  }
  serving::apply_environment(options, [](const char* name) { return std::getenv(name); });
  for (const auto& set : state_->set) set(options);
  return options;
}

serving::Options ServerFlags::with_models() const {
  serving::Options out = options();
  const serving::Options usual;
  place_networks(out.device != usual.device ? &out.device : nullptr,
                 out.model.empty() && out.dtype != usual.dtype ? &out.dtype : nullptr);
  for (std::string* model : {&out.model, &out.relevance_model})
    if (!model->empty()) *model = state_->hub.folder(*model);
  return out;
}

void run_server(const serving::Options& options) {
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
    std::cout << "arrcoc serves on " << address(options, server.port()) << std::endl;
    end.wait(-1);
  }
  const bool clean = server.stop();
  std::cout << "stopped" << std::endl;
  if (!clean) std::_Exit(0);  // something does not listen: what was acknowledged is on disk
}

ServerFlags::ServerFlags(CLI::App& app) : state_(std::make_shared<State>(app)) {
  app.add_option("--config", state_->config, "options as a JSON file");
  serving::Options defaults;
  serving::visit_fields(defaults, [&](const char* name, const char* help, auto& field) {
    using T = std::decay_t<decltype(field)>;
    std::string flag = std::string("--") + name;
    std::replace(flag.begin(), flag.end(), '_', '-');
    const auto set = [state = state_, key = std::string(name)](const T& value) {
      state->set.push_back([key, value](serving::Options& options) {
        serving::visit_fields(options, [&](const char* other, const char*, auto& target) {
          if constexpr (std::is_same_v<std::decay_t<decltype(target)>, T>)
            if (key == other) target = value;
        });
      });
    };
    if constexpr (NamedEnum<T>) {
      app.add_option_function<std::string>(
          flag, [set](const std::string& value) { set(parse_enum<T>(value)); }, help);
    } else if constexpr (std::is_same_v<T, std::optional<double>>) {
      app.add_option_function<double>(flag, set, help);
    } else {
      app.add_option_function<T>(flag, set, help);
    }
  });
}

void add_serve(CLI::App& app) {
  CLI::App* sub = app.add_subcommand("serve", "answer over HTTP, as OpenAI's servers do");
  auto show = std::make_shared<bool>(false), report = std::make_shared<bool>(false);
  sub->add_flag("--show-options", *show, "print the options and stop");
  sub->add_flag("--report", *report,
                "print what the server that runs at --host and --port saved so far, and stop");
  const ServerFlags flags(*sub);
  sub->callback([show, report, flags] {
    const serving::Options options = flags.options();
    if (*show) {
      std::cout << serving::to_json(options) << "\n";
    } else if (*report) {
      std::cout << serving::savings_table(address(options, options.port),
                                          serving::with_keys(options).api_key);
    } else {
      run_server(flags.with_models());
    }
  });
}

}  // namespace arrcoc::cli
