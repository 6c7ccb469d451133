#include "serve/picture_cache.h"

namespace arrcoc::serving {

PictureCache::Found PictureCache::find(const PictureKey& key, std::promise<SeenRef>& promise) {
  const std::scoped_lock lock(mutex_);
  if (const auto known = index_.find(key); known != index_.end()) {
    entries_.splice(entries_.begin(), entries_, known->second);
    ++*known->second->waiting;
    return {known->second->seen, false, known->second->waiting};
  }
  entries_.push_front({key, promise.get_future().share()});
  index_[key] = entries_.begin();
  return {entries_.front().seen, true, entries_.front().waiting};
}

void PictureCache::settle(const PictureKey& key, std::promise<SeenRef>& promise, SeenRef seen,
                          std::exception_ptr problem) {
  const std::scoped_lock lock(mutex_);
  const auto entry = index_.find(key)->second;
  if (problem) {
    entries_.erase(entry);
    index_.erase(key);
    promise.set_exception(problem);
    return;
  }
  bytes_ += entry->bytes = seen->bytes();
  promise.set_value(std::move(seen));
  // Entries that are still being read have no size yet and stay.
  for (auto last = entries_.end(); bytes_ > max_bytes_ && last != entries_.begin();) {
    --last;
    if (last->bytes == 0) continue;
    bytes_ -= last->bytes;
    index_.erase(last->key);
    last = entries_.erase(last);
  }
}

SeenRef PictureCache::like(const PictureKey& key) const {
  const std::scoped_lock lock(mutex_);
  SeenRef out;
  for (auto entry = index_.lower_bound({key.digest}); entry != index_.end(); ++entry) {
    if (entry->first.digest != key.digest) break;
    const bool same = entry->first.looker == key.looker;
    if (entry->second->bytes > 0 && (!out || same)) out = entry->second->seen.get();
    if (out && same) break;
  }
  return out;
}

int64_t PictureCache::bytes() const {
  const std::scoped_lock lock(mutex_);
  return bytes_;
}

}  // namespace arrcoc::serving
