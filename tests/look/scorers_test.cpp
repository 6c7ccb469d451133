#include <gtest/gtest.h>

#include "arrcoc/error.h"
#include "look/scorers/maps.h"
#include "sight.h"

using namespace arrcoc;
using namespace arrcoc::test;

namespace {
void expect_unit(const Map& map) {
  for (float v : map.values) {
    ASSERT_GE(v, 0.0F);
    ASSERT_LE(v, 1.0F);
  }
}
}  // namespace

TEST(Information, VariedPatchScoresAboveFlatPatch) {
  at::Tensor rgb = flat(.5, .5, .5);
  auto g = at::detail::createCPUGenerator(4);
  rgb.slice(1, 64, 128).slice(2, 64, 128).copy_(at::rand({3, 64, 64}, g, at::kFloat));
  for (ChannelSet set : {ChannelSet::compact, ChannelSet::full}) {
    Scenery s(rgb, "what is this?", set);
    for (const char* name : {"shannon", "spectrum", "points"}) {
      Map map = s.score(name);
      expect_unit(map);
      EXPECT_GT(mean_in(map, 64, 64, 128, 128), 0.08F) << name;
      EXPECT_GT(mean_in(map, 64, 64, 128, 128), 3 * mean_in(map, 160, 160, 256, 256)) << name;
    }
  }
}

TEST(Information, ShannonIsTheEntropyOfTheHistogram) {
  at::Tensor rgb = flat(0, 0, 0, 16, 16);
  fill(rgb, 0, 0, 8, 16, 1, 1, 1);  // half black, half white: one bit of eight
  Map map = Scenery(rgb, "?x").score("shannon");
  ASSERT_EQ(map.size(), 1u);
  EXPECT_NEAR(map.values[0], 1.0 / 8, 1e-5);
}

TEST(Information, SpectrumIgnoresFaintSensorNoise) {
  auto g = at::detail::createCPUGenerator(4);
  at::Tensor rgb = flat(.5, .5, .5) + at::randn({1, 256, 256}, g, at::kFloat) * 0.004;
  fill(rgb, 0, 0, 64, 64, .9, .9, .9);
  scribble(rgb, 0, 0, 64, 64, 0.1);
  Map map = Scenery(rgb, "?x").score("spectrum");
  EXPECT_GT(mean_in(map, 0, 0, 64, 64), 5 * mean_in(map, 128, 128, 256, 256));
}

TEST(Salience, LoneColourStandsOutAndTheEdgeOfViewFades) {
  at::Tensor rgb = flat(.4, .5, .4, 512, 512);
  fill(rgb, 240, 240, 272, 272, .9, .1, .1);
  fill(rgb, 8, 8, 40, 40, .9, .1, .1);
  Map map = Scenery(rgb, "?x").score("saliency");
  expect_unit(map);
  const float middle = mean_in(map, 240, 240, 272, 272);
  const float corner = mean_in(map, 8, 8, 40, 40);
  EXPECT_GT(middle, 4 * mean_in(map, 350, 350, 480, 480));
  EXPECT_GT(middle, corner);
  EXPECT_GT(corner, mean_in(map, 350, 350, 480, 480));
}

TEST(Hotspots, AreLocalMaximaAboveTheThreshold) {
  Map map{5, 5, 10, 10, std::vector<float>(25, 0.0F)};
  map.at(1, 1) = 0.9F;
  map.at(1, 2) = 0.8F;  // not a maximum
  map.at(3, 3) = 1.0F;
  map.at(3, 4) = 1.0F;  // plateau: counted once
  map.at(0, 4) = 0.6F;  // too weak
  std::vector<Hotspot> spots = scoring::hotspots(map, 0.7F);
  ASSERT_EQ(spots.size(), 2u);
  EXPECT_EQ(spots[0], (Hotspot{35, 35, 1.0F}));
  EXPECT_EQ(spots[1], (Hotspot{15, 15, 0.9F}));
}

TEST(Lexical, ColourWordsFindTheirColour) {
  at::Tensor rgb = flat(.6, .6, .6);
  fill(rgb, 32, 32, 80, 80, .85, .1, .1);      // red
  fill(rgb, 32, 160, 80, 208, .1, .2, .8);     // blue
  fill(rgb, 160, 32, 208, 80, .1, .6, .15);    // green
  fill(rgb, 160, 160, 208, 208, .95, .9, .1);  // yellow
  struct Case {
    const char* word;
    float x, y;
  };
  for (Case c :
       {Case{"red", 32, 32}, {"blue", 160, 32}, {"green", 32, 160}, {"yellow", 160, 160}}) {
    Map map = Scenery(rgb, std::string("Where is the ") + c.word + " box?").score("lexical");
    expect_unit(map);
    const float there = mean_in(map, c.x, c.y, c.x + 48, c.y + 48);
    for (Case o :
         {Case{"red", 32, 32}, {"blue", 160, 32}, {"green", 32, 160}, {"yellow", 160, 160}}) {
      if (o.word == c.word) continue;
      EXPECT_GT(there, 2 * mean_in(map, o.x, o.y, o.x + 48, o.y + 48)) << c.word << "/" << o.word;
    }
    EXPECT_GT(there, 2 * mean_in(map, 96, 96, 144, 144)) << c.word;
  }
}

