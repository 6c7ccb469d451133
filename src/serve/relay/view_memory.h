// What earlier turns of conversations sent upstream, so that later turns can send the same bytes.
#pragma once

#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "arrcoc/map.h"

namespace arrcoc::serving {

struct SentView {
  std::string png;  // base64
  Box box;          // of the picture, its pixels
  int width = 0, height = 0;
  int64_t tokens = 0;
};

struct SentPicture {
  bool read = false;               // false: it went as it came, and nobody here knows its cost
  int64_t tokens = 0, native = 0;  // of its views, and of the picture as it came
  std::vector<SentView> views;     // none: it went as it came
  std::string digest;              // SHA-256 of its bytes; "" where they are not ours to read
};

// One message.
struct SentMessage {
  std::vector<SentPicture> pictures;  // that it brought
  // Views of pictures that earlier messages brought: the number of the picture in the conversation.
  std::vector<std::pair<size_t, std::vector<SentView>>> appended;
  size_t bytes() const;
};

// By the digest of a conversation up to and including a message. Least recently used first out.
// Safe for threads.
class ViewMemory {
 public:
  using Ref = std::shared_ptr<const SentMessage>;
  explicit ViewMemory(size_t most_bytes) : most_(most_bytes) {}
  Ref find(const std::string& digest);  // null: not known (any more)
  // bytes: what it counts for; all of it unless given.
  void keep(const std::string& digest, Ref message, size_t bytes = 0);
  size_t bytes() const;

 private:
  struct Entry {
    std::string digest;
    Ref message;
    size_t bytes;
  };
  mutable std::mutex mutex_;
  const size_t most_;
  size_t bytes_ = 0;
  std::list<Entry> entries_;  // most recently used first
  std::unordered_map<std::string, std::list<Entry>::iterator> index_;
};

}  // namespace arrcoc::serving
