#include "lab/train/prefetch.h"

#include <algorithm>
#include <utility>

namespace arrcoc::training {

Prefetch::Prefetch(Make make, uint64_t first, int threads, int ahead)
    : make_(std::move(make)), ahead_(ahead), next_ticket_(first), next_out_(first) {
  for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { work(); });
}

Prefetch::~Prefetch() {
  {
    std::lock_guard lock(mutex_);
    stop_ = true;
  }
  taken_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void Prefetch::work() {
  while (true) {
    uint64_t ticket = 0;
    {
      std::unique_lock lock(mutex_);
      taken_.wait(lock, [&] {
        return stop_ || failure_ || next_ticket_ < next_out_ + static_cast<uint64_t>(ahead_);
      });
      if (stop_ || failure_) return;
      ticket = next_ticket_++;
    }
    std::shared_ptr<const Sample> sample;
    std::exception_ptr failure;
    try {
      sample = std::make_shared<const Sample>(make_(ticket));
    } catch (...) {
      failure = std::current_exception();
    }
    {
      std::lock_guard lock(mutex_);
      if (failure && !failure_) failure_ = failure;
      if (sample) ready_[ticket] = std::move(sample);
    }
    made_.notify_all();
  }
}

std::vector<std::shared_ptr<const Sample>> Prefetch::take(int least, int most) {
  std::vector<std::shared_ptr<const Sample>> out;
  {
    std::unique_lock lock(mutex_);
    while (static_cast<int>(out.size()) < most) {
      const auto here = [&] { return failure_ || ready_.count(next_out_) != 0; };
      if (static_cast<int>(out.size()) < least) made_.wait(lock, here);
      if (failure_) std::rethrow_exception(failure_);
      auto found = ready_.find(next_out_);
      if (found == ready_.end()) break;
      out.push_back(std::move(found->second));
      ready_.erase(found);
      ++next_out_;
      taken_.notify_all();  // workers go on while this call waits for more
    }
  }
  return out;
}

std::vector<std::shared_ptr<const Sample>> make_all(const Prefetch::Make& make, uint64_t first,
                                                    int count) {
  const int threads = std::max(1, static_cast<int>(std::thread::hardware_concurrency()) - 1);
  const uint64_t end = first + static_cast<uint64_t>(count);
  Prefetch prefetch([&](uint64_t ticket) { return ticket < end ? make(ticket) : Sample(); }, first,
                    threads, count);
  return prefetch.take(count, count);
}

}  // namespace arrcoc::training
