// cpp-httplib's server with deadlines of our own.
//
// httplib 0.11 counts its time-outs from the last byte, so a client that drips one byte a second
// holds a thread for ever; it waits with select(), which cannot watch descriptors above 1024; and
// it goes on with a connection whose request body was not read. Connections are therefore run here,
// over a stream with a deadline for the whole request, and only routing and formatting are its.
#pragma once

#include <httplib.h>

#include <atomic>
#include <chrono>
#include <memory>

namespace arrcoc::serving {

using Clock = std::chrono::steady_clock;
inline double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

struct HttpLimits {
  int connections = 256;
  double read_seconds = 20;
  double write_seconds = 30;  // without progress
  double idle_seconds = 15;
};

// What a handler may ask about, or do to, the connection that it runs on.
struct Connection {
  bool close_after = false;  // set it when a request's body is left unread
  bool passed_on = false;    // the reply is another server's, whatever its status
  Clock::time_point start;   // of the request
  // Let go once the reply has been sent, or cannot be.
  std::shared_ptr<void> held;
  // True when the client has hung up.
  std::function<bool()> gone;
};
// Of the calling thread, inside a handler.
Connection& connection();

class HttpServer : public httplib::Server {
 public:
  explicit HttpServer(const HttpLimits& limits);
  // From now on connections are closed after the request that they are at.
  void drain() { draining_ = true; }
  bool draining() const { return draining_; }
  int open() const { return open_; }

 private:
  bool process_and_close_socket(socket_t socket) override;
  void serve(socket_t socket);

  HttpLimits limits_;
  std::atomic<bool> draining_{false};
  std::atomic<int> open_{0};
};

}  // namespace arrcoc::serving
