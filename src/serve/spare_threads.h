// Threads that wait for the next job instead of being made for each.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <list>
#include <mutex>
#include <thread>

namespace arrcoc::serving {

// Every job starts at once: a new thread is made where none is spare. Those that nobody needed for
// a while end. Safe for threads; the destructor waits for the jobs that run.
class SpareThreads {
 public:
  SpareThreads() = default;
  SpareThreads(const SpareThreads&) = delete;
  SpareThreads& operator=(const SpareThreads&) = delete;
  ~SpareThreads();
  void run(std::function<void()> job);  // std::system_error where no thread can be made
  size_t count() const;                 // threads, spare ones included

 private:
  void work(std::list<std::thread>::iterator self);

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> jobs_;
  std::list<std::thread> threads_, ended_;
  size_t spare_ = 0;
  bool stopping_ = false;
};

}  // namespace arrcoc::serving
