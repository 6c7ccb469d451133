// Something fitted that strategies made from now on use; those that exist keep theirs.
#pragma once

#include <memory>
#include <mutex>
#include <utility>

namespace arrcoc {

template <class Fitted>
class Installed {
 public:
  void put(std::shared_ptr<const Fitted> fitted) {
    const std::scoped_lock lock(mutex_);
    current_ = std::move(fitted);
  }
  std::shared_ptr<const Fitted> get() const {  // null: none
    const std::scoped_lock lock(mutex_);
    return current_;
  }

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<const Fitted> current_;
};

}  // namespace arrcoc
