// Words that name something that pixels alone can show.
#pragma once

#include <string>
#include <vector>

namespace arrcoc::scoring {

// A colour prototype: L*/100, a*/128, b*/128.
struct Colour {
  float lightness, a, b;
  float tightness;  // 1 / tolerance along lightness: black and white are narrow, red is not
};
// The colour a word names ("red", "grey"), or a thing that nearly always has it ("grass", "snow").
const Colour* find_colour(const std::string& word);

// A place in the picture as soft bounds of x and y in [0,1]; both given: their product.
struct Place {
  float x, y;              // where it is centred
  float x_width, y_width;  // half width; 0 = anywhere along this axis
};
// All places that the words name: "top left" is one place, "top or bottom" are two.
std::vector<Place> find_places(const std::vector<std::string>& words);

bool names_text(const std::string& word);    // text, sign, written, title, price, ...
bool names_person(const std::string& word);  // face, man, girl, people, ...
bool names_round(const std::string& word);   // round, ball, wheel, clock, coin, ...
bool names_dark(const std::string& word);
bool names_bright(const std::string& word);
bool names_vivid(const std::string& word);  // colourful, bright-coloured
bool names_small(const std::string& word);  // tiny, small, fine: high frequencies

}  // namespace arrcoc::scoring
