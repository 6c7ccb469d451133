// The reader: relevance from words that OCR finds and the question asks for.
#pragma once

#include <memory>

#include "arrcoc/look.h"
#include "arrcoc/texture.h"

namespace arrcoc::media {

// Scorer: words of `source`, scored by the question, painted.
std::unique_ptr<Scorer> make_reader(std::shared_ptr<const WordSource> source);
// Provider of the text_mask channel: 1 under words, by the reader's confidence.
std::unique_ptr<Provider> make_reader_text(std::shared_ptr<const WordSource> source);

// Registers scorer "reader" and provider "reader-text" on tesseract().
void install_reader();

}  // namespace arrcoc::media
