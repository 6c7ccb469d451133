// Questions for the number of things, made for the piece of a photograph that is shown.
#pragma once

#include <vector>

#include "lab/train/real/data.h"
#include "lab/train/real/picture.h"
#include "lab/train/sample.h"

namespace arrcoc::training::real {

// How many of a name this view of a listed photograph shows, which differs from piece to piece;
// boxes in pixels of the view. Names of which something is cut or too small to be told are not
// asked for, nor those that no picture asks for; single things and pairs are thinned, as most
// things stand alone.
std::vector<Ask> count_asks(const Data& data, const Entry& entry, const View& view, Dice& dice);

}  // namespace arrcoc::training::real
