// The features of the pictures seen last, by content.
#pragma once

#include <algorithm>
#include <array>
#include <list>
#include <mutex>

#include "models/hf/hf.h"

namespace arrcoc::hf {

// Thread-safe.
class FeatureCache {
 public:
  using Key = std::pair<std::array<uint8_t, 32>, int64_t>;  // Picture::digest, most tokens
  explicit FeatureCache(int64_t max_bytes) : max_bytes_(max_bytes) {}
  // Calls `make` when the picture is not there; two threads may both make the same.
  Features get(const Key& key, const std::function<Features()>& make) {
    {
      const std::scoped_lock lock(mutex_);
      const auto known = find(key);
      if (known != entries_.end()) {
        ++hits_;
        entries_.splice(entries_.begin(), entries_, known);
        return known->second;
      }
    }
    Features fresh = make();  // without the lock: encoding takes long
    const std::scoped_lock lock(mutex_);
    if (find(key) != entries_.end() || fresh.bytes() > max_bytes_) return fresh;
    entries_.emplace_front(key, fresh);
    bytes_ += fresh.bytes();
    for (; bytes_ > max_bytes_; entries_.pop_back()) bytes_ -= entries_.back().second.bytes();
    return fresh;
  }
  // The whole picture, or a view of at most that many tokens.
  Features whole(const HfModel& model, const Picture& picture, int64_t max_tokens = 0) {
    return get({picture.digest, max_tokens},
               [&] { return model.encode_image(picture, max_tokens); });
  }
  size_t hits() const {
    const std::scoped_lock lock(mutex_);
    return hits_;
  }
  int64_t bytes() const {
    const std::scoped_lock lock(mutex_);
    return bytes_;
  }

 private:
  using Entry = std::pair<Key, Features>;
  std::list<Entry>::iterator find(const Key& key) {
    return std::find_if(entries_.begin(), entries_.end(),
                        [&](const Entry& entry) { return entry.first == key; });
  }

  int64_t max_bytes_;
  mutable std::mutex mutex_;
  std::list<Entry> entries_;  // newest first
  int64_t bytes_ = 0;
  size_t hits_ = 0;
};

}  // namespace arrcoc::hf
