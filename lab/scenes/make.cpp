#include <algorithm>

#include "arrcoc/error.h"
#include "lab/scenes/draft.h"
#include "lab/scenes/layouts.h"

namespace arrcoc::scenes {
namespace {

uint64_t salt(const std::string& kind) {
  uint64_t hash = 1469598103934665603ULL;  // FNV-1a
  for (char c : kind) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
  return hash;
}

// One slip of the fingers: two letters swapped, one lost, one doubled, or a neighbour on the
// keyboard.
void typo(Random& r, std::string& text) {
  std::vector<size_t> letters;
  for (size_t i = 1; i + 1 < text.size(); ++i) {
    auto plain = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
    if (plain(text[i]) && plain(text[i + 1])) letters.push_back(i);
  }
  if (letters.empty()) return;
  const size_t at = r.pick(letters);
  static const std::string row = "qwertyuiopasdfghjklzxcvbnm";
  switch (r.between(0, 3)) {
    case 0:
      std::swap(text[at], text[at + 1]);
      break;
    case 1:
      text.erase(at, 1);
      break;
    case 2:
      text.insert(at, 1, text[at]);
      break;
    default: {
      const size_t key = row.find(text[at]);
      if (key != std::string::npos) text[at] = row[key + 1 < row.size() ? key + 1 : key - 1];
    }
  }
}

// A figure that is no percentage must not be asked for as one.
bool suits(const std::string& form, const Ask& ask) {
  for (const auto& [name, value] : ask.slots)
    if (name == "unit" && value == "number")
      for (const char* word : {"percent", "share", "people"})
        if (form.find(word) != std::string::npos) return false;
  return true;
}

// The question for a fact: a form of its intent with the slots filled, then sloppy in a share.
// Suites have forms of their own where the lists do.
std::string phrase(Random& r, const Ask& ask, bool suite) {
  const std::string all = "ask." + ask.intent, own = all + ".suite";
  const std::vector<std::string>& forms =
      r.words->named(suite && r.words->has(own) ? own : all).words;
  std::string form = r.pick(forms);
  while (!suits(form, ask)) form = r.pick(forms);
  std::string text = fill(form, ask.slots);
  if (r.chance(0.05F)) text = r.pick<"question.opening">() + text;
  const bool formula = ask.intent.rfind("formula", 0) == 0;  // letters there mean what they are
  if (r.chance(0.15F) && !formula) text = lower(text);
  if (r.chance(0.01F) && !formula) text = upper(text);
  if (r.chance(0.12F))
    while (!text.empty() && (text.back() == '?' || text.back() == '.')) text.pop_back();
  if (r.chance(0.02F) && !text.empty()) text += text.back() == '?' ? "?" : " ?";
  if (r.chance(0.06F) && !formula) typo(r, text);
  if (text.size() > kQuestionLimit) text.resize(kQuestionLimit);
  return text;
}

Sheet draw(Context& context, const std::string& kind) {
  std::vector<Layout> list = layouts(kind);
  for (Layout& layout : list) {
    // Held-back layouts are most of suite:unseen and no part of anything else.
    if (layout.held) layout.weight = context.options.held_back ? layout.weight * 4 : 0.0F;
  }
  std::vector<float> weights;
  for (const Layout& layout : list) weights.push_back(layout.weight);
  Sheet sheet = list[context.random.weighted(weights)].make(context);
  if (sheet.finish == Finish::scan && sheet.pages.size() == 1)
    archive_marks(context, sheet.pages[0], sheet.layout);
  return sheet;
}

// Draws facts by weight without putting them back; no sentence twice.
void choose_questions(Random& r, std::vector<Ask> asks, const std::vector<Mapping>& maps,
                      const Options& options, bool keep_case, uint64_t wording, Draft& out) {
  const bool suite = out.scene.seed >= kSuiteSeedBase;
  std::vector<float> weights;
  for (const Ask& ask : asks) weights.push_back(ask.weight);
  std::vector<std::string> sentences;
  while (!asks.empty() && static_cast<int>(out.scene.questions.size()) < options.questions) {
    const size_t at = r.weighted(weights);
    const Ask ask = std::move(asks[at]);
    asks.erase(asks.begin() + static_cast<std::ptrdiff_t>(at));
    weights.erase(weights.begin() + static_cast<std::ptrdiff_t>(at));
    Question q;
    q.text = phrase(r, ask, suite);
    q.answer = keep_case ? trim(ask.answer) : lower(trim(ask.answer));
    q.intent = ask.intent;
    q.complexity = ask.complexity;
    q.picture = ask.picture;
    if (q.text.empty() || q.answer.empty() || decode(q.answer).size() > kAnswerLimit ||
        holds(sentences, q.text))
      continue;
    const Mapping& map = maps[static_cast<size_t>(ask.picture)];
    // What the edge of the picture cuts off cannot be asked for.
    const Image& image = out.scene.images[static_cast<size_t>(ask.picture)];
    const Box whole{-0.5F, -0.5F, image.width + 0.5F, image.height + 0.5F};
    if (std::any_of(ask.answers.begin(), ask.answers.end(), [&](const Run& run) {
          return intersect(map(run.box), whole).area() < map(run.box).area() * 0.999F;
        }))
      continue;
    std::vector<int> items;
    for (const Run& run : ask.answers) {
      q.answer_boxes.push_back(map(run.box));
      items.push_back(run.item);
    }
    for (const Box& box : ask.evidence) q.evidence_boxes.push_back(map(box));
    for (size_t i = 0; i < ask.track.size() && i < out.scene.images.size(); ++i)
      out.scene.images[i].targets.push_back(maps[i](ask.track[i]));
    sentences.push_back(q.text);
    // Other words for the same fact come from a stream of their own: nothing else may change.
    if (wording > 0) {
      Random other(Random(out.scene.seed ^ salt("wording")).next() + 64 * wording +
                   sentences.size());
      other.words = r.words;
      for (int tries = 0; tries < 8; ++tries)
        if (const std::string text = phrase(other, ask, suite); text != q.text) {
          q.text = text;
          break;
        }
    }
    out.scene.questions.push_back(std::move(q));
    out.answer_items.push_back(std::move(items));
  }
}

}  // namespace

Draft draft(const Assets& assets, const std::string& kind, uint64_t seed, const Options& options,
            int suppressed, uint64_t wording) {
  Random random(Random(seed ^ salt(kind)).next());
  random.words = &library(assets).words();
  random.strangeness = options.strange;
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
    // Clips keep one look over all frames; what differs is drawn from the context's stream.
    Random look = sheet.finish == Finish::clip ? looks : looks.fork(i);
    context.random = Random(words.fork(i).next());
    out.scene.images.push_back(finish(context, page, sheet.finish, look, maps[i]));
  }
  choose_questions(words, std::move(asks), maps, options, kind == "formulas", wording, out);
  return out;
}

Scene make_reworded(const Assets& assets, const std::string& kind, uint64_t seed,
                    const Options& options, uint64_t wording) {
  return draft(assets, kind, seed, options, -1, wording).scene;
}

Scene make(const Assets& assets, const std::string& kind, uint64_t seed, const Options& options) {
  return draft(assets, kind, seed, options).scene;
}

Scene make_mixed(const Assets& assets, uint64_t seed, const Options& options) {
  if (seed >= kSuiteSeedBase)
    throw Error(ErrorCode::bad_argument, "seed " + std::to_string(seed) +
                                             " belongs to the suites; train with seeds below " +
                                             std::to_string(kSuiteSeedBase));
  return make(assets, mixed_kind(seed), seed, options);
}

}  // namespace arrcoc::scenes
