// One function per layout. Each draws a page and says what can be asked about it.
#pragma once

#include "training/scenes/page.h"

namespace arrcoc::scenes {

// documents
Sheet receipt(Context& context);
Sheet form(Context& context);

// charts
Sheet bar_chart(Context& context);

}  // namespace arrcoc::scenes
