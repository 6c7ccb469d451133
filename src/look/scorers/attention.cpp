// What earlier passes read and where somebody looked.
#include <algorithm>

#include "arrcoc/error.h"
#include "look/scorers/scorers.h"

namespace arrcoc::scoring {

// max(previous, accumulated / 2, gaze): the last pass and an outside gaze count in full, what only
// passes before the last have read counts half.
Map attention(const Sight& sight) {
  Map out = channel_map(sight, Channel::attention_previous);
  const Map all = channel_map(sight, Channel::attention_accumulated);
  const Map gaze = channel_map(sight, Channel::gaze);
  for (size_t i = 0; i < out.size(); ++i)
    out.values[i] = std::max({out.values[i], 0.5F * all.values[i], gaze.values[i]});
  if (!(maximum(out) > 0))
    throw Error(ErrorCode::bad_argument,
                "scorer 'attention' needs a place where somebody looked (--gaze X Y)");
  return out;
}

}  // namespace arrcoc::scoring
