#include <gtest/gtest.h>

#include "lab/measure/evaluation.h"

namespace arrcoc::measuring {
namespace {

TEST(ExactMatch, IgnoresCaseAndWhiteSpaceButNothingElse) {
  EXPECT_TRUE(exact_match("  33.10 ", "33.10"));
  EXPECT_TRUE(exact_match("TAN  Woon\tYann", "tan woon yann"));
  EXPECT_TRUE(exact_match("ÄPFEL", "äpfel"));
  EXPECT_FALSE(exact_match("33.1", "33.10"));
  EXPECT_FALSE(exact_match("", "none"));
  EXPECT_EQ(normalised(" Straße  5 € "), "straße 5 €");
}

TEST(Anls, IsTheSimilarityAboveAHalfAndNothingBelow) {
  EXPECT_DOUBLE_EQ(anls("33.10", "33.10"), 1);
  EXPECT_DOUBLE_EQ(anls("33.18", "33.10"), 0.8);  // one of five characters
  EXPECT_DOUBLE_EQ(anls("ab", "ax"), 0.5);
  EXPECT_DOUBLE_EQ(anls("abc", "axy"), 0);  // a third is too little
  EXPECT_DOUBLE_EQ(anls("", "x"), 0);
  EXPECT_DOUBLE_EQ(anls("é", "É"), 1);  // code points, not bytes
}

TEST(RelaxedMatch, AllowsFivePercentOfNumbersOnly) {
  EXPECT_TRUE(relaxed_match("41", "42"));
  EXPECT_FALSE(relaxed_match("39", "42"));
  EXPECT_TRUE(relaxed_match("1,050", "1000"));
  EXPECT_TRUE(relaxed_match("43%", "43"));
  EXPECT_FALSE(relaxed_match("agre", "agree"));
}

TEST(Auroc, IsTheShareOfPairsInTheRightOrder) {
  EXPECT_DOUBLE_EQ(auroc({0.9, 0.8}, {0.1, 0.85}), 0.75);
  EXPECT_DOUBLE_EQ(auroc({0.5}, {0.5, 0.5}), 0.5);
  EXPECT_DOUBLE_EQ(auroc({}, {0.2}), 0.5);
}

TEST(Bootstrap, HoldsTheMeanAndComesBackTheSame) {
  std::vector<double> values;
  std::vector<int> groups;
  for (int i = 0; i < 100; ++i) {
    values.push_back(i % 4 == 0 ? 1 : 0);
    groups.push_back(i);
  }
  const Interval a = bootstrap(values, groups);
  EXPECT_DOUBLE_EQ(a.mean, 0.25);
  EXPECT_LT(a.low, 0.25);
  EXPECT_GT(a.high, 0.25);
  EXPECT_NEAR(a.high - a.low, 2 * 1.96 * std::sqrt(0.25 * 0.75 / 100), 0.03);
  EXPECT_EQ(a, bootstrap(values, groups));
  EXPECT_EQ(bootstrap({}, {}), Interval{});
}

TEST(Bootstrap, QuestionsOfOnePictureAreDrawnTogether) {
  std::vector<double> values;
  std::vector<int> alone, together;
  for (int i = 0; i < 200; ++i) {
    values.push_back(i / 4 % 2);  // the four questions of a picture share their fate
    alone.push_back(i);
    together.push_back(i / 4);
  }
  const Interval a = bootstrap(values, alone), b = bootstrap(values, together);
  EXPECT_GT(b.high - b.low, 1.5 * (a.high - a.low));
}

}  // namespace
}  // namespace arrcoc::measuring
