#include "lab/scenes/layouts.h"

#include "arrcoc/error.h"

namespace arrcoc::scenes {

const std::vector<std::string>& kinds() {
  static const std::vector<std::string> list = {
      "documents", "charts", "scenes", "formulas", "objects", "hard", "clips", "pairs", "records"};
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
  static const std::vector<Layout> records = {
      {boxed_form, 1.4F}, {agenda, 0.8F}, {report_page, 0.8F}};
  static const std::vector<Layout>* const all[] = {
      &documents, &charts, &scenes, &formulas, &objects, &hard, &clips, &pairs, &records};
  static const std::vector<Layout> texts = {{passage_page, 1}, {written_table, 1}};
  static const std::vector<Layout> time = {{comings_and_goings, 1.6F}, {parade, 1}, {shots, 1.4F}};
  if (kind == kTexts) return texts;
  if (kind == kTime) return time;
  for (size_t i = 0; i < kinds().size(); ++i)
    if (kinds()[i] == kind) return *all[i];
  std::string known = std::string(" ") + kTexts + " " + kTime;
  for (const auto& name : kinds()) known += " " + name;
  throw Error(ErrorCode::not_found, "no kind of scene named " + kind + "; there are:" + known);
}

std::string mixed_kind(uint64_t seed) {
  // Shares in percent, in the order of kinds(). The kinds whose suites are reported get what they
  // need to be learnt, not what a folder of scans would hold; records only where a config asks.
  Random r(seed * 0x2545F4914F6CDD1DULL + 7);
  return kinds()[r.weighted({36, 22, 16, 3, 14, 6, 1, 2, 0})];
}

}  // namespace arrcoc::scenes
