#include "cli/hub.h"

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <optional>

#include "arrcoc/error.h"
#include "cli/cli.h"

namespace arrcoc::cli {

namespace {

constexpr int64_t kUnit = 1'000'000;

// The name of a model that is no folder here.
std::optional<hub::Name> name_of(const std::string& given) {
  std::error_code ignored;
  return std::filesystem::exists(given, ignored) ? std::nullopt : hub::parse_name(given);
}

// Megabytes of a download, not redrawn with every packet.
class Bar {
 public:
  Bar(const std::string& what, int64_t bytes, int64_t here)
      : bar_(what + ", MB", static_cast<size_t>(bytes / kUnit)) {
    bar_.skip(static_cast<size_t>(here / kUnit));
  }
  void step(int64_t bytes) {
    bytes_ += bytes;
    const auto now = std::chrono::steady_clock::now();
    if (bytes_ < kUnit || now - drawn_ < std::chrono::milliseconds(100)) return;
    bar_.step(static_cast<size_t>(bytes_ / kUnit));
    bytes_ %= kUnit;
    drawn_ = now;
  }

 private:
  Progress bar_;
  int64_t bytes_ = 0;
  std::chrono::steady_clock::time_point drawn_;
};

}  // namespace

hub::Settings hub_settings() {
  return hub::settings_of([](const char* name) { return std::getenv(name); });
}

HubFlags::HubFlags(CLI::App& app) {
  app.add_flag("--offline", *offline_, "models by name: only what is in the cache");
}

hub::Settings HubFlags::settings() const {
  hub::Settings out = hub_settings();
  out.offline = out.offline || *offline_;
  return out;
}

std::string HubFlags::pull(const hub::Name& name) const {
  std::signal(SIGPIPE, SIG_IGN);  // OpenSSL writes to sockets that are closed
  std::optional<Bar> bar;
  hub::Progress progress;
  progress.note = [&](const std::string& text) { std::cerr << text << std::endl; };
  progress.plan = [&](int64_t bytes, int64_t here) { bar.emplace(name.repo(), bytes, here); };
  progress.step = [&](int64_t bytes) { bar->step(bytes); };
  return hub::pull(name, settings(), progress);
}

std::string HubFlags::folder(const std::string& given) const {
  const auto name = name_of(given);
  if (!name) return given;
  const hub::Settings now = settings();
  const std::string found = hub::find(*name, now);
  if (!found.empty()) return found;
  if (!now.offline)
    std::cerr << given << ": no such folder, and not in the cache: asking " << now.endpoint
              << std::endl;
  return pull(*name);
}

std::string cached_folder(const std::string& given) {
  return hub::cached_folder(given, [](const char* name) { return std::getenv(name); });
}

}  // namespace arrcoc::cli
