// Following beside per-frame allocation: the same tokens, and what is really shown.
#include <gtest/gtest.h>

#include <cmath>

#include "lab/measure/films.h"

namespace arrcoc::measuring {
namespace {

constexpr int kWidth = 200, kHeight = 150;  // of thumbs
const Geometry kCanvas{1024, 768, 0};

// A bright square on a ramp goes `step` thumb pixels a frame to the right; the network sees it.
Film film(int frames, int step) {
  Film out;
  out.geometry = kCanvas;
  out.question = parse_query("Where is the square?");
  const float s = 1024.0F / kWidth;
  for (int i = 0; i < frames; ++i) {
    const int x0 = 40 + step * i, y0 = 60, side = 20;
    filming::Thumb thumb{kWidth, kHeight, {}};
    for (int y = 0; y < kHeight; ++y)
      for (int x = 0; x < kWidth; ++x) {
        const bool square = x >= x0 && x < x0 + side && y >= y0 && y < y0 + side;
        // Its columns differ: one that has moved does not look as before.
        const int v = square ? 150 + 105 * ((x - x0) / 2 % 2) : x / 2;
        thumb.rgb.insert(thumb.rgb.end(), 3, static_cast<uint8_t>(v));
      }
    out.thumbs.push_back(thumb);
    out.boxes.push_back({s * x0, s * y0, s * (x0 + side), s * (y0 + side)});
    out.cuts.push_back(false);
    Map map{48, 64, 16, 16, {}};
    for (int r = 0; r < map.rows; ++r)
      for (int c = 0; c < map.cols; ++c) {
        const double dx = 16.0 * (c + 0.5) - s * (x0 + 10), dy = 16.0 * (r + 0.5) - s * (y0 + 10);
        map.values.push_back(static_cast<float>(std::exp(-(dx * dx + dy * dy) / 8000)));
      }
    out.looks.push_back(map);
  }
  return out;
}

filming::Options options_of(int tokens) {
  filming::Options out = filming::defaults();
  out.allowance.most = tokens;
  out.allowance.rate = tokens;
  return out;
}

TEST(Films, PerFrameAllocationSpendsAsMuchAsFollowingWithinOneSplit) {
  for (int tokens : {24, 64, 100})
    for (int step : {0, 3}) {
      const FilmScore s =
          follow({film(9, step), film(4, step)}, options_of(tokens), {}, FilmBaselines::all);
      EXPECT_GT(s.tokens, 0);
      EXPECT_LE(s.furthest, 3) << tokens << " tokens, step " << step;  // a split costs three
      EXPECT_LE(std::abs(s.tokens - s.alone_tokens), 6);
      EXPECT_EQ(s.boxes.size(), 13U);
    }
}

TEST(Films, WhatHasChangedSinceItWasPaidForIsNotShown) {
  filming::Options options = options_of(64);
  const FilmScore still = follow({film(8, 0)}, options, {}, FilmBaselines::all);
  EXPECT_DOUBLE_EQ(still.mean(&FilmBox::covered), still.mean(&FilmBox::shown));
  EXPECT_GT(still.less(&FilmBox::shown, &FilmBox::alone).low, 0);
  // Leaves that are never bought again cover what they do not show.
  options.tuning.stale = 1;
  options.tuning.keep = 1;
  const FilmScore moving = follow({film(8, 1)}, options, {}, FilmBaselines::all);
  EXPECT_LT(moving.mean(&FilmBox::shown), moving.mean(&FilmBox::covered) - 0.1);
}

TEST(Films, DifferencesAreTakenInPairsAndClipsAreDrawnTogether) {
  FilmScore a, b;
  for (int clip = 0; clip < 10; ++clip)
    for (int k = 0; k < 4; ++k) {
      FilmBox box;
      box.group = clip;
      box.shown = 0.1 * clip + 0.05;
      box.alone = 0.1 * clip;
      a.boxes.push_back(box);
      box.shown -= 0.01 * (k + 1);
      b.boxes.push_back(box);
    }
  const Interval more = a.less(&FilmBox::shown, &FilmBox::alone);
  EXPECT_NEAR(more.mean, 0.05, 1e-9);
  EXPECT_NEAR(more.low, 0.05, 1e-9);  // however far the clips are apart
  const Interval gained = gain(a, b, &FilmBox::shown);
  EXPECT_NEAR(gained.mean, 0.025, 1e-9);
  EXPECT_NEAR(gained.high, 0.025, 1e-9);  // every clip has the same four
}

}  // namespace
}  // namespace arrcoc::measuring
