// Looking again with models that choose tokens of their own grid, or take views.
#include <gtest/gtest.h>

#include <numeric>

#include "arrcoc/error.h"
#include "arrcoc/json.h"
#include "ask/passes.h"
#include "models.h"

using namespace arrcoc;
using namespace arrcoc::test;
using nlohmann::ordered_json;

namespace {

constexpr int kToken = 32;  // pixels along one

// Tokens of one view, row by row, in pixels of the picture.
void add_tokens(const Box& box, int width, int height, std::vector<Box>& out) {
  const int cols = std::max(1, width / kToken), rows = std::max(1, height / kToken);
  const float x = box.width() / static_cast<float>(cols);
  const float y = box.height() / static_cast<float>(rows);
  for (int r = 0; r < rows; ++r)
    for (int c = 0; c < cols; ++c)
      out.push_back({box.x0 + static_cast<float>(c) * x, box.y0 + static_cast<float>(r) * y,
                     box.x0 + static_cast<float>(c + 1) * x,
                     box.y0 + static_cast<float>(r + 1) * y});
}

Capabilities views() {
  Capabilities out;
  out.takes = TokenKind::views;
  out.several = out.turns = out.focus = true;
  out.token_pixels = kToken;
  return out;
}

// Counts views by whole tokens.
class Viewer : public Scripted {
 public:
  using Scripted::Scripted;
  int64_t view_tokens(int width, int height) const override {
    return int64_t{std::max(1, width / kToken)} * std::max(1, height / kToken);
  }
};

// A reply of that probability whose attention is on the token that holds a point of picture
// `where`.
Reply reading_at(const Reading& reading, float probability, size_t where, float x, float y) {
  Reply out;
  out.text = "it";
  out.probabilities = {probability};
  out.likelihood = out.confidence = static_cast<double>(probability);
  for (size_t i = 0; i < reading.pictures.size(); ++i) {
    const size_t before = out.places.size();
    for (const Crop& crop : reading.pictures[i].allocation.crops)
      add_tokens(crop.box, crop.width, crop.height, out.places);
    out.kept.push_back(static_cast<int64_t>(out.places.size() - before));
    for (size_t t = before; t < out.places.size(); ++t) {
      const Box& b = out.places[t];
      const bool here = i == where && b.x0 <= x && x < b.x1 && b.y0 <= y && y < b.y1;
      out.focus.push_back(here ? 1 : 0.001F);
    }
  }
  const float sum = std::accumulate(out.focus.begin(), out.focus.end(), 0.0F);
  for (float& share : out.focus) share /= sum;
  return out;
}

std::shared_ptr<Viewer> viewer(std::vector<float> probabilities, size_t where = 0, float x = 300,
                               float y = 200) {
  return std::make_shared<Viewer>(
      [=](size_t n, const Reading& reading) {
        return reading_at(reading, probabilities[std::min(n, probabilities.size() - 1)], where, x,
                          y);
      },
      views());
}

// Three things on an even ground.
Picture three_things() {
  at::Tensor rgb = at::full({3, 1200, 1600}, 128, at::kByte);
  const Picture grain = noise(160, 160);
  for (const auto& [x, y] : {std::pair{240, 160}, {1120, 240}, {720, 880}})
    rgb.slice(1, y, y + 160).slice(2, x, x + 160).copy_(grain.rgb);
  return make_picture(rgb);
}

AskOptions options_for(const std::string& budget, int passes) {
  AskOptions out = policy("saliency");
  out.budget = budget;
  out.passes.passes = passes;
  out.passes.doubt = 0;
  return out;
}

double shown_at(const Allocation& allocation, float x, float y) {
  double best = 0;
  for (const Crop& c : allocation.crops)
    if (c.box.x0 <= x && x < c.box.x1 && c.box.y0 <= y && y < c.box.y1)
      best = std::max(best, static_cast<double>(c.width) / static_cast<double>(c.box.width()));
  return best;
}

}  // namespace

