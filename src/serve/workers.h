// Threads that take jobs from one queue, alone or in batches.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace arrcoc::serving {

// Jobs run in the order in which they came. One that can be batched takes along batchable jobs of
// like token count that wait behind it, as long as all together, padded to the longest, stay below
// `batch_tokens`: no job ever waits for company, batches grow only because the threads are busy.
// Like: at most a quarter of the longer one would be padding.
template <class Item>
class Workers {
 public:
  using Batch = std::vector<Item>;
  Workers(int threads, int64_t batch_tokens, std::function<void(Batch)> run_batch)
      : batch_tokens_(batch_tokens), run_batch_(std::move(run_batch)) {
    for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { work(); });
  }
  ~Workers() { stop(); }

  void add(std::function<void()> job) { push({std::move(job), {}, 0}); }
  void add_batchable(Item item, int64_t tokens) { push({nullptr, std::move(item), tokens}); }

  size_t waiting() const {
    const std::scoped_lock lock(mutex_);
    return jobs_.size();
  }
  // Finishes what waits, then joins.
  void stop() {
    {
      const std::scoped_lock lock(mutex_);
      stopping_ = true;
    }
    wake_.notify_all();
    for (std::thread& thread : threads_)
      if (thread.joinable()) thread.join();
  }

 private:
  struct Job {
    std::function<void()> alone;
    Item item;
    int64_t tokens = 0;
  };

  void push(Job job) {
    {
      const std::scoped_lock lock(mutex_);
      jobs_.push_back(std::move(job));
    }
    wake_.notify_one();
  }

  void work() {
    while (true) {
      Job first;
      Batch batch;
      {
        std::unique_lock lock(mutex_);
        wake_.wait(lock, [&] { return stopping_ || !jobs_.empty(); });
        if (jobs_.empty()) return;
        first = std::move(jobs_.front());
        jobs_.pop_front();
        if (!first.alone) gather(first, batch);
      }
      if (first.alone) {
        first.alone();
      } else {
        run_batch_(std::move(batch));
      }
    }
  }

  static bool alike(int64_t a, int64_t b) { return 4 * std::min(a, b) >= 3 * std::max(a, b); }

  void gather(Job& first, Batch& batch) {
    int64_t longest = first.tokens, shortest = first.tokens;
    batch.push_back(std::move(first.item));
    for (auto job = jobs_.begin(); job != jobs_.end();) {
      const int64_t most = std::max(longest, job->tokens);
      const int64_t padded = most * static_cast<int64_t>(batch.size() + 1);
      if (job->alone || padded > batch_tokens_ || !alike(most, std::min(shortest, job->tokens))) {
        ++job;
        continue;
      }
      longest = most;
      shortest = std::min(shortest, job->tokens);
      batch.push_back(std::move(job->item));
      job = jobs_.erase(job);
    }
  }

  int64_t batch_tokens_;
  std::function<void(Batch)> run_batch_;
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Job> jobs_;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace arrcoc::serving
