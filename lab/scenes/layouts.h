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

using Draw = Sheet(Context& context);
// documents
Draw receipt, form, table_page, invoice, letter, memo, envelope, business_card, id_card, ticket,
    nutrition_label;
Draw boxed_form, agenda, report_page;                                   // records
Draw passage_page, written_table;                                       // texts
Draw bar_chart, line_chart, pie_chart;                                  // charts
Draw signs, poster, landmarks, zoo, shop_shelf, dashboard, departures;  // scenes
Draw objects_scattered;                                                 // objects
Draw formula_page;                                                      // formulas
// hard
Draw tiny_corner, camouflage, distractors, needle, odd_one_out, crowd_compare, nothing;
Draw moving_objects, moving_sign, cut_clip;          // clips
Draw comings_and_goings, parade, shots;              // time
Draw shelf_pair, spot_difference, document_pair;     // pairs
constexpr const char* kNth[] = {"first", "second"};  // picture of a pair

}  // namespace arrcoc::scenes
