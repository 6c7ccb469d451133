// cpp-httplib's routing and formatting behind a gate of our own.
//
// httplib 0.11 has a thread wait for every connection and counts its time-outs from the last byte,
// so a few hundred silent or dripping clients hold all of it; it waits with select(), which cannot
// watch descriptors above 1024; it ends for good when accept() fails; and it goes on with a
// connection whose request body was not read. Here one thread accepts, waits for the heads of all
// connections and judges them (http_head.h); only a whole head gets a thread, and only that
// request's.
#pragma once

#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "serve/http_head.h"
#include "serve/http_stream.h"
#include "serve/spare_threads.h"

namespace arrcoc::serving {

struct HttpLimits {
  int requests = 256;  // that run at once; as many connections more may wait
  int per_address = 128;
  double read_seconds = 20;   // for a whole request
  double write_seconds = 30;  // that a reader may keep us waiting, in all
  double idle_seconds = 15;
  HeadLimits head;
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
  ~HttpServer() override;

  // After bind_to_port or bind_to_any_port.
  void run();
  // No new connections; those that run are closed after the request that they are at.
  void drain();
  // True when no request runs any more.
  bool wait_idle(Clock::time_point until) const;
  // Breaks off what still runs: nothing can be read or written any more.
  void cut();
  int open() const;  // connections

 private:
  // A connection between two requests, or one that is to be closed once its client has heard.
  struct Waiting {
    socket_t socket = -1;
    std::string address, bytes;
    size_t searched = 0;
    int served = 0;
    bool lingers = false;
    size_t wasted = 0;  // bytes thrown away while it lingers
    Clock::time_point since, deadline;
    size_t head = 0;  // bytes of the head of the request that runs
    bool chunked = false;
  };
  using Place = std::list<Waiting>::iterator;

  void loop();
  void turn();
  void accept_some();
  void watch(Waiting one);
  void hear(Place place);  // its socket has something to say
  void advance(Place place);
  void take_back();
  void expire();
  void make_room(const std::string& address);
  void forget(Place place, bool close);
  void say(const Waiting& one, const std::string& reply) const;
  bool admit(const Waiting& one, const RequestHead& head, bool& spare);
  void start(const std::shared_ptr<Waiting>& one, bool spare);
  void serve(Waiting& one);
  static void close_soon(Waiting& one);
  void ended(Waiting& one, bool spare);
  void wake() const;

  const HttpLimits limits_;
  int epoll_ = -1, event_ = -1;
  socket_t listening_ = -1;
  // Of the loop's thread.
  std::list<Waiting> waiting_;  // oldest first
  std::map<socket_t, Place> places_;
  // Shared.
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  std::vector<Waiting> back_;              // from requests that are over
  std::map<std::string, int> by_address_;  // requests that run
  std::set<socket_t> running_;
  int spare_running_ = 0;
  std::atomic<int> open_{0};
  std::atomic<bool> draining_{false}, ending_{false};
  std::unique_ptr<SpareThreads> threads_ = std::make_unique<SpareThreads>();
  std::thread loop_;
};

}  // namespace arrcoc::serving
