// Which moments are kept, and answers put together from what they were asked.
#include <gtest/gtest.h>

#include "arrcoc/error.h"
#include "arrcoc/media.h"
#include "arrcoc/moments.h"
#include "film/tracks.h"
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

TEST(Tracks, ThingsThatPassOneAfterTheOtherAreToldApart) {
  using filming::Sighting;
  // Two go from left to right in lanes of their own, a third follows in the first lane; what is
  // seen changes between those that are there at once.
  const std::vector<Sighting> seen = {
      {0.0, 40, 60, 0.9},  {0.5, 160, 66, 0.9}, {1.0, 290, 58, 0.9},
      {1.5, 40, 160, 0.9}, {2.0, 500, 60, 0.9}, {2.5, 270, 158, 0.9},
      {3.0, 30, 62, 0.9},  {3.5, 150, 60, 0.9}, {4.0, 280, 60, 0.9}};
  EXPECT_EQ(filming::tracks_of(seen, 512, 320).size(), 3U);
  EXPECT_EQ(filming::tracks_of({seen[0], seen[1], seen[2]}, 512, 320).size(), 1U);
  // One that stands still, read with some jitter, and a single doubtful sighting.
  EXPECT_EQ(
      filming::tracks_of(
          {{0, 100, 100, 0.8}, {1, 104, 96, 0.8}, {2, 98, 101, 0.8}, {3, 400, 250, 0.5}}, 512, 320)
          .size(),
      1U);
  EXPECT_TRUE(filming::tracks_of({}, 512, 320).empty());
}

TEST(Tracks, OneOfMany) {
  const std::pair<const char*, const char*> cases[] = {{"ducks", "duck"},
                                                       {"ears of corn", "ear of corn"},
                                                       {"butterflies", "butterfly"},
                                                       {"mice", "mouse"},
                                                       {"boxes", "box"},
                                                       {"people", "person"},
                                                       {"red buses", "red bus"},
                                                       {"deer", "deer"},
                                                       {"glass", "glass"}};
  for (const auto& [many, one] : cases) EXPECT_EQ(filming::singular(many), one);
}

TEST(TimeAnswer, WantsMomentsAndTokens) {
  const Asker asker(load_bundle());
  const filming::Plan plan = {filming::Asks::shots, {}, "", std::nullopt, false};
  EXPECT_THROW(filming::answer(asker, plan, Moments()), Error);
  Moments moments;
  moments.add(step(0), 0, {});
  moments.add(step(1, true), 0.5, {});
  filming::TimeOptions few;
  few.tokens = 10;
  EXPECT_THROW(filming::answer(asker, plan, moments, few), Error);
  EXPECT_EQ(filming::answer(asker, plan, moments).text, "2");
}

// The bundled model on generated films (seeds of no suite): what came first, where something
// went, captions and shots, under the budget.
TEST(TimeAnswer, IsPutTogetherFromWhatMomentsShow) {
  const auto assets = scenes::Assets::load(places::sources() + "/assets");
  const Asker asker(load_bundle());
  measuring::FilmAsking asking;
  asking.look.options.look.frame = 416;
  asking.look.options.canvas = 1024;
  asking.look.looker = asker.looker(asking.look.options);
  asking.timing = filming::defaults(asker.bundle()->film);
  asking.sources = {media::dis_flow(), media::slic_segments()};
  asking.time.tokens = 1400;
  scenes::Options making;
  making.questions = scenes::kSuiteQuestions;
  int right = 0, all = 0;
  for (const uint64_t seed : {5402, 5406, 5412}) {
    const scenes::Scene film = scenes::make(*assets, scenes::kTime, seed, making);
    for (const measuring::FilmRecord& record : measuring::answer_film(asker, film, 0, asking)) {
      const auto& said = record.said[static_cast<size_t>(measuring::Answerer::moments)];
      EXPECT_FALSE(record.asks.empty()) << record.question;
      EXPECT_LE(said.tokens, 1400);
      right += said.right;
      ++all;
    }
  }
  EXPECT_EQ(all, 6);
  EXPECT_GE(right, 5);
}
