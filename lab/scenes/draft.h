// How scenes come about, for tests and tools: drafts, the way from pages to pictures, digests.
#pragma once

#include "lab/scenes/page.h"

namespace arrcoc::scenes {

struct Draft {
  Scene scene;
  // Per question: the items (drawn texts or things) that hold the answer.
  std::vector<std::vector<int>> answer_items;
  int items = 0;
};

constexpr size_t kQuestionLimit = 192, kAnswerLimit = 64;  // bytes, characters

// As make() or make_reworded(), but one item is laid out and not drawn; -1 draws everything.
Draft draft(const Assets& assets, const std::string& kind, uint64_t seed, const Options& options,
            int suppressed = -1, uint64_t wording = 0);

// Ages the pages and turns them into pictures: moves boxes and glyphs along with the pixels.
// Returns per page the map from page to picture coordinates.
struct Mapping {
  float m[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  Point operator()(Point p) const;
  Box operator()(const Box& box) const;  // axis-aligned hull of the moved box
};
Image finish(Context& context, Page& page, Finish look, Random random, Mapping& mapping);

// FNV-1a over pixels, questions, answers and boxes (to whole pixels), to notice when the generator
// changes what it makes.
uint64_t digest(const Scene& scene);
uint64_t suite_digest(const Assets& assets, const std::string& name);  // all scenes, in order

}  // namespace arrcoc::scenes