TEST(LookingAgain, ViewsComeCloserToWhereTheAnswerWasRead) {
  const auto model = viewer({0.5F, 0.9F});
  const Answer r =
      Asker(nullptr, model).ask(noise(1600, 1200), "What is it?", options_for("120", 2));
  const auto& passes = r.from().passes;
  ASSERT_EQ(passes.size(), 2U);
  EXPECT_EQ(passes[1].manner, Manner::closer);
  EXPECT_GT(passes[0].gathered, 0.9);
  EXPECT_GT(shown_at(passes[1].allocation, 300, 200),
            1.2 * shown_at(passes[0].allocation, 300, 200));
  EXPECT_EQ(r.stop, Stop::sure);
  EXPECT_EQ(r.from().best, 1U);
  EXPECT_LE(passes[0].tokens, 108);
  EXPECT_LE(passes[1].tokens, 72);
  ASSERT_TRUE(r.box());
  EXPECT_TRUE(r.box()->x0 <= 300 && 300 < r.box()->x1 && r.box()->y0 <= 200 && 200 < r.box()->y1);
  // What was read is largest where the attention was.
  const Map& read = passes[0].attention;
  EXPECT_EQ(maximum(read), 1);
  EXPECT_EQ(
      read.at(static_cast<int>(200 / read.cell_height), static_cast<int>(300 / read.cell_width)),
      1);
}

TEST(LookingAgain, ViewsGoElsewhereWhenTheModelIsLost) {
  const auto model = viewer({0.1F, 0.15F});
  const Answer r =
      Asker(nullptr, model).ask(noise(1600, 1200), "What is it?", options_for("120", 2));
  const auto& passes = r.from().passes;
  ASSERT_EQ(passes.size(), 2U);
  EXPECT_EQ(passes[1].manner, Manner::elsewhere);
  EXPECT_GT(passes[1].explore, 0);
  EXPECT_NE(passes[1].allocation.crops, passes[0].allocation.crops);
  const auto at = [](const Map& map) {
    return map.at(static_cast<int>(200 / map.cell_height), static_cast<int>(300 / map.cell_width));
  };
  // Read in vain: it falls behind the rest of the picture.
  EXPECT_LT(at(passes[1].relevance) / mean(passes[1].relevance),
            at(passes[0].relevance) / mean(passes[0].relevance));
}

TEST(LookingAgain, TheTotalHoldsAndTheFormIsThatOfEveryAnswer) {
  AskOptions options = options_for("100", 4);
  options.passes.total_budget = 150;
  options.passes.wander = true;
  const Answer r = Asker(nullptr, viewer({0.2F})).ask(noise(1600, 1200), "What is it?", options);
  EXPECT_GE(r.from().passes.size(), 2U);
  EXPECT_LE(r.tokens, 150);
  EXPECT_TRUE(r.stop == Stop::budget || r.stop == Stop::seen) << to_string(r.stop);
  const auto keys = [](const ordered_json& object) {
    std::vector<std::string> out;
    for (const auto& [key, value] : object.items()) out.push_back(key);
    return out;
  };
  AskOptions own = options_for("100", 4);
  own.passes.wander = true;
  const ordered_json bundled =
      to_json(Asker(nullptr, script({0.2F}, 3)).ask(noise(1600, 1200), "What is it?", own), {});
  const ordered_json here = to_json(r, {});
  EXPECT_EQ(keys(here["passes"][1]), keys(bundled["passes"][1]));
  for (const char* key : {"confidence", "uncertainty", "box", "stopped", "best_pass", "passes"})
    EXPECT_TRUE(here.contains(key)) << key;
}

TEST(LookingAgain, WhatWasShownAlreadyIsNotAskedAgain) {
  const auto model = viewer({0.1F});
  AskOptions options = options_for("4000", 3);
  const Answer r = Asker(nullptr, model).ask(noise(320, 320), "What is it?", options);
  EXPECT_EQ(r.from().passes.size(), 1U);  // the whole picture fits
  EXPECT_EQ(r.stop, Stop::seen);
  EXPECT_EQ(model->given.size(), 1U);
  Capabilities native = views();
  native.takes = TokenKind::native;
  const auto all = std::make_shared<Viewer>(
      [](size_t, const Reading& reading) { return reading_at(reading, 0.1F, 0, 1, 1); }, native);
  EXPECT_THROW(Asker(nullptr, all).ask(noise(320, 320), "What is it?", options), Error);
}

