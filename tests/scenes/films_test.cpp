// Films for questions over time: what is asked is so, and suites ask in words of their own.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "lab/scenes/draft.h"
#include "lab/scenes/layouts.h"
#include "lab/scenes/library.h"

namespace arrcoc::scenes {
namespace {

const Assets& assets() {
  static const auto loaded = Assets::load(std::string(ARRCOC_SOURCE_DIR) + "/assets");
  return *loaded;
}

Options small() {
  Options out;
  out.longest = 512;
  out.questions = 12;
  return out;
}

std::vector<size_t> shown(const Scene& scene, size_t question) {
  std::vector<size_t> out;
  for (size_t k = 0; k < scene.images.size(); ++k)
    if (scene.images[k].targets[question].area() > 0) out.push_back(k);
  return out;
}

Point centre(const Box& b) { return {(b.x0 + b.x1) / 2, (b.y0 + b.y1) / 2}; }

TEST(Films, EveryQuestionIsAskedAndItsEvidenceIsInTheFrames) {
  std::map<std::string, int> asked;
  for (uint64_t seed = 0; seed < 60; ++seed) {
    const Scene scene = make(assets(), kTime, seed, small());
    EXPECT_EQ(digest(scene), digest(make(assets(), kTime, seed, small())));
    EXPECT_GE(scene.questions.size(), 1U);
    for (size_t q = 0; q < scene.questions.size(); ++q) {
      const Question& one = scene.questions[q];
      SCOPED_TRACE(std::to_string(seed) + " " + one.text + " -> " + one.answer);
      ++asked[one.intent];
      for (const Image& frame : scene.images)
        ASSERT_EQ(frame.targets.size(), scene.questions.size());
      const auto frames = shown(scene, q);
      EXPECT_EQ(frames.empty(), one.answer == "none");
      if (frames.empty()) continue;
      if (one.intent == "time.when")
        EXPECT_EQ(one.answer, std::to_string(frames.front() / kTimeFps) + " s");
      if (one.intent == "time.gone")
        EXPECT_EQ(one.answer, std::to_string((frames.back() + 1) / kTimeFps) + " s");
      if (one.intent == "time.appears") EXPECT_GT(frames.front(), 0U);
      if (one.intent == "time.disappears") EXPECT_LT(frames.back() + 1, scene.images.size());
      if (one.intent != "time.direction") continue;
      const Point a = centre(scene.images[frames.front()].targets[q]);
      const Point b = centre(scene.images[frames.back()].targets[q]);
      const float dx = b.x - a.x, dy = b.y - a.y;
      EXPECT_EQ(one.answer, std::abs(dx) > std::abs(dy) ? (dx > 0 ? "right" : "left")
                                                        : (dy > 0 ? "down" : "up"));
    }
  }
  EXPECT_EQ(asked.size(), 14U);
}

// Words of the suite's forms would tell nothing if plans had been made for them.
TEST(Films, SuitesAskInFormsOfTheirOwn) {
  const WordLists& words = library(assets()).words();
  int lists = 0;
  for (const std::string& name : words.names()) {
    if (!name.ends_with(".suite")) continue;
    ++lists;
    const auto& own = words.named(name).words;
    const auto& others = words.named(name.substr(0, name.size() - 6)).words;
    for (const std::string& form : own) EXPECT_FALSE(holds(others, form)) << name << ": " << form;
  }
  EXPECT_EQ(lists, 14);
  std::set<std::string> suite, dev;
  for (uint64_t seed = 0; seed < 40; ++seed) {
    for (const Question& q : make(assets(), kTime, seed, small()).questions)
      if (q.intent == "time.shots") dev.insert(lower(q.text).substr(0, 12));
    for (const Question& q : make(assets(), kTime, kSuiteSeedBase + seed, small()).questions)
      if (q.intent == "time.shots") suite.insert(lower(q.text).substr(0, 12));
  }
  for (const std::string& text : suite) EXPECT_EQ(dev.count(text), 0U) << text;
}

}  // namespace
}  // namespace arrcoc::scenes
