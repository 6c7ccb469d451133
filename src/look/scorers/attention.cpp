// What earlier passes read (texture channels 37 and 38) and where somebody looked (39).
#include <algorithm>

#include "look/scorers/maps.h"
#include "look/scorers/scorers.h"

namespace arrcoc::scoring {

namespace {

// max(previous, accumulated / 2, gaze): the last pass and an outside gaze count in full, what only
// passes before the last have read counts half.
class Attention : public Scorer {
 public:
  Map score(const Sight& sight) const override {
    Map out = channel_map(sight, Channel::attention_previous);
    const Map all = channel_map(sight, Channel::attention_accumulated);
    const Map gaze = channel_map(sight, Channel::gaze);
    for (size_t i = 0; i < out.size(); ++i)
      out.values[i] = std::max({out.values[i], 0.5F * all.values[i], gaze.values[i]});
    return out;
  }
};

}  // namespace

std::unique_ptr<Scorer> make_attention() { return std::make_unique<Attention>(); }

}  // namespace arrcoc::scoring
