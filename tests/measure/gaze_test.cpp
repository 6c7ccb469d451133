// Against values worked out by hand.
#include "lab/measure/gaze.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "arrcoc/error.h"
#include "folder.h"

namespace arrcoc::measuring {
namespace {

Field row_of(std::vector<float> values) { return {static_cast<int>(values.size()), 1, values}; }

TEST(Nss, IsTheMeanStandardScoreOfWhatWasLookedAt) {
  // 0 0 0 4: mean 1, deviation sqrt(3); at the last pixel 3 / sqrt(3).
  const Field map = row_of({0, 0, 0, 4});
  EXPECT_NEAR(nss(map, row_of({0, 0, 0, 1})), std::sqrt(3.0), 1e-12);
  EXPECT_NEAR(nss(map, row_of({1, 0, 0, 0})), -1 / std::sqrt(3.0), 1e-12);
  EXPECT_NEAR(nss(map, row_of({1, 0, 0, 1})), 1 / std::sqrt(3.0), 1e-12);
  EXPECT_NEAR(nss(map, row_of({0.5, 0, 0, 1})), 2.5 / 1.5 / std::sqrt(3.0), 1e-12);  // weighted
  EXPECT_NEAR(nss(map, row_of({1, 1, 1, 1})), 0, 1e-12);
  EXPECT_EQ(nss(row_of({2, 2, 2, 2}), row_of({0, 0, 0, 1})), 0);
  EXPECT_EQ(nss(map, row_of({0, 0, 0, 0})), 0);
}

TEST(AucJudd, HasAThresholdAtEveryFixatedValue) {
  const Field map = row_of({0.9F, 0.8F, 0.7F, 0.6F, 0.5F, 0.4F});
  EXPECT_DOUBLE_EQ(auc_judd(map, row_of({1, 1, 0, 0, 0, 0})), 1);
  // Fixated .8 and .6 of six: points (alarms, hits) (1/4, 1/2), (2/4, 1), then (1, 1):
  // 1/4 * 1/4 + 1/4 * 3/4 + 1/2 = 3/4.
  EXPECT_DOUBLE_EQ(auc_judd(map, row_of({0, 1, 0, 1, 0, 0})), 0.75);
  // The lowest pixel alone: the only threshold lets all others pass, a line from (0,0) to (1,1).
  EXPECT_DOUBLE_EQ(auc_judd(map, row_of({0, 0, 0, 0, 0, 1})), 0.5);
  EXPECT_DOUBLE_EQ(auc_judd(row_of({1, 1, 1, 1}), row_of({0, 1, 0, 1})), 0.5);
  EXPECT_DOUBLE_EQ(auc_judd(map, row_of({0, 0, 0, 0, 0, 0})), 0.5);
}

TEST(AucJudd, DoesNotDependOnHowBroadACentredGaussianIs) {
  GazeItem item{"", 40, 30, "", {{20, 15}, {20, 15}, {3, 4}, {39.9F, 29.9F}, {40, 3}}, {}};
  const Field looked = fixated(item);
  int pixels = 0;
  for (float v : looked.values) pixels += v > 0 ? 1 : 0;
  EXPECT_EQ(pixels, 3);  // once each, and none outside
  EXPECT_NEAR(auc_judd(centred(40, 30, 0.2), looked), auc_judd(centred(40, 30, 0.4), looked), 1e-9);
  EXPECT_GT(centred(40, 30, 0.2).values[15 * 40 + 20], centred(40, 30, 0.2).values[0]);
}

TEST(Correlation, OfFieldsIsPearsons) {
  EXPECT_NEAR(correlation(row_of({1, 2, 3}), row_of({2, 4, 6})), 1, 1e-12);
  EXPECT_NEAR(correlation(row_of({1, 2, 3}), row_of({0, 0, 1})), std::sqrt(3.0) / 2, 1e-12);
  EXPECT_EQ(correlation(row_of({1, 1, 1}), row_of({0, 0, 1})), 0);
}

TEST(FieldOf, IsBilinearBetweenTheMiddlesOfCells) {
  const Map map{1, 2, 4, 2, {0, 1}};  // two cells of 4x2 pixels
  const Field field = field_of(map, 8, 2);
  EXPECT_FLOAT_EQ(field.values[0], 0);       // outside of the middles: the cell's own
  EXPECT_FLOAT_EQ(field.values[2], 0.125F);  // 0.5 pixels of 4 past the first middle
  EXPECT_FLOAT_EQ(field.values[8 + 4], 0.625F);
  EXPECT_FLOAT_EQ(field.values[15], 1);
}

TEST(Painted, HasTheLargestScoreOfTheBoxesOverAPixelsMiddle) {
  GazeItem item{"", 4, 1, "", {}, {{{0, 0, 2, 1}, 0.5F}, {{1, 0, 3.4F, 1}, 0.8F}}};
  EXPECT_EQ(painted(item).values, (std::vector<float>{0.5F, 0.8F, 0.8F, 0}));
}

TEST(LoadGaze, TakesLinesThatSayWherePeopleLooked) {
  test::Folder folder;
  const std::string picture = R"({"image": "a.jpg", "width": 8, "height": 6, )";
  std::ofstream(folder / "items.jsonl")
      << picture << R"("fixations": [[1.5, 2], [3, 4]], "viewer": [0, 1]})"
      << "\n"
      << picture << R"("question": "who?", "answer_boxes": []})"
      << "\n"
      << picture << R"("question": "what?", "gaze_boxes": [[0,0,2,2]], "gaze_scores": [0.7]})"
      << "\n";
  const auto items = load_gaze(folder.path());
  ASSERT_EQ(items.size(), 2U);
  EXPECT_EQ(items[0].fixations.size(), 2U);
  EXPECT_EQ(items[1].question, "what?");
  EXPECT_FLOAT_EQ(items[1].boxes[0].score, 0.7F);
  std::ofstream(folder / "items.jsonl")
      << picture << R"("question": "what?", "gaze_boxes": [[0,0,2,2]], "gaze_scores": []})"
      << "\n";
  EXPECT_THROW(load_gaze(folder.path()), Error);
  std::ofstream(folder / "items.jsonl") << picture << R"("question": "what?"})"
                                        << "\n";
  EXPECT_THROW(load_gaze(folder.path()), Error);
}

}  // namespace
}  // namespace arrcoc::measuring
