// Work that nobody waits for any more, given up between two of its steps.
#pragma once

#include <exception>
#include <functional>
#include <utility>

namespace arrcoc {

struct Cancelled : std::exception {
  const char* what() const noexcept override { return "nobody waits for it any more"; }
};

// While it lives, check_cancelled() in the same thread asks `unwanted`.
class CancelScope {
 public:
  explicit CancelScope(std::function<bool()> unwanted)
      : unwanted_(std::move(unwanted)), outer_(std::exchange(current(), this)) {}
  ~CancelScope() { current() = outer_; }
  CancelScope(const CancelScope&) = delete;
  CancelScope& operator=(const CancelScope&) = delete;

 private:
  friend void check_cancelled();
  static CancelScope*& current() {
    thread_local CancelScope* scope = nullptr;
    return scope;
  }
  std::function<bool()> unwanted_;
  CancelScope* outer_;
};

// For loops over layers and the like. Throws Cancelled.
inline void check_cancelled() {
  const CancelScope* scope = CancelScope::current();
  if (scope != nullptr && scope->unwanted_()) throw Cancelled();
}

}  // namespace arrcoc
