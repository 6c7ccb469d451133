// One shape or two on a plain ground and a question about one of them: what a small model learns in
// minutes, with the place that the question is about.
#pragma once

#include <string>

#include "arrcoc/map.h"
#include "arrcoc/picture.h"

namespace arrcoc::training {

struct ShapeScene {
  Picture picture;  // side x side
  // "What colour is the circle?" or "What shape is red?", and one word.
  std::string question, answer;
  bool asks_colour = true;
  Box box;  // of the shape that is asked about
};

// The same seed gives the same scene. shapes: 1 or 2.
ShapeScene make_shapes(uint64_t seed, int side, int shapes = 2);

}  // namespace arrcoc::training
