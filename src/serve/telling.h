// Text on its way from the thread that computes it to the clients who wait for it.
#pragma once

#include <condition_variable>
#include <exception>
#include <mutex>
#include <string>

#include "serve/http.h"

namespace arrcoc::serving {

class Telling {
 public:
  enum class Progress { waiting, more, done };
  // Blocks until there is more text than `known` bytes, or the end, or `until`. Rethrows what went
  // wrong.
  Progress wait(size_t known, Clock::time_point until, std::string& text) const {
    std::unique_lock lock(mutex_);
    if (!changed_.wait_until(lock, until, [&] { return done_ || text_.size() > known; }))
      return Progress::waiting;
    if (problem_) std::rethrow_exception(problem_);
    text = text_;
    return done_ ? Progress::done : Progress::more;
  }

 protected:
  void add_text(const std::string& text) {
    const std::scoped_lock lock(mutex_);
    text_ += text;
    changed_.notify_all();
  }
  // What was heard so far will come again.
  void forget_text() {
    const std::scoped_lock lock(mutex_);
    text_.clear();
  }
  // What the answer is in the end; whatever was written before is seen by those who wait.
  void end(std::exception_ptr problem, const std::string& text) {
    const std::scoped_lock lock(mutex_);
    problem_ = problem;
    if (!problem) text_ = text;
    done_ = true;
    changed_.notify_all();
  }

 private:
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  std::string text_;
  bool done_ = false;
  std::exception_ptr problem_;
};

}  // namespace arrcoc::serving
