// A real `arrcoc serve` process.
#pragma once

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "places.h"
#include "support.h"

namespace arrcoc::serving::test {

class Process {
 public:
  // largest_file > 0: no file grows beyond so many bytes, as on a disk that is full.
  // descriptors > 0: it may have no more than that open. waits: until it is ready.
  explicit Process(std::vector<std::string> arguments = {}, int64_t largest_file = 0,
                   int descriptors = 0, bool waits = true) {
    for (const auto& [flag, usual] :
         {std::pair<std::string, std::string>{"--tiny", source("models/tiny")}, {"--port", "0"}})
      if (std::find(arguments.begin(), arguments.end(), flag) == arguments.end())
        arguments.insert(arguments.begin(), {flag, usual});
    arguments.insert(arguments.begin(), {places::program(), "serve"});
    int pipes[2];
    if (::pipe(pipes) != 0) throw std::runtime_error("no pipe");
    child_ = ::fork();
    if (child_ == 0) {
      ::dup2(pipes[1], STDOUT_FILENO);
      const int nothing = ::open("/dev/null", O_WRONLY);
      ::dup2(nothing, STDERR_FILENO);
      ::close(pipes[0]);
      ::close(pipes[1]);
      if (largest_file > 0) {
        const rlimit limit{static_cast<rlim_t>(largest_file), static_cast<rlim_t>(largest_file)};
        ::setrlimit(RLIMIT_FSIZE, &limit);
        ::signal(SIGXFSZ, SIG_IGN);  // writes fail instead
      }
      if (descriptors > 0) {
        const rlimit limit{static_cast<rlim_t>(descriptors), static_cast<rlim_t>(descriptors)};
        ::setrlimit(RLIMIT_NOFILE, &limit);
      }
      std::vector<char*> raw;
      for (std::string& a : arguments) raw.push_back(a.data());
      raw.push_back(nullptr);
      ::execv(raw[0], raw.data());
      ::_exit(127);
    }
    ::close(pipes[1]);
    out_ = pipes[0];
    if (!waits) return;
    const std::string line = read_line();
    const size_t colon = line.rfind(':');
    if (colon == std::string::npos) throw std::runtime_error("the server did not start: " + line);
    port_ = std::stoi(line.substr(colon + 1));
  }
  ~Process() {
    if (child_ > 0) kill(SIGKILL);
    ::close(out_);
  }
  int port() const { return port_; }
  pid_t pid() const { return child_; }
  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }
  void signal(int number) const { ::kill(child_, number); }
  // Exit code, or 128 + signal.
  int wait() {
    int status = 0;
    ::waitpid(child_, &status, 0);
    child_ = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  int kill(int number) {
    signal(number);
    return wait();
  }
  std::string read_line() const {
    std::string line;
    for (char c; ::read(out_, &c, 1) == 1 && c != '\n';) line += c;
    return line;
  }
  httplib::Result post(const std::string& path, const json& body) const {
    httplib::Client client("127.0.0.1", port_);
    client.set_read_timeout(300);
    return client.Post(path, body.dump(), "application/json");
  }

 private:
  pid_t child_ = 0;
  int out_ = -1;
  int port_ = 0;
};

}  // namespace arrcoc::serving::test
