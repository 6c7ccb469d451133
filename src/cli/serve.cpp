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
  json merged = json::object();
  const auto merge = [&](const std::string& text, const std::string& where) {
    try {
      serving::options_from_json(text);  // names and types, with the file's name in the message
      merged.update(json::parse(text));
    } catch (const Error& e) {
      throw Error(e.code(), where + ": " + e.what());
    }
  };
  if (!args.config.empty()) {
    const auto bytes = media::read_file(args.config, 1 << 20);
    merge(std::string(bytes.begin(), bytes.end()), args.config);
  }
  serving::Options options = serving::options_from_json(merged.dump());
  serving::apply_environment(options, [](const char* name) { return std::getenv(name); });
  serving::Options flagged = serving::options_from_json(args.flags.dump());
  // A flag wins where it was given.
  json given = args.flags;
  serving::visit_fields(options, [&](const std::string& name, const char*, auto& field) {
    if (!given.contains(name)) return;
    serving::visit_fields(flagged, [&](const std::string& other, const char*, auto& value) {
      if constexpr (std::is_same_v<decltype(field), decltype(value)>)
        if (name == other) field = value;
    });
  });
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
