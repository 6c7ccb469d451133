// Which moments are kept, and answers put together from what they were asked.
#include <gtest/gtest.h>

#include "arrcoc/error.h"
#include "arrcoc/moments.h"
#include "lab/measure/film_answers.h"
#include "places.h"

using namespace arrcoc;
using filming::Moment;
using filming::Moments;

namespace {

filming::Step step(int64_t frame, bool cut = false, double residual = 0) {
  filming::Step out;
  out.frame = frame;
  out.cut = cut;
  out.change.residual = residual;
  return out;
}

std::vector<int64_t> frames_of(const Moments& moments) {
  std::vector<int64_t> out;
  for (const Moment& m : moments.kept()) out.push_back(m.frame);
  return out;
}

bool has(const std::vector<int64_t>& frames, int64_t frame) {
  return std::find(frames.begin(), frames.end(), frame) != frames.end();
}

}  // namespace

TEST(Moments, AreBoundedHoweverLongTheFilm) {
  for (const int64_t length : {1, 2, 17, 100, 5000}) {
    Moments moments;
    for (int64_t i = 0; i < length; ++i) moments.add(step(i), static_cast<double>(i), {});
    const auto frames = frames_of(moments);
    EXPECT_LE(frames.size(), Moments::kMost);
    EXPECT_EQ(frames.front(), 0);
    EXPECT_EQ(frames.back(), length - 1);
    // Evenly: no gap is far larger than an eighth of the film.
    for (size_t i = 1; i < frames.size(); ++i)
      EXPECT_LE(frames[i] - frames[i - 1], length / 8 + 1) << length;
  }
}

TEST(Moments, HoldBothSidesOfCutsAndJumps) {
  Moments moments;
  for (int64_t i = 0; i < 3000; ++i)
    moments.add(step(i, i % 100 == 50,
                     i == 1234 || i == 1717 ? 0.2
                     : i % 7 == 0           ? 0.001
                                            : 0),
                0, {});
  EXPECT_EQ(moments.shots(), 31);
  const auto frames = frames_of(moments);
  EXPECT_LE(frames.size(), Moments::kMost);
  for (const int64_t frame : {49, 50, 149, 150, 2949, 2950, 1233, 1234, 1716, 1717})
    EXPECT_TRUE(has(frames, frame)) << frame;
  EXPECT_EQ(moments.kept().back().shot, 30);
}
