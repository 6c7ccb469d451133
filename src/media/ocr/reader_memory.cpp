#include "media/ocr/reader_memory.h"

#include <algorithm>
#include <list>
#include <mutex>
#include <utility>

namespace arrcoc::media {
namespace {

class Remembering : public WordSource {
 public:
  Remembering(std::shared_ptr<const WordSource> source, size_t pictures)
      : source_(std::move(source)), most_(pictures) {}

  std::vector<Word> read(const Picture& picture) const override {
    {
      const std::scoped_lock lock(mutex_);
      const auto known = std::find_if(seen_.begin(), seen_.end(), [&](const Seen& seen) {
        return seen.hash == picture.hash && seen.width == picture.width() &&
               seen.height == picture.height();
      });
      if (known != seen_.end()) {
        seen_.splice(seen_.begin(), seen_, known);
        return known->words;
      }
    }
    std::vector<Word> words = source_->read(picture);
    const std::scoped_lock lock(mutex_);
    seen_.push_front({picture.hash, picture.width(), picture.height(), words});
    if (seen_.size() > most_) seen_.pop_back();
    return words;
  }

 private:
  struct Seen {
    uint64_t hash;
    int width;
    int height;
    std::vector<Word> words;
  };

  std::shared_ptr<const WordSource> source_;
  size_t most_;
  mutable std::mutex mutex_;
  mutable std::list<Seen> seen_;
};

}  // namespace

std::shared_ptr<const WordSource> remembering(std::shared_ptr<const WordSource> source,
                                              size_t pictures) {
  return std::make_shared<Remembering>(std::move(source), pictures);
}

}  // namespace arrcoc::media
