#include "media/ocr/reader.h"

#include <ATen/ATen.h>

#include <utility>

#include "arrcoc/media.h"

namespace arrcoc::media {
namespace {

class Reader : public Scorer {
 public:
  explicit Reader(std::shared_ptr<const WordSource> source) : source_(std::move(source)) {}

  Map score(const Sight& sight) const override {
    const std::vector<Word> words = source_->read(sight.picture);
    return reading::paint(words, reading::score_words(words, sight.query), sight.shape);
  }

 private:
  std::shared_ptr<const WordSource> source_;
};

class ReaderText : public Provider {
 public:
  explicit ReaderText(std::shared_ptr<const WordSource> source) : source_(std::move(source)) {}

  std::vector<Channel> channels() const override { return {Channel::text_mask}; }

  at::Tensor provide(const at::Tensor& frame, const Picture& picture) const override {
    const int64_t h = frame.size(-2);
    const int64_t w = frame.size(-1);
    Map shape;
    shape.rows = static_cast<int>(h);
    shape.cols = static_cast<int>(w);
    shape.cell_width = static_cast<float>(picture.width()) / static_cast<float>(w);
    shape.cell_height = static_cast<float>(picture.height()) / static_cast<float>(h);
    const std::vector<Word> words = source_->read(picture);
    std::vector<float> sure;
    sure.reserve(words.size());
    // Even a word that could not be read is print.
    for (const Word& word : words) sure.push_back(0.5F + 0.5F * word.confidence);
    Map mask = reading::paint(words, sure, like(shape, 0.0F));
    return at::from_blob(mask.values.data(), {1, h, w}, at::kFloat).clone();
  }

 private:
  std::shared_ptr<const WordSource> source_;
};

}  // namespace

std::unique_ptr<Scorer> make_reader(std::shared_ptr<const WordSource> source) {
  return std::make_unique<Reader>(std::move(source));
}

std::unique_ptr<Provider> make_reader_text(std::shared_ptr<const WordSource> source) {
  return std::make_unique<ReaderText>(std::move(source));
}

void install_reader() {
  registry<Scorer>().add("reader", "coupling: words read by Tesseract, matched to the question",
                         [] { return make_reader(tesseract()); });
  registry<Provider>().add("reader-text", "text channel from the words that Tesseract reads",
                           [] { return make_reader_text(tesseract()); });
}

}  // namespace arrcoc::media
