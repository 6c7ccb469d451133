#include "serve/relay/view_memory.h"

namespace arrcoc::serving {

namespace {

constexpr size_t kOverhead = 512;  // of an entry

size_t bytes_of(const std::vector<SentView>& views) {
  size_t out = 0;
  for (const SentView& view : views) out += sizeof view + view.png.size();
  return out;
}

}  // namespace

size_t SentMessage::bytes() const {
  size_t out = kOverhead;
  for (const SentPicture& picture : pictures) out += sizeof picture + bytes_of(picture.views);
  for (const auto& [number, views] : appended) out += sizeof number + bytes_of(views);
  return out;
}

ViewMemory::Ref ViewMemory::find(const std::string& digest) {
  const std::scoped_lock lock(mutex_);
  const auto found = index_.find(digest);
  if (found == index_.end()) return nullptr;
  entries_.splice(entries_.begin(), entries_, found->second);
  return found->second->message;
}

void ViewMemory::keep(const std::string& digest, Ref message, size_t bytes) {
  if (bytes == 0) bytes = message->bytes();
  const std::scoped_lock lock(mutex_);
  if (const auto known = index_.find(digest); known != index_.end()) {
    bytes_ -= known->second->bytes;
    entries_.erase(known->second);
    index_.erase(known);
  }
  if (bytes > most_) return;
  entries_.push_front({digest, std::move(message), bytes});
  index_[digest] = entries_.begin();
  bytes_ += bytes;
  while (bytes_ > most_) {
    bytes_ -= entries_.back().bytes;
    index_.erase(entries_.back().digest);
    entries_.pop_back();
  }
}

size_t ViewMemory::bytes() const {
  const std::scoped_lock lock(mutex_);
  return bytes_;
}

}  // namespace arrcoc::serving
