#include <gtest/gtest.h>

#include "lab/fit/film_fit.h"

namespace arrcoc::fitting {
namespace {

TEST(FilmFit, WorthIsWhatIsShownLessTokensAndWhatCoherenceLacks) {
  measuring::FilmScore s;
  s.boxes.resize(2);
  s.boxes[0].shown = 1;
  s.pairs = 4;
  s.coherence = 4 * 0.9;
  EXPECT_DOUBLE_EQ(worth(s), 0.5);
  s.coherence = 4 * 0.8;
  EXPECT_NEAR(worth(s), 0.4, 1e-9);
  s.low = 2;
  EXPECT_NEAR(worth(s), 0.15, 1e-9);
  s.frames = 2;
  s.tokens = 40;
  EXPECT_NEAR(worth(s), 0.09, 1e-9);
}

TEST(FilmFit, ConstantsReachTheFollowerAndItsAllowance) {
  FilmConstants constants;
  constants.decay = 0.3F;
  constants.novelty = 0.5;
  filming::Options options;
  options.tuning.refresh = 7;
  const filming::Options out = with_constants(options, constants);
  EXPECT_EQ(out.tuning.decay, 0.3F);
  EXPECT_EQ(out.allowance.novelty, 0.5);
  EXPECT_EQ(out.tuning.refresh, 7);  // no constant that is fitted
}

}  // namespace
}  // namespace arrcoc::fitting
