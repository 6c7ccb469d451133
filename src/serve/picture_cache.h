// Pictures that were seen lately, with what does not depend on the question.
#pragma once

#include <atomic>
#include <compare>
#include <future>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "arrcoc/ask.h"

namespace arrcoc::serving {

using SeenRef = std::shared_ptr<const SeenPicture>;

// Equal keys: equal pictures, seen in the same way.
struct PictureKey {
  std::string digest;              // SHA-256 of the encoded bytes
  const Looker* looker = nullptr;  // kept alive by the cached picture
  int canvas = 0, least_side = 0, most_side = 0;
  bool enlarge = false;  // level -1 is offered
  auto operator<=>(const PictureKey&) const = default;
};

// Least recently used first out, by bytes. Threads that want the same new picture wait for one
// reading of it.
class PictureCache {
 public:
  explicit PictureCache(int64_t max_bytes) : max_bytes_(max_bytes) {}
  struct Found {
    std::shared_future<SeenRef> seen;
    bool fresh = false;                         // the caller has to keep `promise`, by settle()
    std::shared_ptr<std::atomic<int>> waiting;  // clients, this one included until it takes one off
  };
  Found find(const PictureKey& key, std::promise<SeenRef>& promise);
  // Ends a promise: a picture, or the exception that reading it gave.
  void settle(const PictureKey& key, std::promise<SeenRef>& promise, SeenRef seen,
              std::exception_ptr problem);
  // The same bytes seen in whatever way, best by that looker; null when they are not there.
  SeenRef like(const PictureKey& key) const;
  int64_t bytes() const;

 private:
  struct Entry {
    PictureKey key;
    std::shared_future<SeenRef> seen;
    std::shared_ptr<std::atomic<int>> waiting = std::make_shared<std::atomic<int>>(1);
    int64_t bytes = 0;  // 0 while it is being read
  };
  mutable std::mutex mutex_;
  int64_t max_bytes_;
  int64_t bytes_ = 0;
  std::list<Entry> entries_;  // newest first
  std::map<PictureKey, std::list<Entry>::iterator> index_;
};

}  // namespace arrcoc::serving
