// Objects that are costly to make and not reentrant, lent to one user at a time.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace arrcoc::media {

// At most `most` objects, made when they are first needed, one at a time. Thread-safe.
template <class T>
class Pool {
 public:
  Pool(std::function<std::unique_ptr<T>()> make, size_t most)
      : make_(std::move(make)), most_(most) {}

  // Lends one object, waiting until one is free; it goes back when the pointer dies.
  auto borrow() {
    const auto give_back = [this](T* object) {
      const std::scoped_lock lock(mutex_);
      idle_.emplace_back(object);
      returned_.notify_one();
    };
    std::unique_lock lock(mutex_);
    returned_.wait(lock, [&] { return !idle_.empty() || made_ < most_; });
    if (idle_.empty()) {
      idle_.push_back(make_());
      ++made_;
    }
    std::unique_ptr<T, decltype(give_back)> out(idle_.back().release(), give_back);
    idle_.pop_back();
    return out;
  }

 private:
  std::function<std::unique_ptr<T>()> make_;
  const size_t most_;
  std::mutex mutex_;
  std::condition_variable returned_;
  std::vector<std::unique_ptr<T>> idle_;
  size_t made_ = 0;
};

}  // namespace arrcoc::media
