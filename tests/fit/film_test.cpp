#include <gtest/gtest.h>

#include <cmath>

#include "lab/fit/film_fit.h"
#include "lab/fit/film_movers.h"

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

measuring::Film still_film(int clip) {
  measuring::Film out;
  out.clip = clip;
  out.geometry = {512, 384, 0};
  out.question = parse_query("Where is the lamp?");
  for (int i = 0; i < 3; ++i) {
    out.thumbs.push_back({160, 120, std::vector<uint8_t>(size_t{3} * 160 * 120, 90)});
    Map map{24, 32, 16, 16, std::vector<float>(size_t{24} * 32, 0.1F)};
    map.at(12, 4 * (clip % 4)) = 1;
    out.looks.push_back(map);
    out.boxes.push_back({64.0F * static_cast<float>(clip % 4), 192, 80, 208});
    out.cuts.push_back(false);
  }
  return out;
}

// One film held aside says nothing beyond chance, and none at all even less.
TEST(FilmFit, WhatIsNoBetterOnFilmsHeldAsideIsNotKept) {
  FilmRows rows;
  for (int clip = 0; clip < 5; ++clip) rows.clips.push_back(still_film(clip));
  int rounds = 0;
  const FilmFit fit =
      fit_film(rows, filming::defaults(), remembered({}), [&](const std::string &) { ++rounds; });
  EXPECT_GT(rounds, 1);
  EXPECT_FALSE(fit.better);
  EXPECT_EQ(fit.movers, measuring::Interval{});
  EXPECT_GE(fit.constants.steady, 0.81F);
  EXPECT_GE(fit.constants.unexplained, 0.01F);
  const FilmFit again = fit_film(rows, filming::defaults(), remembered({}), {});
  EXPECT_EQ(again.constants, fit.constants);  // nothing is random
}

TEST(FilmMovers, TheCutIsWhereItsBoxSays) {
  const auto assets = scenes::Assets::load(std::string(ARRCOC_SOURCE_DIR) + "/assets");
  AskOptions options = policy("saliency");
  options.canvas = 1024;
  const Asker asker(nullptr);
  const measuring::FilmLook look{asker.looker(options), options};
  const auto films = mover_films(*assets, 1, 7000001, look);
  ASSERT_EQ(films.size(), 1U);
  const measuring::Film &film = films.front();
  EXPECT_EQ(film.layout, "still");
  EXPECT_TRUE(filming::interest_in(film.question).moving);
  ASSERT_EQ(film.thumbs.size(), static_cast<size_t>(kMoverFrames));
  // Before a still camera nothing but noise changes outside of the two boxes.
  const Box &a = film.boxes.front(), &b = film.boxes.back();
  EXPECT_GT(std::abs(a.x0 - b.x0), 100);
  const filming::Thumb &first = film.thumbs.front(), &last = film.thumbs.back();
  const float scale = static_cast<float>(film.geometry.width) / static_cast<float>(first.width);
  for (int y = 0; y < first.height; ++y)
    for (int x = 0; x < first.width; ++x) {
      const Box pixel{static_cast<float>(x - 1) * scale, static_cast<float>(y - 1) * scale,
                      static_cast<float>(x + 2) * scale, static_cast<float>(y + 2) * scale};
      if (intersect(pixel, a).area() > 0 || intersect(pixel, b).area() > 0) continue;
      const size_t i = 3 * (static_cast<size_t>(y) * first.width + x);
      ASSERT_NEAR(first.rgb[i], last.rgb[i], 10) << x << " " << y;
    }
}

}  // namespace
}  // namespace arrcoc::fitting
