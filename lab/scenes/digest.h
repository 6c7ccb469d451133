// One number for everything a scene holds, to notice when the generator changes what it makes.
#pragma once

#include "lab/scenes/scenes.h"

namespace arrcoc::scenes {

// FNV-1a over pixels, questions, answers and boxes (to whole pixels).
uint64_t digest(const Scene& scene);
// Digest of all scenes of a suite, in order.
uint64_t suite_digest(const Assets& assets, const std::string& name);

}  // namespace arrcoc::scenes
