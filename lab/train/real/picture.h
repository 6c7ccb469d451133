// How a stored picture becomes a training picture: cut out, scaled, turned, aged.
#pragma once

#include "lab/scenes/draft.h"
#include "lab/train/dice.h"
#include "lab/train/real/data.h"

namespace arrcoc::training::real {

struct View {
  Box crop;                   // of the stored picture
  int width = 0, height = 0;  // of the new one
  bool flip = false;          // left and right change places
  bool turned = false;
  scenes::Mapping turn;  // of the new picture
  int canvas = 0;  // tokens are cut from the picture as it is (0) or from one of this longer side

  // Places of the stored picture in the new one.
  scenes::Point operator()(scenes::Point p) const;
  Box operator()(const Box& box) const;  // hull of the moved box
};

// The whole picture, its longer side at most `longest`: how it is measured. Tokens are cut from
// pictures whose longer side is over `canvas` as they are, from smaller ones enlarged to it.
View plain_view(const Entry& entry, int longest, int canvas);
// A view to train on: most are near the whole, some are pieces at other scales; most tokens are cut
// by the same rule, some are not.
View drawn_view(const Entry& entry, int longest, int canvas, Dice& dice);

scenes::Canvas render(const Pixels& pixels, const View& view);
// The picture at another size (area means where it shrinks, linear where it grows, as resize()) at
// the top left of a square of `side` pixels, its last row and column repeated outwards.
void resize_onto(const scenes::Canvas& canvas, int width, int height, int side, uint8_t* out);
// Light, contrast, blur, grain, JPEG; more of it where the picture never was on paper.
void age(scenes::Canvas& canvas, const Entry& entry, Dice& dice);

}  // namespace arrcoc::training::real