TEST(Lexical, PlacesPointThere) {
  at::Tensor rgb = flat(.5, .5, .5);
  Map map = Scenery(rgb, "What is in the top left corner?").score("lexical");
  EXPECT_GT(mean_in(map, 0, 0, 64, 64), 0.7F);
  EXPECT_LT(mean_in(map, 192, 192, 256, 256), 0.05F);
  EXPECT_LT(mean_in(map, 192, 0, 256, 64), 0.05F);
  Map bottom = Scenery(rgb, "the thing at the bottom").score("lexical");
  EXPECT_GT(mean_in(bottom, 0, 208, 256, 256), 0.7F);
  EXPECT_LT(mean_in(bottom, 0, 0, 256, 64), 0.05F);
}

TEST(Lexical, TextDarkAndRound) {
  at::Tensor rgb = flat(.9, .9, .9, 320, 320);
  scribble(rgb, 20, 20, 120, 150, 0.1);
  fill(rgb, 200, 20, 300, 120, .05, .05, .05);  // a dark square
  for (int y = 0; y < 320; ++y) {               // a mid-grey disc of radius 45 at (240,240)
    for (int x = 0; x < 320; ++x) {
      if ((y - 240) * (y - 240) + (x - 240) * (x - 240) < 45 * 45) {
        fill(rgb, y, x, y + 1, x + 1, .5, .5, .5);
      }
    }
  }
  Map text = Scenery(rgb, "What does the text say?").score("lexical");
  EXPECT_GT(mean_in(text, 20, 20, 150, 120), 2 * mean_in(text, 208, 208, 272, 272));
  EXPECT_GT(mean_in(text, 20, 20, 150, 120), 2 * mean_in(text, 36, 216, 100, 284));
  Map dark = Scenery(rgb, "the dark thing").score("lexical");
  EXPECT_GT(mean_in(dark, 36, 216, 100, 284), 2 * mean_in(dark, 220, 220, 260, 260));
  Map round = Scenery(rgb, "the round thing").score("lexical");
  EXPECT_GT(mean_in(round, 220, 220, 260, 260), 2 * mean_in(round, 36, 216, 100, 284));
}

TEST(Lexical, SeveralAspectsMustHoldTogether) {
  at::Tensor rgb = flat(.9, .9, .9, 320, 320);
  fill(rgb, 16, 16, 96, 96, .8, .1, .1);
  fill(rgb, 200, 200, 296, 296, .8, .1, .1);
  Map map = Scenery(rgb, "the red box at the bottom right").score("lexical");
  EXPECT_GT(mean_in(map, 208, 208, 288, 288), 2 * mean_in(map, 16, 16, 96, 96));
}

TEST(Lexical, AQuestionThatNamesNothingVisibleIsFlat) {
  at::Tensor rgb = flat(.5, .5, .5);
  fill(rgb, 0, 0, 64, 64, 1, 0, 0);
  EXPECT_EQ(variance(Scenery(rgb, "Is it going to happen again?").score("lexical")), 0.0F);
}

TEST(Couple, TakesTheBestTokenAndDropsTheRest) {
  Map shape{2, 2, 1, 1, {}};
  at::Tensor features = at::zeros({2, 2, 2});
  features[0][0][0] = 1;  // cell 0 looks like token A
  features[1][1][1] = 1;  // cell 3 looks like token B
  at::Tensor tokens = at::eye(2);
  Map both = scoring::couple(features, tokens, {}, shape);
  EXPECT_GT(both.at(0, 0), both.at(0, 1));
  EXPECT_FLOAT_EQ(both.at(0, 0), both.at(1, 1));
  Map one = scoring::couple(features, tokens, at::tensor({1, 0}), shape);
  EXPECT_GT(one.at(0, 0), one.at(1, 1) + 0.5F);
  EXPECT_THROW(scoring::couple(features, at::eye(3), {}, shape), Error);
  EXPECT_THROW(scoring::couple(features, tokens, at::tensor({0, 0}), shape), Error);
}

TEST(Colours, AreFoundWhereTheQuestionNamesThem) {
  at::Tensor rgb = flat(.5, .5, .5);
  fill(rgb, 32, 32, 96, 96, .85, .1, .1);
  fill(rgb, 160, 160, 224, 224, .1, .2, .8);
  Map map = Scenery(rgb, "the blue thing").score("colours");
  EXPECT_GT(mean_in(map, 160, 160, 224, 224), 2 * mean_in(map, 32, 32, 96, 96));
}
