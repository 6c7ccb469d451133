// What media adds to the registries, one line each.
#include <mutex>

#include "arrcoc/look.h"
#include "arrcoc/media.h"
#include "arrcoc/texture.h"
#include "look/scorers/scorers.h"
#include "media/ocr/reader.h"
#include "media/vision/providers.h"

namespace arrcoc::media {

void install() {
  static std::once_flag once;
  std::call_once(once, [] {
    auto& providers = registry<Provider>();
    providers.add("clusters", "about 50 superpixels: id, distance to centroid, size, border",
                  make_clusters);
    providers.add("distance-field", "distance to the nearest edge", make_distance_field);
    providers.add("text", "where print is, by its strokes (no weights)", make_text);

    auto& scorers = registry<Scorer>();
    scorers.add("symbolic", "0.3 edges + 0.5 faces + 0.2 text", make_symbolic);
    scorers.add("text", "where print is, whatever the question", make_text_scorer);
    scorers.add("lexical",
                "coupling: colours, shapes, places, text and people that the question names",
                [] { return scoring::make_lexical(find_faces); });
    install_reader();
  });
}

}  // namespace arrcoc::media
