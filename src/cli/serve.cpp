// arrcoc serve: the HTTP server, or a proxy in front of another one.
#include <csignal>
#include <cstdlib>
#include <iostream>
#include <mutex>

#include "arrcoc/error.h"
#include "arrcoc/serving.h"
#include "cli/cli.h"
#include "serving/option_fields.h"

namespace arrcoc::cli {

namespace {

using nlohmann::json;

struct Serve {
  std::string config;
  bool show = false;
  json flags = json::object();
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
  serving::apply_json(options, args.flags.dump());
  return options;
}

void serve(const Serve& args) {
  const serving::Options options = options_of(args);
  if (args.show) {
    std::cout << serving::to_json(options) << "\n";
    return;
  }
  // Threads inherit the mask: only sigwait below hears these.
  sigset_t signals;
  sigemptyset(&signals);
  for (int signal : {SIGTERM, SIGINT}) sigaddset(&signals, signal);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
  std::mutex mutex;
  serving::Server server(options, [&](const std::string& line) {
    const std::scoped_lock lock(mutex);
    std::cerr << line << "\n";
  });
  server.start();
  server.wait_ready();
  const std::string host =
      options.host.find(':') == std::string::npos ? options.host : "[" + options.host + "]";
  std::cout << "arrcoc serves on http://" << host << ":" << server.port() << std::endl;
  int signal = 0;
  sigwait(&signals, &signal);
  server.stop();
  std::cout << "stopped" << std::endl;
}

}  // namespace

void add_serve(CLI::App& app) {
  CLI::App* sub = app.add_subcommand("serve", "answer over HTTP, as OpenAI's servers do");
  auto args = std::make_shared<Serve>();
  sub->add_option("--config", args->config, "options as a JSON file");
  sub->add_flag("--show-options", args->show, "print the options and stop");
  serving::Options defaults;
  serving::visit_fields(defaults, [&](const char* name, const char* help, auto& field) {
    using T = std::decay_t<decltype(field)>;
    const std::string key = name;
    std::string flag = "--" + key;
    std::replace(flag.begin(), flag.end(), '_', '-');
    sub->add_option_function<T>(
        flag, [args, key](const T& value) { args->flags[key] = value; }, help);
  });
  sub->callback([args] { serve(*args); });
}

}  // namespace arrcoc::cli
