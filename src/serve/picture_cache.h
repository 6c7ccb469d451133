// Pictures that were seen lately, with what does not depend on the question.
#pragma once

#include <future>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "arrcoc/look.h"
#include "arrcoc/picture.h"
#include "models/tiny/tiny.h"

namespace arrcoc::serving {

struct SeenPicture {
  std::string key;  // SHA-256 of the encoded bytes
  Picture picture;
  std::unique_ptr<const Pyramid> pyramid;
  Knowledge blind;                             // information and salience; coupling is empty
  std::shared_ptr<const tiny::SeenPage> page;  // null when the realizer failed on it
  int64_t bytes = 0;
};
using SeenRef = std::shared_ptr<const SeenPicture>;

// Least recently used first out, by bytes. Two threads that want the same new picture wait for one
// reading of it.
class PictureCache {
 public:
  explicit PictureCache(int64_t max_bytes) : max_bytes_(max_bytes) {}
  // The picture. `fresh` when it is not there: then the caller has to keep `promise`, by settle().
  std::shared_future<SeenRef> find(const std::string& key, std::promise<SeenRef>& promise,
                                   bool& fresh);
  // Ends a promise: a picture, or the exception that reading it gave.
  void settle(const std::string& key, std::promise<SeenRef>& promise, SeenRef seen,
              std::exception_ptr problem);
  int64_t bytes() const;

 private:
  struct Entry {
    std::string key;
    std::shared_future<SeenRef> seen;
    int64_t bytes = 0;  // 0 while it is being read
  };
  mutable std::mutex mutex_;
  int64_t max_bytes_;
  int64_t bytes_ = 0;
  std::list<Entry> entries_;  // newest first
  std::map<std::string, std::list<Entry>::iterator> index_;
};

}  // namespace arrcoc::serving
