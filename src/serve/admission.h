// How much requests may hold at once.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string_view>

#include "serve/http_stream.h"

namespace arrcoc::serving {

// Bytes of requests that are in flight. Bodies are counted as they arrive; a request that is taken
// apart holds more than its body for a while (the parsed JSON, the pictures in it), which waits for
// room. Safe for threads.
class Admission {
 public:
  explicit Admission(int64_t most) : most_(most) {}

  // What one request holds; lets go of it at the end.
  class Share {
   public:
    explicit Share(Admission& of) : of_(of) {}
    ~Share();
    Share(const Share&) = delete;
    Share& operator=(const Share&) = delete;
    // More of its body has come. ApiError{503} when there is no room.
    void arrived(size_t bytes);
    // It is about to be taken apart: waits until there is room for `times` its body. One request
    // always may, however large. ApiError{503} when it takes until the deadline. patience: called
    // now and then, throws when waiting has become pointless.
    void open(int times, Clock::time_point until, const std::function<void()>& patience = {});
    void opened();  // only the body is left

   private:
    Admission& of_;
    int64_t body_ = 0, more_ = 0;
    bool working_ = false;
  };

  int64_t bytes() const;

 private:
  const int64_t most_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  int64_t bytes_ = 0;
  int working_ = 0;
};

// JSON of a few bytes a value takes tens of times its size when it is parsed. ApiError{413} for
// more than `most` values; strings do not count by their length.
void require_few_values(std::string_view json, size_t most = 200'000);

}  // namespace arrcoc::serving
