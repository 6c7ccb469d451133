// Words of a page that change places: what was learnt by heart is not there any more.
#pragma once

#include "lab/train/dice.h"
#include "lab/train/real/data.h"

namespace arrcoc::training::real {

// Words of answers change places with others of about their size and kind elsewhere on the page, in
// the picture and in the list; the answers become what stands at their places now. Words that any
// question names stay. Questions whose place is not known for sure are left out. False, and nothing
// is changed, where no word can go.
bool swap_words(Entry& entry, Pixels& pixels, Dice& dice);

}  // namespace arrcoc::training::real
