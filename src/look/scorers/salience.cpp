// Perspectival knowing: what stands out, before anything is asked?
#include <ATen/ATen.h>

#include <algorithm>

#include "look/scorers/maps.h"
#include "look/scorers/scorers.h"

namespace arrcoc::scoring {

namespace {

// (0.6 saliency + 0.4 motion) (1 - 0.5 eccentricity)
class Saliency : public Scorer {
 public:
  Map score(const Sight& sight) const override {
    Map saliency = channel_map(sight, Channel::saliency);
    const Map motion = channel_map(sight, Channel::motion);
    const Map far = channel_map(sight, Channel::eccentricity);
    // Without motion the first term alone spans the range.
    const float scale = maximum(motion) > 0 ? 0.6F : 1.0F;
    for (size_t i = 0; i < saliency.size(); ++i) {
      saliency.values[i] = (scale * saliency.values[i] + 0.4F * motion.values[i]) *
                           (1.0F - 0.5F * std::min(1.0F, far.values[i]));
    }
    return saliency;
  }
};

// Print anywhere, whatever it says: the core's own query-blind text prior.
class Print : public Scorer {
 public:
  Map score(const Sight& sight) const override { return print_map(sight); }
};

class Nothing : public Scorer {
 public:
  Map score(const Sight& sight) const override { return like(sight.shape, 0.0F); }
};

}  // namespace

std::unique_ptr<Scorer> make_saliency() { return std::make_unique<Saliency>(); }
std::unique_ptr<Scorer> make_print() { return std::make_unique<Print>(); }
std::unique_ptr<Scorer> make_nothing() { return std::make_unique<Nothing>(); }

}  // namespace arrcoc::scoring
