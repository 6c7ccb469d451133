// More of what the suites can ask than their fixed questions.
#pragma once

#include <string>

#include "lab/scenes/scenes.h"

namespace arrcoc::scenes {

// Another scene of the block of seeds of suite_scene(assets, name, index): the first that asks a
// question of this intent, with that question alone. Error{not_found} where none does.
Scene suite_scene_asking(const Assets& assets, const std::string& name, int index,
                         const std::string& intent);

}  // namespace arrcoc::scenes
