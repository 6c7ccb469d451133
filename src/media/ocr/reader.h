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

// `source`, with the words of the last `pictures` pictures kept (by content hash and size; the one
// used longest ago goes first): OCR takes seconds, and one page is often asked several questions.
// Thread-safe when `source` is; two threads that ask for the same new picture at once may both read
// it.
std::shared_ptr<const WordSource> remembering(std::shared_ptr<const WordSource> source,
                                              size_t pictures);

}  // namespace arrcoc::media
