// Which answers are written to the example log, and what people think of them.
#pragma once

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <unordered_map>

#include "arrcoc/ask.h"
#include "arrcoc/serve.h"
#include "serve/http.h"
#include "serve/metrics.h"
#include "serve/schema.h"

namespace arrcoc::serving {

// How often each client may do something. Knows the latest few thousand clients.
class RateLimit {
 public:
  explicit RateLimit(int a_minute) : a_minute_(a_minute) {}  // 0: no limit
  bool allows(const std::string& client, Clock::time_point now = Clock::now());

 private:
  struct Bucket {
    double left;
    Clock::time_point filled;
  };
  const int a_minute_;
  std::mutex mutex_;
  std::unordered_map<std::string, Bucket> buckets_;
};

class Examples {
 public:
  // Error{io} when there is a log and it cannot be opened.
  Examples(const Options& options, Metrics& metrics, Server::Log log);

  bool kept() const { return log_ != nullptr; }
  // Writes the share that is logged and remembers the latest others; true when it was written.
  bool add(Example example, const std::shared_ptr<const SeenPicture>& picture);
  // Writes what is rated. ApiError{501} without a log, {404} for an unknown answer, {429}, {503}.
  void rate(const FeedbackRequest& request, const std::string& address);

 private:
  struct Remembered {
    Example example;
    std::weak_ptr<const SeenPicture> picture;
  };
  bool write(Example example, const std::shared_ptr<const SeenPicture>& picture);
  bool write_recent(const std::string& id);  // false: it should be in the log and is not
  void failed(const Error& problem);
  void clean(const std::stop_token& stop);

  const Options options_;
  Metrics& metrics_;
  const Server::Log say_;
  std::unique_ptr<ExampleLog> log_;
  RateLimit ratings_;
  std::mutex rating_;  // one at a time moves what is remembered into the log
  std::mutex mutex_;   // of what is remembered
  std::deque<Remembered> recent_;
  std::condition_variable_any woken_;
  std::jthread cleaner_;  // last: it uses the others
};

}  // namespace arrcoc::serving
