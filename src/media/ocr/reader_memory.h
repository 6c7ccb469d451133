// Words of pictures seen lately: OCR takes seconds, and one page is often asked several questions.
#pragma once

#include <memory>

#include "arrcoc/look.h"

namespace arrcoc::media {

// `source`, with the words of the last `pictures` pictures kept (by content hash and size; the one
// used longest ago goes first). Thread-safe when `source` is; two threads that ask for the same new
// picture at once may both read it.
std::shared_ptr<const WordSource> remembering(std::shared_ptr<const WordSource> source,
                                              size_t pictures);

}  // namespace arrcoc::media
