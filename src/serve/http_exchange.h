// One request to the upstream, running in a thread of its own.
#pragma once

#include <httplib.h>

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>

#include "serve/http.h"
#include "serve/spare_threads.h"

namespace arrcoc::serving {

// The reply's head is there before its body: wait_head(), then take() until it says no.
class HttpExchange {
 public:
  // threads must outlive the request, not this object.
  HttpExchange(SpareThreads& threads, std::unique_ptr<httplib::Client> client,
               httplib::Request request);
  ~HttpExchange();  // breaks it off when it still runs
  HttpExchange(const HttpExchange&) = delete;
  HttpExchange& operator=(const HttpExchange&) = delete;

  enum class Head { waiting, there, failed };
  Head wait_head(Clock::time_point until);
  // Only after the head is there, or has failed.
  int status() const { return state_->status; }
  std::string header(const std::string& name) const {
    return state_->headers.get_header_value(name);
  }
  const httplib::Headers& headers() const { return state_->headers.headers; }

  enum class Body { waiting, more, ended, broken };
  // Moves what has arrived into `out`.
  Body take(Clock::time_point until, std::string& out);
  // After a failure: what httplib says, and how long it took.
  httplib::Error error() const { return state_->error; }
  double seconds() const { return state_->seconds; }

 private:
  // Shared with the thread that runs it.
  struct State {
    std::unique_ptr<httplib::Client> client;
    std::mutex mutex;
    std::condition_variable changed;
    int status = 0;
    httplib::Response headers;
    std::string buffer;
    bool head = false, ended = false, ok = false, cancelled = false;
    bool brief = false;  // a short body of known length: nobody is woken before its end
    httplib::Error error = httplib::Error::Success;
    double seconds = 0;
  };
  static void run(State& state, httplib::Request request);

  std::shared_ptr<State> state_ = std::make_shared<State>();
};

}  // namespace arrcoc::serving
