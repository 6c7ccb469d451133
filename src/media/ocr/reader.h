// The reader: relevance from words that OCR finds and the question asks for.
#pragma once

#include <memory>
#include <vector>

#include "arrcoc/look.h"
#include "arrcoc/texture.h"

namespace arrcoc::media {

// A word and where its characters are.
struct Spelled {
  Word word;
  std::vector<float> centres;  // x of every code point of its text, source pixels; none: not known
};
// What Tesseract reads, letter by letter, in the order and with the errors of tesseract(), which
// leaves the letters out; nothing is remembered. Thread-safe.
std::vector<Spelled> spell(const Picture& picture);

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
