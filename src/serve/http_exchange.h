// One request to the upstream, running in a thread of its own.
#pragma once

#include <httplib.h>

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

#include "serve/http.h"

namespace arrcoc::serving {

// The reply's head is there before its body: wait_head(), then take() until it says no.
class HttpExchange {
 public:
  HttpExchange(std::unique_ptr<httplib::Client> client, httplib::Request request);
  ~HttpExchange();  // breaks it off when it still runs

  enum class Head { waiting, there, failed };
  Head wait_head(Clock::time_point until);
  int status() const { return status_; }
  std::string header(const std::string& name) const { return headers_.get_header_value(name); }
  const httplib::Headers& headers() const { return headers_.headers; }

  enum class Body { waiting, more, ended, broken };
  // Moves what has arrived into `out`.
  Body take(Clock::time_point until, std::string& out);
  // After a failure: what httplib says, and how long it took.
  httplib::Error error() const { return error_; }
  double seconds() const { return seconds_; }

 private:
  void run(httplib::Request request);

  std::unique_ptr<httplib::Client> client_;
  std::mutex mutex_;
  std::condition_variable changed_;
  int status_ = 0;
  httplib::Response headers_;
  std::string buffer_;
  bool head_ = false, ended_ = false, ok_ = false, cancelled_ = false;
  httplib::Error error_ = httplib::Error::Success;
  double seconds_ = 0;
  std::thread thread_;
};

}  // namespace arrcoc::serving
