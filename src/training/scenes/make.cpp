#include <algorithm>

#include "arrcoc/error.h"
#include "training/scenes/draft.h"
#include "training/scenes/layouts.h"
#include "training/scenes/phrases.h"
#include "training/scenes/words.h"

namespace arrcoc::scenes {
namespace {

struct Layout {
  Sheet (*make)(Context&);
  float weight;
};

const std::vector<Layout>& layouts(const std::string& kind) {
  static const std::vector<Layout> documents = {
      {receipt, 8},    {form, 4},      {table_page, 4},     {invoice, 2},
      {letter, 3},     {memo, 1.5F},   {envelope, 0.6F},    {business_card, 0.8F},
      {id_card, 0.6F}, {ticket, 0.8F}, {nutrition_label, 1}};
  static const std::vector<Layout> charts = {{bar_chart, 5}, {line_chart, 1.6F}, {pie_chart, 1.4F}};
  static const std::vector<Layout> scenes = {{signs, 3},        {poster, 1.5F},  {landmarks, 1.5F},
                                             {zoo, 1.2F},       {shop_shelf, 2}, {dashboard, 1.5F},
                                             {departures, 1.2F}};
  static const std::vector<Layout> objects = {{objects_scattered, 1}};
  if (kind == "scenes") return scenes;
  if (kind == "objects") return objects;
  if (kind == "documents") return documents;
  if (kind == "charts") return charts;
  throw Error(ErrorCode::not_found, "no kind of scene named " + kind);
}

uint64_t salt(const std::string& kind) {
  uint64_t hash = 1469598103934665603ULL;  // FNV-1a
  for (char c : kind) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
  return hash;
}

Sheet draw(Context& context, const std::string& kind) {
  const auto& list = layouts(kind);
  std::vector<float> weights;
  for (const Layout& layout : list) weights.push_back(layout.weight);
  return list[context.random.weighted(weights)].make(context);
}

const char* name(Level level) {
  return level == Level::simple ? "simple" : level == Level::medium ? "medium" : "complex";
}

// Draws facts by weight without putting them back; no sentence twice.
void choose_questions(Random& r, std::vector<Ask> asks, const std::vector<Mapping>& maps,
                      const Options& options, bool keep_case, Draft& out) {
  std::vector<float> weights;
  for (const Ask& ask : asks) weights.push_back(ask.weight);
  while (!asks.empty() && static_cast<int>(out.scene.questions.size()) < options.questions) {
    const size_t at = r.weighted(weights);
    const Ask ask = std::move(asks[at]);
    asks.erase(asks.begin() + static_cast<std::ptrdiff_t>(at));
    weights.erase(weights.begin() + static_cast<std::ptrdiff_t>(at));
    Question q;
    q.text = phrase(r, ask);
    q.answer = normalise_answer(ask.answer, keep_case);
    q.intent = ask.intent;
    q.complexity = name(ask.level);
    q.picture = ask.picture;
    const auto& list = out.scene.questions;
    if (q.answer.empty() || decode(q.answer).size() > kAnswerLimit ||
        std::any_of(list.begin(), list.end(), [&](const Question& p) { return p.text == q.text; }))
      continue;
    const Mapping& map = maps[static_cast<size_t>(ask.picture)];
    std::vector<int> items;
    for (const Run& run : ask.answers) {
      q.answer_boxes.push_back(map(run.box));
      items.push_back(run.item);
    }
    for (const Box& box : ask.evidence) q.evidence_boxes.push_back(map(box));
    out.scene.questions.push_back(std::move(q));
    out.answer_items.push_back(std::move(items));
  }
}

}  // namespace

const std::vector<std::string>& kinds() {
  static const std::vector<std::string> list = {"documents", "charts", "scenes", "objects"};
  return list;
}

Draft draft(const Assets& assets, const std::string& kind, uint64_t seed, const Options& options,
            int suppressed) {
  Random random(Random(seed ^ salt(kind)).next());
  // Looks and questions have streams of their own, so that a scene without effects shows the same.
  Random looks = random.fork(1), words = random.fork(2);
  Context context{library(assets), options, random, suppressed};
  Sheet sheet = draw(context, kind);
  Draft out;
  out.scene.kind = kind;
  out.scene.layout = sheet.layout;
  out.scene.seed = seed;
  std::vector<Ask> asks = std::move(sheet.asks);
  std::vector<Mapping> maps(sheet.pages.size());
  for (size_t i = 0; i < sheet.pages.size(); ++i) {
    Page& page = sheet.pages[i];
    out.items = std::max(out.items, page.next_item);
    for (Ask& ask : page.asks) {
      ask.picture = static_cast<int>(i);
      asks.push_back(std::move(ask));
    }
    out.scene.images.push_back(finish(context, page, sheet.finish, looks.fork(i), maps[i]));
  }
  choose_questions(words, std::move(asks), maps, options, kind == "formulas", out);
  return out;
}

Scene make(const Assets& assets, const std::string& kind, uint64_t seed, const Options& options) {
  return draft(assets, kind, seed, options).scene;
}

Scene make_mixed(const Assets& assets, uint64_t seed, const Options& options) {
  Random r(seed * 0x2545F4914F6CDD1DULL + 7);
  return make(assets, kinds()[r.weighted({6, 4, 2.5F, 1})], seed, options);
}

}  // namespace arrcoc::scenes
