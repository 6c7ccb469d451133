// Words that name something that pixels alone can show.
#pragma once

#include <string>
#include <vector>

#include "base/words.h"

namespace arrcoc::scoring {

// A colour prototype: L*/100, a*/128, b*/128.
struct Colour {
  float lightness, a, b;
  float tightness;  // 1 / tolerance along lightness: black and white are narrow, red is not
};
// The colour a word names ("red", "grey"), or a thing that nearly always has it ("grass", "snow");
// null for other words.
const Colour* find_colour(std::string_view word);

// A place in the picture as soft bounds of x and y in [0,1]; both given: their product.
struct Place {
  float x, y;              // where it is centred
  float x_width, y_width;  // half width; 0 = anywhere along this axis
};
// All places that the words name: "top left" is one place, "top or bottom" are two.
std::vector<Place> find_places(const std::vector<std::string>& words);

struct VisibleWords {
  WordSet text;    // text, sign, written, title, price, ...
  WordSet person;  // face, man, girl, people, ...
  WordSet round;   // round, ball, wheel, clock, coin, ...
  WordSet dark, bright;
  WordSet vivid;  // colourful
  WordSet small;  // tiny, small, fine: high frequencies
};
const VisibleWords& visible_words();

}  // namespace arrcoc::scoring
