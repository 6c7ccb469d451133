// What media adds to the registries, one line each.
#include <mutex>

#include "arrcoc/media.h"
#include "media/ocr/reader.h"
#include "media/vision/vision.h"

namespace arrcoc::media {

void register_strategies() {
  static std::once_flag once;
  std::call_once(once, [] {
    auto& providers = registry<Provider>();
    providers.add("distance-field", "distance to the nearest edge", make_distance_field);
    providers.add("text", "where print is, by its strokes (no weights)", make_text);

    auto& scorers = registry<Scorer>();
    scorers.add("symbolic", "0.3 edges + 0.5 faces + 0.2 text",
                [] { return scoring::scorer_of(symbolic, false); });
    scorers.add("text", "where print is, whatever the question",
                [] { return scoring::scorer_of(text, false); });
    scorers.add("lexical",
                "coupling: colours, shapes, places, text and people that the question names",
                [] { return scoring::make_lexical(find_faces); });
    scorers.add("reader", "coupling: words read by Tesseract, matched to the question",
                [] { return make_reader(tesseract()); });
    providers.add("reader-text", "text channel from the words that Tesseract reads",
                  [] { return make_reader_text(tesseract()); });
  });
}

}  // namespace arrcoc::media
