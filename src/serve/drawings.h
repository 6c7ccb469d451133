// Pictures of where the tokens went, as PNG in data: URLs. A build that cannot draw leaves them out
// and says so in "fallbacks".
#pragma once

#include <memory>
#include <vector>

#include "arrcoc/ask.h"
#include "base/json.h"

namespace arrcoc::serving {

// The homunculus of each picture.
void add_homunculi(const Answer& answer,
                   const std::vector<std::shared_ptr<const SeenPicture>>& pictures,
                   ordered_json& out);
// /v1/relevance: homunculus, relevance and quadtree of the one picture.
void add_drawings(const Answer& answer, const SeenPicture& picture, ordered_json& out);

}  // namespace arrcoc::serving
