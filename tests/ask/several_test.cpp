// Several pictures, one question.
#include "ask/several.h"

#include <gtest/gtest.h>

#include <ATen/ATen.h>

#include <algorithm>

#include "arrcoc/error.h"
#include "models.h"

using namespace arrcoc;
using namespace arrcoc::test;

namespace {

AskOptions with(const std::string& budget) {
  AskOptions out = policy("saliency");
  out.budget = budget;
  return out;
}

}  // namespace

TEST(Several, TheQuestionMayNameAPicture) {
  const auto named = [](const char* text) { return asking::named_picture(parse_query(text)); };
  EXPECT_EQ(named("What does the apple cost in the second picture?"), 1U);
  EXPECT_EQ(named("Look at the first picture: what is the date?"), 0U);
  EXPECT_EQ(named("In which picture is the apple cheaper?"), std::nullopt);
  EXPECT_EQ(named("What is in the third picture?"), 2U);
}

TEST(Several, AQuestionMayCompareThem) {
  using asking::Comparison;
  using By = Comparison::By;
  const auto of = [](const char* text) { return asking::comparison_in(parse_query(text)); };
  EXPECT_EQ(of("In which picture is the hot dog cheaper?"),
            (Comparison{By::smaller, "What does the hot dog cost?"}));
  EXPECT_EQ(of("Where does the apple cost less?"),
            (Comparison{By::smaller, "What does the apple cost?"}));
  EXPECT_EQ(of("Where is the tiger: first or second picture?"),
            (Comparison{By::presence, "Where is the tiger?"}));
  EXPECT_EQ(of("Which picture has more goats?"),
            (Comparison{By::larger, "How many goats are there?"}));
  EXPECT_EQ(of("What is in the first picture but not in the second?")->by, By::difference);
  EXPECT_EQ(of("What does the apple cost in the second picture?"), std::nullopt);
  EXPECT_EQ(of("Where is the total?"), std::nullopt);
  EXPECT_EQ(asking::number_in("RM 33.90"), 33.9);
  EXPECT_EQ(asking::number_in("1,234"), 1234);
  EXPECT_EQ(asking::number_in("2,5"), 2.5);
  EXPECT_EQ(asking::number_in("none"), std::nullopt);
}

// Prices that a model reads: the cheaper picture is named.
TEST(Several, TheComparisonIsMadeFromWhatEachAnswered) {
  const auto prices = std::make_shared<Scripted>([](size_t n, const Reading& reading) {
    EXPECT_EQ(reading.question, "What does the apple cost?");
    return reply_of(n == 0 ? "12.50" : "9.90", 0.9F, reading);
  });
  const Answer r = Asker(nullptr, prices)
                       .ask({noise(300, 200), noise(300, 200, 6)},
                            "In which picture is the apple cheaper?", with("100"));
  EXPECT_EQ(r.text, "second picture");
  EXPECT_EQ(r.picture, 1U);
  EXPECT_EQ(r.each, "What does the apple cost?");
  EXPECT_LE(r.tokens, 100);
}

TEST(Several, TheSurestPictureAnswersUnlessOneIsNamed) {
  const std::vector<Picture> both = {noise(400, 300), noise(400, 300, 6)};
  const Answer r = Asker(nullptr, script({0.3F, 0.9F})).ask(both, "What is it?", with("120"));
  EXPECT_EQ(r.picture, 1U);
  EXPECT_EQ(r.text, "pass 2");
  EXPECT_LE(r.tokens, 120);
  const Answer first =
      Asker(nullptr, script({0.3F, 0.9F})).ask(both, "What is in the first picture?", with("120"));
  EXPECT_EQ(first.picture, 0U);
  EXPECT_GT(first.pictures[0].tokens, first.pictures[1].tokens);
  EXPECT_TRUE(first.fallbacks.empty());
  const Answer third =
      Asker(nullptr, script({0.3F, 0.9F})).ask(both, "What is in the third picture?", with("120"));
  EXPECT_EQ(third.picture, 1U);  // as if none were named, and that is said
  EXPECT_EQ(third.fallbacks, std::vector<std::string>{"the question names the third picture of 2"});
  EXPECT_THROW(Asker(nullptr, script({0.3F})).ask(both, "What is it?", with("1")), Error);
}

TEST(Several, ASecondPassLooksAgainAtThePictureThatAnswered) {
  AskOptions options = with("120");
  options.passes.passes = 2;
  const auto model = script({0.3F, 0.5F, 0.6F}, 10);
  const Answer r =
      Asker(nullptr, model).ask({noise(400, 300), noise(400, 300, 6)}, "What is it?", options);
  EXPECT_EQ(r.picture, 1U);
  EXPECT_EQ(r.pictures[0].passes.size(), 1U);
  EXPECT_EQ(r.pictures[1].passes.size(), 2U);
  EXPECT_EQ(model->given.size(), 3U);
}

TEST(Several, AModelThatTakesThemTogetherReadsThemInOneSequence) {
  Capabilities takes;
  takes.takes = TokenKind::selection;
  takes.several = takes.turns = true;
  const auto model = std::make_shared<Scripted>(
      [](size_t, const Reading& reading) {
        EXPECT_EQ(reading.pictures.size(), 2U);
        EXPECT_EQ(reading.pictures[0].tokens.size(), 0);  // it encodes by itself
        Reply out = reply_of("both", 0.9F, reading);
        out.kept = {40, 50};
        return out;
      },
      takes);
  const Answer r =
      Asker(nullptr, model).ask({noise(400, 300), noise(400, 300, 6)}, "What is it?", with("120"));
  EXPECT_EQ(model->given.size(), 1U);
  EXPECT_EQ(r.text, "both");
  EXPECT_EQ(r.pictures[0].tokens, 40);
  EXPECT_EQ(r.tokens, 90);
}

// Striped things on plain ground; the second picture lacks one, has another, and is darker towards
// the right, with noise.
TEST(Several, WhatOnlyOneShowsIsFoundInAnotherLight) {
  const auto shelf = [](std::initializer_list<int> things) {
    at::Tensor rgb = at::full({3, 192, 256}, 180, at::kFloat);
    for (const int x : things)
      for (int y = 80; y < 112; y += 8) rgb.slice(1, y, y + 4).slice(2, x, x + 32).fill_(60);
    return rgb;
  };
  at::manual_seed(3);
  const at::Tensor light = at::linspace(0.8, 0.3, 256).reshape({1, 1, 256});
  const at::Tensor dark = shelf({24, 136, 208}) * light + 6 * at::randn({3, 192, 256});
  const Picture first = make_picture(shelf({24, 80, 136}).to(at::kByte));
  const Picture second = make_picture(dark.clamp(0, 255).to(at::kByte));
  const Map shape{24, 32, 8, 8, std::vector<float>(24 * 32, 0.0F)};
  const auto peak = [](const Map& map) {
    const auto at = std::max_element(map.values.begin(), map.values.end()) - map.values.begin();
    return std::pair{at % map.cols * 8 + 4, at / map.cols * 8 + 4};
  };
  for (const auto& [map, x] : {std::pair{asking::difference(first, second, shape), 80},
                               {asking::difference(second, first, shape), 208}}) {
    const auto [px, py] = peak(map);
    EXPECT_TRUE(px > x - 8 && px < x + 40 && py > 72 && py < 120) << x << ": " << px << " " << py;
  }
  EXPECT_TRUE(asking::difference(first, noise(100, 80), shape).empty());
}
