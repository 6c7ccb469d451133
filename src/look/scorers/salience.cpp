// Perspectival knowing: what stands out, before anything is asked?
#include <algorithm>

#include "look/scorers/scorers.h"

namespace arrcoc::scoring {

// (0.6 saliency + 0.4 motion) (1 - 0.5 eccentricity)
Map saliency(const Sight& sight) {
  Map out = channel_map(sight, Channel::saliency);
  const Map motion = channel_map(sight, Channel::motion);
  const Map far = channel_map(sight, Channel::eccentricity);
  // Without motion the first term alone spans the range.
  const float scale = maximum(motion) > 0 ? 0.6F : 1.0F;
  for (size_t i = 0; i < out.size(); ++i) {
    out.values[i] = (scale * out.values[i] + 0.4F * motion.values[i]) *
                    (1.0F - 0.5F * std::min(1.0F, far.values[i]));
  }
  return out;
}

}  // namespace arrcoc::scoring
