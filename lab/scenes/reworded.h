// The same scene, asked in other words: does a map stay where it was?
#pragma once

#include "lab/scenes/scenes.h"

namespace arrcoc::scenes {

// As make(), picture, facts and answers unchanged; wording > 0 draws another sentence for each
// question (the same one where there is no other).
Scene make_reworded(const Assets& assets, const std::string& kind, uint64_t seed,
                    const Options& options, uint64_t wording);

}  // namespace arrcoc::scenes
