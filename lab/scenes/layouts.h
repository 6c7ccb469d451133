// One function per layout. Each draws a page and says what can be asked about it.
#pragma once

#include "lab/scenes/page.h"

namespace arrcoc::scenes {

struct Layout {
  Sheet (*make)(Context&);
  float weight;
  bool held = false;  // belongs to suite:unseen; training never draws it
};
// Error{not_found} for an unknown kind.
const std::vector<Layout>& layouts(const std::string& kind);
// The kind that the training mix draws for this seed.
std::string mixed_kind(uint64_t seed);
// What offices and archives add to scans where the page is blank (marks.cpp).
void archive_marks(Context& context, Page& page, const std::string& layout);

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

// records
Sheet boxed_form(Context& context);
Sheet agenda(Context& context);
Sheet report_page(Context& context);

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

// formulas
Sheet formula_page(Context& context);

// hard
Sheet tiny_corner(Context& context);
Sheet camouflage(Context& context);
Sheet distractors(Context& context);
Sheet needle(Context& context);
Sheet odd_one_out(Context& context);
Sheet crowd_compare(Context& context);
Sheet nothing(Context& context);

// clips
Sheet moving_objects(Context& context);
Sheet moving_sign(Context& context);
Sheet cut_clip(Context& context);

// pairs
Sheet shelf_pair(Context& context);
Sheet spot_difference(Context& context);
Sheet document_pair(Context& context);

}  // namespace arrcoc::scenes
