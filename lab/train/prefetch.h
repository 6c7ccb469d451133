// Samples made ahead by threads, handed out in the order of their tickets.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "lab/train/sample.h"

namespace arrcoc::training {

class Prefetch {
 public:
  using Make = std::function<Sample(uint64_t ticket)>;
  // Starts `threads` workers at ticket `first`; at most `ahead` samples wait.
  Prefetch(Make make, uint64_t first, int threads, int ahead);
  ~Prefetch();
  Prefetch(const Prefetch&) = delete;
  Prefetch& operator=(const Prefetch&) = delete;

  // The next samples in ticket order: waits until `least` are there, takes at most `most`. A
  // worker's exception is thrown here.
  std::vector<std::shared_ptr<const Sample>> take(int least, int most);

 private:
  void work();

  Make make_;
  const int ahead_;
  std::mutex mutex_;
  std::condition_variable made_, taken_;
  uint64_t next_ticket_, next_out_;
  std::map<uint64_t, std::shared_ptr<const Sample>> ready_;
  std::exception_ptr failure_;
  bool stop_ = false;
  std::vector<std::thread> threads_;
};

// Samples of the tickets [first, first + count), made by all cores.
std::vector<std::shared_ptr<const Sample>> make_all(const Prefetch::Make& make, uint64_t first,
                                                    int count);

}  // namespace arrcoc::training
