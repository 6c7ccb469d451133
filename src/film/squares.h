// What several measures of change are made of: computed once a frame.
#pragma once

#include "arrcoc/film.h"

namespace arrcoc::filming {

// Squares of the RGB distance of every pixel; black and white are 1 apart. Error{bad_argument} for
// thumbs of two sizes.
std::vector<float> squares(const Thumb& a, const Thumb& b);

// As the functions of arrcoc/film.h of the same names, given squares(current, the frame before).
std::vector<float> unexplained(const Thumb& current, const Thumb& previous, const Flow& flow,
                               const std::vector<float>& apart);
Change compare(const Thumb& current, const Thumb& previous, const std::vector<float>& lost,
               const Tuning& tuning, const std::vector<float>& apart);
std::vector<float> motion_of(const Thumb& current, const std::deque<Thumb>& recent,
                             const Tuning& tuning, const std::vector<float>& apart);

}  // namespace arrcoc::filming
