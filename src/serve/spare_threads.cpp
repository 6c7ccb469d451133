#include "serve/spare_threads.h"

#include <chrono>

namespace arrcoc::serving {

namespace {
constexpr auto kPatience = std::chrono::seconds(10);
}

SpareThreads::~SpareThreads() {
  {
    const std::scoped_lock lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  // No thread moves itself to ended_ once stopping_ is seen.
  for (std::thread& thread : threads_) thread.join();
  for (std::thread& thread : ended_) thread.join();
}

void SpareThreads::run(std::function<void()> job) {
  std::list<std::thread> over;
  {
    const std::scoped_lock lock(mutex_);
    jobs_.push_back(std::move(job));
    if (spare_ >= jobs_.size()) {
      changed_.notify_one();
    } else {
      const auto self = threads_.emplace(threads_.end());
      try {
        *self = std::thread([this, self] { work(self); });
      } catch (...) {
        threads_.erase(self);
        jobs_.pop_back();
        throw;
      }
    }
    over.swap(ended_);  // last: threads that are not joined may not be lost
  }
  for (std::thread& thread : over) thread.join();
}

size_t SpareThreads::count() const {
  const std::scoped_lock lock(mutex_);
  return threads_.size();
}

void SpareThreads::work(std::list<std::thread>::iterator self) {
  std::unique_lock lock(mutex_);
  for (;;) {
    if (jobs_.empty()) {
      ++spare_;
      const bool woken =
          changed_.wait_for(lock, kPatience, [this] { return stopping_ || !jobs_.empty(); });
      --spare_;
      if (jobs_.empty() && (stopping_ || !woken)) break;
      continue;
    }
    const std::function<void()> job = std::move(jobs_.front());
    jobs_.pop_front();
    lock.unlock();
    job();
    lock.lock();
  }
  if (!stopping_) ended_.splice(ended_.end(), threads_, self);
}

}  // namespace arrcoc::serving
