// Whether a question can be answered, and in one way only.
#include <gtest/gtest.h>

#include <map>
#include <regex>
#include <set>

#include "lab/scenes/draft.h"
#include "lab/scenes/layouts.h"
#include "lab/scenes/things.h"

namespace arrcoc::scenes {
namespace {

const Assets& assets() {
  static const auto loaded = Assets::load(std::string(ARRCOC_SOURCE_DIR) + "/assets");
  return *loaded;
}

const WordLists& words() { return library(assets()).words(); }

TEST(Questions, QuantitiesAreAnsweredByTheFigureAlone) {
  const std::regex unit(
      "^(RM ?|[^ -~]+ ?|\\$ ?)[0-9][0-9.,]*$|"
      "^[0-9][0-9.,]* ?(%|RM|\\$|km|g|mg|mcg|kg|lbs|cm|ml|years|days|bar|bpm|ms|v)$",
      std::regex::icase);
  Options options;
  options.longest = 512;
  options.questions = 12;
  for (const auto& kind : kinds()) {
    if (kind == "formulas") continue;
    for (uint64_t seed = 4000; seed < 4120; ++seed) {
      options.held_back = seed % 4 == 3;
      for (const Question& q : make(assets(), kind, seed, options).questions) {
        EXPECT_FALSE(std::regex_search(q.answer, unit))
            << q.intent << ": " << q.text << " -> " << q.answer;
      }
    }
  }
}

TEST(Questions, EveryCountedThingIsEvidence) {
  int asked = 0;
  for (const char* kind : {"objects", "hard"}) {
    for (uint64_t seed = 0; seed < 80; ++seed)
      for (const Question& q : make(assets(), kind, seed).questions) {
        if (q.intent != "object.count") continue;
        ++asked;
        EXPECT_EQ(std::to_string(q.answer_boxes.size()), q.answer) << seed << ": " << q.text;
        EXPECT_LE(q.answer_boxes.size(), 10u) << "more than one counts at a glance: " << q.text;
      }
  }
  EXPECT_GT(asked, 100);
}

TEST(Questions, RelationsAndComparisonsNameBothSidesAsEvidence) {
  std::map<std::string, int> asked;
  for (const char* kind : {"objects", "scenes", "charts", "hard"})
    for (uint64_t seed = 0; seed < 120; ++seed)
      for (const Question& q : make(assets(), kind, seed).questions) {
        const bool two = q.intent == "object.relation" || q.intent == "hard.compare" ||
                         q.intent == "shop.compare" || q.intent == "chart.compare";
        if (!two) continue;
        ++asked[q.intent];
        EXPECT_FALSE(q.evidence_boxes.empty()) << q.text;
        EXPECT_FALSE(q.answer_boxes.empty()) << q.text;
      }
  EXPECT_EQ(asked.size(), 4u);
}

TEST(Questions, ThingsAreLargeEnoughToBeKnown) {
  for (uint64_t seed = 0; seed < 80; ++seed)
    for (const Question& q : make(assets(), "objects", seed).questions)
      for (const Box& box : q.answer_boxes) EXPECT_GE(box.width(), 40) << seed << ": " << q.text;
}

TEST(Questions, NoTwoThingsOfAPictureShareAName) {
  Options options;
  for (bool held : {false, true}) {
    options.held_back = held;
    Random random(held);
    random.words = &library(assets()).words();
    Context context{library(assets()), options, random};
    for (int i = 0; i < 20; ++i) {
      const auto list = unlike_cutouts(context, 14);
      EXPECT_GE(list.size(), 10u);
      for (size_t a = 0; a < list.size(); ++a)
        for (size_t b = a + 1; b < list.size(); ++b)
          EXPECT_FALSE(confusable(words(), list[a]->name, list[b]->name));
    }
  }
  EXPECT_TRUE(confusable(words(), "dog", "poodle"));
  EXPECT_TRUE(confusable(words(), "fountain pen", "pen"));
  EXPECT_FALSE(confusable(words(), "tiger", "trumpet"));
}

TEST(Questions, ThingsArePutIntoThePluralAsPeopleDo) {
  EXPECT_EQ(plural(words(), "paintbrush"), "paintbrushes");
  EXPECT_EQ(plural(words(), "octopus"), "octopuses");
  EXPECT_EQ(plural(words(), "potato"), "potatoes");
  EXPECT_EQ(plural(words(), "yo-yo"), "yo-yos");
  EXPECT_EQ(plural(words(), "computer mouse"), "computer mice");
  EXPECT_EQ(plural(words(), "ear of corn"), "ears of corn");
  EXPECT_EQ(plural(words(), "butterfly"), "butterflies");
  EXPECT_EQ(plural(words(), "donkey"), "donkeys");
  EXPECT_FALSE(countable(words(), "french fries"));
  EXPECT_FALSE(countable(words(), "scissors"));
  EXPECT_TRUE(countable(words(), "panda"));
}

TEST(Questions, PercentagesAreAskedForOnlyWhereTheyArePrinted) {
  // A bar of 22,404 is no percentage.
  for (uint64_t seed = 0; seed < 150; ++seed)
    for (const Question& q : make(assets(), "charts", seed).questions)
      if (q.answer.find(',') != std::string::npos &&
          q.answer.find_first_not_of("0123456789,") == std::string::npos)
        EXPECT_EQ(q.text.find("percent"), std::string::npos) << q.text << " -> " << q.answer;
}

TEST(Questions, TheMixKeepsItsShares) {
  std::map<std::string, double> share;
  for (uint64_t seed = 0; seed < 20000; ++seed) share[mixed_kind(seed)] += 1.0 / 20000;
  const std::map<std::string, double> wanted = {
      {"documents", 0.36}, {"charts", 0.22}, {"scenes", 0.16}, {"formulas", 0.03},
      {"objects", 0.14},   {"hard", 0.06},   {"clips", 0.01},  {"pairs", 0.02}};
  for (const auto& [kind, part] : wanted) EXPECT_NEAR(share[kind], part, 0.012) << kind;
}

}  // namespace
}  // namespace arrcoc::scenes
