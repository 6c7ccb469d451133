// The passes of one question side by side, for people (arrcoc_media).
#pragma once

#include "arrcoc/esper.h"
#include "arrcoc/media.h"

namespace arrcoc::media {

// One homunculus a pass, left to right, with its answer and uncertainty above. [3,h,w] uint8.
at::Tensor draw_passes(const Picture& picture, const esper::Result& result, int longest = 480);

}  // namespace arrcoc::media
