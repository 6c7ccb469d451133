// An answer on its way from the thread that computes it to the clients who wait for it.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <string>
#include <string_view>

#include "serve/http.h"

namespace arrcoc::serving {

class AnswerStream {
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
  // Blocks until it is known where the tokens go, or the end, or `until`: false.
  bool wait_looked(Clock::time_point until) const {
    std::unique_lock lock(mutex_);
    return changed_.wait_until(lock, until, [&] { return done_ || looked_; });
  }

 protected:
  void looked() {
    const std::scoped_lock lock(mutex_);
    looked_ = true;
    changed_.notify_all();
  }
  // Answers have no white space around them: it is kept back unless more follows.
  void add(std::string_view piece) {
    const std::scoped_lock lock(mutex_);
    blank_ += piece;
    if (text_.empty()) blank_.erase(0, std::min(blank_.find_first_not_of(kBlank), blank_.size()));
    const size_t end = blank_.find_last_not_of(kBlank) + 1;  // npos + 1 is 0
    text_.append(blank_, 0, end);
    blank_.erase(0, end);
    if (end > 0) changed_.notify_all();
  }
  // What was heard so far will come again.
  void restart() {
    const std::scoped_lock lock(mutex_);
    text_.clear();
    blank_.clear();
  }
  // text: the whole answer. What was written before is seen by those who wait.
  void end(std::exception_ptr problem, const std::string& text) {
    const std::scoped_lock lock(mutex_);
    problem_ = problem;
    if (!problem) text_ = text;
    done_ = true;
    changed_.notify_all();
  }

 private:
  static constexpr const char* kBlank = " \n\r\t";
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  std::string text_, blank_;
  bool looked_ = false, done_ = false;
  std::exception_ptr problem_;
};

}  // namespace arrcoc::serving
