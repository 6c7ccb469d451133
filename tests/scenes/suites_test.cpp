// The fixed suites: what they are made of, and that they never change unnoticed.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <set>

#include "arrcoc/error.h"
#include "lab/scenes/draft.h"
#include "lab/scenes/suites.h"

namespace arrcoc::scenes {
namespace {

const Assets& assets() {
  static const auto loaded = Assets::load(std::string(ARRCOC_SOURCE_DIR) + "/assets");
  return *loaded;
}

struct Measured {
  std::vector<double> shares;  // answer box over picture
  std::set<std::string> distinct;
  int questions = 0;
};

Measured measure(const std::string& suite) {
  Measured m;
  for (int i = 0; i < kSuiteScenes; ++i) {
    const Scene scene = suite_scene(assets(), suite, i);
    EXPECT_GE(scene.seed, kSuiteSeedBase);
    for (const Question& q : scene.questions) {
      ++m.questions;
      m.distinct.insert(q.answer);
      if (q.answer_boxes.empty()) continue;
      double area = 0;
      for (const Box& b : q.answer_boxes) area += b.area();
      m.shares.push_back(area / (static_cast<double>(scene.images[q.picture].width) *
                                 scene.images[q.picture].height));
    }
  }
  std::sort(m.shares.begin(), m.shares.end());
  return m;
}

TEST(Suites, DocumentsAreHardEnoughToMeanSomething) {
  const Measured m = measure("suite:documents");
  EXPECT_EQ(m.questions, 200);
  EXPECT_LE(m.shares[m.shares.size() / 2], 0.003);
  EXPECT_GE(m.distinct.size(), 140u);  // 70 %
}

TEST(Suites, ChartsAreHardEnoughToMeanSomething) {
  const Measured m = measure("suite:charts");
  EXPECT_EQ(m.questions, 200);
  EXPECT_LE(m.shares[m.shares.size() / 2], 0.003);
  EXPECT_GE(m.distinct.size(), 80u);  // most answers are whole percentages: there are not more
}

// tests/data/suite_hashes.txt is written by `scene_sheet ASSETS hashes` (tools/scene_sheet.cpp).
// A change here means that numbers measured on the suites before and after cannot be compared.
class SuiteHash : public testing::TestWithParam<std::string> {};

TEST_P(SuiteHash, IsTheCommittedOne) {
  std::ifstream in(std::string(ARRCOC_TEST_DATA) + "/suite_hashes.txt");
  std::string name;
  uint64_t wanted = 0;
  bool found = false;
  while (in >> name >> std::hex >> wanted) {
    if (name != GetParam()) continue;
    found = true;
    EXPECT_EQ(suite_digest(assets(), name), wanted) << name;
  }
  EXPECT_TRUE(found) << GetParam();
}

INSTANTIATE_TEST_SUITE_P(Suites, SuiteHash, testing::ValuesIn(suites()),
                         [](const auto& info) { return info.param; });

TEST(SuiteScene, AsksWhatIsWanted) {
  for (int i = 0; i < 3; ++i) {
    const Scene scene = suite_scene_asking(assets(), "pairs", i, "pair.different");
    EXPECT_GE(scene.seed, kSuiteSeedBase);
    ASSERT_EQ(scene.questions.size(), 1U);
    EXPECT_EQ(scene.questions[0].intent, "pair.different");
  }
  EXPECT_THROW(suite_scene_asking(assets(), "pairs", 0, "pair.weather"), Error);
}

}  // namespace
}  // namespace arrcoc::scenes
