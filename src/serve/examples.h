// Which answers are written to the example log, and what people think of them.
#pragma once

#include <deque>
#include <memory>
#include <mutex>

#include "arrcoc/ask.h"
#include "arrcoc/serve.h"
#include "serve/http.h"
#include "serve/metrics.h"
#include "serve/schema.h"

namespace arrcoc::serving {

class Examples {
 public:
  // Error{io} when there is a log and it cannot be opened.
  Examples(const Options& options, Metrics& metrics, Server::Log log);

  bool kept() const { return log_ != nullptr; }
  // Writes the share that is logged and remembers the latest others; true when it was written.
  bool add(Example example, const std::shared_ptr<const SeenPicture>& picture);
  // Writes what is rated. ApiError{501} without a log, {404} for an unknown answer, {503}.
  void rate(const FeedbackRequest& request);

 private:
  struct Remembered {
    Example example;
    std::weak_ptr<const SeenPicture> picture;
  };
  bool write(Example example, const std::shared_ptr<const SeenPicture>& picture);

  const Options options_;
  Metrics& metrics_;
  const Server::Log say_;
  std::unique_ptr<ExampleLog> log_;
  std::mutex mutex_;  // of what follows
  std::deque<Remembered> recent_;
  Clock::time_point cleaned_ = Clock::now();
};

}  // namespace arrcoc::serving
