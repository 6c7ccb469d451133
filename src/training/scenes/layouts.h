// One function per layout. Each draws a page and says what can be asked about it.
#pragma once

#include "training/scenes/page.h"

namespace arrcoc::scenes {

// documents
Sheet receipt(Context& context);
Sheet form(Context& context);
Sheet table_page(Context& context);
Sheet invoice(Context& context);
Sheet letter(Context& context);
Sheet memo(Context& context);
Sheet envelope(Context& context);
Sheet business_card(Context& context);
Sheet id_card(Context& context);
Sheet ticket(Context& context);
Sheet nutrition_label(Context& context);

// charts
Sheet bar_chart(Context& context);
Sheet line_chart(Context& context);
Sheet pie_chart(Context& context);

// scenes
Sheet signs(Context& context);
Sheet poster(Context& context);
Sheet landmarks(Context& context);
Sheet zoo(Context& context);
Sheet shop_shelf(Context& context);
Sheet dashboard(Context& context);
Sheet departures(Context& context);

// objects
Sheet objects_scattered(Context& context);

}  // namespace arrcoc::scenes
