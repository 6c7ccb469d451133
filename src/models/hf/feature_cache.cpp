#include "models/hf/hf.h"

namespace arrcoc::hf {

Features FeatureCache::get(uint64_t hash, const std::function<Features()>& make) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    auto found = index_.find(hash);
    if (found != index_.end()) {
      ++hits_;
      entries_.splice(entries_.begin(), entries_, found->second);
      return found->second->features;
    }
  }
  Features fresh = make();  // without the lock: encoding takes long
  std::lock_guard<std::mutex> lock(mutex_);
  if (index_.count(hash) || fresh.bytes() > max_bytes_) return fresh;
  entries_.push_front({hash, fresh});
  index_[hash] = entries_.begin();
  bytes_ += fresh.bytes();
  while (bytes_ > max_bytes_) {
    bytes_ -= entries_.back().features.bytes();
    index_.erase(entries_.back().hash);
    entries_.pop_back();
  }
  return fresh;
}

size_t FeatureCache::hits() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return hits_;
}

int64_t FeatureCache::bytes() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return bytes_;
}

}  // namespace arrcoc::hf
