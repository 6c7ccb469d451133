#include "media/ocr/reader.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <array>
#include <list>
#include <mutex>
#include <utility>

namespace arrcoc::media {
namespace {

class ReaderText : public Provider {
 public:
  explicit ReaderText(std::shared_ptr<const WordSource> source) : source_(std::move(source)) {}

  std::vector<Channel> channels() const override { return {Channel::text_mask}; }

  at::Tensor provide(const at::Tensor& frame, const Picture& picture) const override {
    const std::vector<Word> words = source_->read(picture);
    std::vector<float> sure;
    sure.reserve(words.size());
    // Even a word that could not be read is print.
    for (const Word& word : words) sure.push_back(0.5F + 0.5F * word.confidence);
    Map mask = reading::paint(words, sure, scoring::map_shape(picture, frame, 1));
    return at::from_blob(mask.values.data(), {1, mask.rows, mask.cols}, at::kFloat).clone();
  }

 private:
  std::shared_ptr<const WordSource> source_;
};

class Remembering : public WordSource {
 public:
  Remembering(std::shared_ptr<const WordSource> source, size_t pictures)
      : source_(std::move(source)), most_(pictures) {}

  std::vector<Word> read(const Picture& picture) const override {
    {
      const std::scoped_lock lock(mutex_);
      const auto known = std::find_if(seen_.begin(), seen_.end(), [&](const Seen& seen) {
        return seen.digest == picture.digest;
      });
      if (known != seen_.end()) {
        seen_.splice(seen_.begin(), seen_, known);
        return known->words;
      }
    }
    std::vector<Word> words = source_->read(picture);
    const std::scoped_lock lock(mutex_);
    seen_.push_front({picture.digest, words});
    if (seen_.size() > most_) seen_.pop_back();
    return words;
  }

 private:
  struct Seen {
    std::array<uint8_t, 32> digest;
    std::vector<Word> words;
  };

  std::shared_ptr<const WordSource> source_;
  size_t most_;
  mutable std::mutex mutex_;
  mutable std::list<Seen> seen_;
};

}  // namespace

std::unique_ptr<Scorer> make_reader(std::shared_ptr<const WordSource> source) {
  const auto score = [source = std::move(source)](const Sight& sight) {
    const std::vector<Word> words = source->read(sight.picture);
    return reading::paint(words, reading::score_words(words, sight.query), sight.shape);
  };
  return scoring::scorer_of(score, true);
}

std::unique_ptr<Provider> make_reader_text(std::shared_ptr<const WordSource> source) {
  return std::make_unique<ReaderText>(std::move(source));
}

std::shared_ptr<const WordSource> remembering(std::shared_ptr<const WordSource> source,
                                              size_t pictures) {
  return std::make_shared<Remembering>(std::move(source), pictures);
}

}  // namespace arrcoc::media