TEST(LookingAgain, PicturesThatAreReadTogetherAreLookedAtAgainTogether) {
  const auto model = viewer({0.5F, 0.9F}, 1);
  const Answer r =
      Asker(nullptr, model)
          .ask({noise(1200, 900), noise(1200, 900, 6)}, "What is it?", options_for("200", 2));
  ASSERT_EQ(model->given.size(), 2U);
  for (const Reading& reading : model->given) {
    EXPECT_EQ(reading.pictures.size(), 2U);
    EXPECT_TRUE(reading.again);
  }
  EXPECT_EQ(r.picture, 1U);  // where it read
  ASSERT_EQ(r.pictures[0].passes.size(), 2U);
  ASSERT_EQ(r.pictures[1].passes.size(), 2U);
  EXPECT_LE(r.pictures[0].passes[0].tokens + r.pictures[1].passes[0].tokens, 180);
  EXPECT_LE(r.pictures[0].passes[1].tokens + r.pictures[1].passes[1].tokens, 120);
  EXPECT_GT(r.pictures[1].passes[1].tokens, r.pictures[0].passes[1].tokens);
}

TEST(LookingAgain, ANamedPictureHasMoreOfTheBudgetAlsoInOneSequence) {
  const auto model = viewer({0.9F});
  const Answer r = Asker(nullptr, model)
                       .ask({noise(1200, 900), noise(1200, 900, 6)},
                            "What is in the second picture?", options_for("200", 1));
  EXPECT_EQ(r.picture, 1U);
  EXPECT_GT(r.pictures[1].tokens, r.pictures[0].tokens);
  EXPECT_LE(r.tokens, 200);
}

// Without probabilities the answers of two looks are held against each other.
TEST(LookingAgain, AgreementStandsForProbabilities) {
  EXPECT_EQ(asking::agreement("RM 33.10", "rm 33.10"), 1);
  EXPECT_EQ(asking::agreement("a red car", "the blue boat"), 0);
  EXPECT_NEAR(asking::agreement("a red car", "a blue car"), 2.0 / 3, 1e-9);
  EXPECT_EQ(asking::agreement("", ""), 1);
  EXPECT_EQ(asking::agreement("-", "?"), 0);
  const auto say = [](std::vector<std::string> texts) {
    const auto model = std::make_shared<Viewer>(
        [=](size_t n, const Reading& reading) {
          Reply out;
          out.text = texts[std::min(n, texts.size() - 1)];
          int64_t tokens = 0;
          for (const Crop& crop : reading.pictures[0].allocation.crops) tokens += crop.tokens;
          out.kept = {tokens};
          return out;
        },
        views());
    AskOptions options = options_for("120", 4);
    options.allocate.max_crops = 1;
    return Asker(nullptr, model).ask(three_things(), "What is it?", options);
  };
  const Answer same = say({"forty two"});
  ASSERT_EQ(same.from().passes.size(), 2U);
  EXPECT_EQ(same.from().passes[1].manner, Manner::elsewhere);
  EXPECT_NE(same.from().passes[1].allocation.crops, same.from().passes[0].allocation.crops);
  EXPECT_EQ(same.stop, Stop::sure);
  EXPECT_EQ(same.confidence, 1);
  EXPECT_EQ(same.from().best, 0U);
  EXPECT_EQ(same.fallbacks, std::vector<std::string>{kAgreement});
  const ordered_json json = to_json(same, {});
  EXPECT_EQ(json["passes"][1]["agreement"], 1);
  EXPECT_FALSE(json.contains("probabilities"));
  const Answer later = say({"seven", "eight", "eight"});
  ASSERT_EQ(later.from().passes.size(), 3U);
  EXPECT_EQ(later.text, "eight");
  EXPECT_EQ(later.stop, Stop::sure);
  const Answer never = say({"one", "two", "three", "four"});
  EXPECT_EQ(never.text, "one");
  EXPECT_TRUE(never.unsure);
}

TEST(LookingAgain, EndsWhenTheCallerHasHeardEnough) {
  const auto model = viewer({0.1F});
  const Asker asker(nullptr, model);
  const AskOptions options = asker.fitted(options_for("120", 4));
  Asking asking({asker.see(noise(1600, 1200), options)}, model, "What is it?", options);
  const auto readings = asking.next();
  ASSERT_EQ(readings.size(), 1U);
  asking.hear({reading_at(readings[0], 0.1F, 0, 1, 1)});
  ASSERT_FALSE(asking.next().empty());
  asking.stop();  // the further look failed, say
  EXPECT_TRUE(asking.next().empty());
  const Answer r = asking.finish();
  EXPECT_EQ(r.from().passes.size(), 1U);
  EXPECT_EQ(r.text, "it");
  EXPECT_EQ(r.stop, Stop::passes);
}
