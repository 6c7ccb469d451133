// Where a trainer's scenes come from.
#pragma once

#include "lab/train/train.h"

namespace arrcoc::training {

// Scenes of the options' mix and canvas, from the assets folder. Keeps a copy of what it needs.
SceneSource scene_source(const Options& options);

}  // namespace arrcoc::training
