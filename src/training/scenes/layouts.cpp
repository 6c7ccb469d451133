#include "training/scenes/layouts.h"

#include "arrcoc/error.h"
#include "training/scenes/words.h"

namespace arrcoc::scenes {

const std::vector<std::string>& kinds() {
  static const std::vector<std::string> list = {"documents", "charts", "scenes", "formulas",
                                                "objects",   "hard",   "clips",  "pairs"};
  return list;
}

const std::vector<Layout>& layouts(const std::string& kind) {
  static const std::vector<Layout> documents = {{receipt, 9},          {form, 4},
                                                {table_page, 4},       {invoice, 2},
                                                {letter, 3},           {memo, 1.5F},
                                                {business_card, 0.8F}, {ticket, 0.8F},
                                                {nutrition_label, 1},  {envelope, 0.6F, true},
                                                {id_card, 0.6F, true}};
  static const std::vector<Layout> charts = {{bar_chart, 5}, {line_chart, 1.6F}, {pie_chart, 1.4F}};
  static const std::vector<Layout> scenes = {
      {signs, 3},      {poster, 1.5F},    {landmarks, 1.5F},       {zoo, 1.2F},
      {shop_shelf, 2}, {dashboard, 1.5F}, {departures, 1.2F, true}};
  static const std::vector<Layout> formulas = {{formula_page, 1}};
  static const std::vector<Layout> objects = {{objects_scattered, 1}};
  static const std::vector<Layout> hard = {
      {tiny_corner, 1.5F}, {camouflage, 1.5F}, {distractors, 2},      {needle, 0.8F},
      {crowd_compare, 1},  {nothing, 0.6F},    {odd_one_out, 1, true}};
  static const std::vector<Layout> clips = {
      {moving_objects, 1.5F}, {moving_sign, 1}, {cut_clip, 0.7F}};
  static const std::vector<Layout> pairs = {
      {shelf_pair, 1}, {spot_difference, 1}, {document_pair, 1.5F}};
  static const std::vector<Layout>* const all[] = {&documents, &charts, &scenes, &formulas,
                                                   &objects,   &hard,   &clips,  &pairs};
  for (size_t i = 0; i < kinds().size(); ++i)
    if (kinds()[i] == kind) return *all[i];
  std::string known;
  for (const auto& name : kinds()) known += " " + name;
  throw Error(ErrorCode::not_found, "no kind of scene named " + kind + "; there are:" + known);
}

std::string mixed_kind(uint64_t seed) {
  // Shares in percent, in the order of kinds(). The kinds whose suites are reported get what they
  // need to be learnt, not what a folder of scans would hold.
  static const std::vector<float> shares = {36,  // documents
                                            22,  // charts
                                            16,  // scenes
                                            3,   // formulas
                                            14,  // objects
                                            6,   // hard
                                            1,   // clips
                                            2};  // pairs
  Random r(seed * 0x2545F4914F6CDD1DULL + 7);
  return kinds()[r.weighted(shares)];
}

void archive_marks(Context& c, Page& page) {
  Random& r = c.random;
  const float w = static_cast<float>(page.canvas.width), h = static_cast<float>(page.canvas.height);
  auto stamp = [&](const std::string& text, const Style& style, float x, float baseline) {
    const float width = page.measure(text, style);
    if (x > 2 && x + width < w - 2 &&
        page.free({x - 2, baseline - style.size, x + width + 2, baseline + style.size * 0.3F}))
      page.text(x, baseline, text, style);
  };
  if (r.chance(0.3F)) {
    const std::string text =
        "Source: https://www." +
        r.pick({"paperarchive.org", "olddocuments.net", "opencollection.edu"}) + "/docs/" +
        lower(pattern(r, "@@@@####"));
    const Style s = style(c.family("sans"), c.px(r.real(11, 18)), {150, 150, 150});
    stamp(text, s, (w - page.measure(text, s)) / 2, h - c.px(4) - s.size * 0.3F);
  }
  if (r.chance(0.25F)) {
    const Style s = style(c.family("sans"), c.px(r.real(12, 17)), {30, 30, 30}, Weight::bold);
    const std::string text = pattern(r, r.pick({"########", "## ######", "@@#######"}));
    stamp(text, s, w - page.measure(text, s) - c.px(r.real(8, 60)), h - c.px(r.real(22, 40)));
  }
}

}  // namespace arrcoc::scenes
