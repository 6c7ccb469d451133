// The core's scorers as functions; strategies.cpp gives them their names.
#pragma once

#include "arrcoc/look.h"

namespace arrcoc::scoring {

Map shannon(const Sight& sight);
Map spectrum(const Sight& sight);
Map points(const Sight& sight);
Map saliency(const Sight& sight);
Map attention(const Sight& sight);
Map colours(const Sight& sight);

}  // namespace arrcoc::scoring
