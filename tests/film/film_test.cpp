// Relevance over time: motion, cuts, budgets, steadiness.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <set>

#include "arrcoc/error.h"
#include "arrcoc/media.h"
#include "film/films.h"
#include "lab/measure/evaluation.h"
#include "lab/scenes/scenes.h"

using namespace arrcoc;
using namespace arrcoc::filming;

namespace {

constexpr int kWidth = 320, kHeight = 240;
const Geometry kCanvas{1024, 768, 0};

Thumb thumb(const at::Tensor& rgb) { return thumb_of(make_picture(rgb.contiguous())); }

filming::Options options_of(int most, const FilmConstants& constants = {}) {
  filming::Options out = defaults(constants);
  out.allowance.most = most;
  out.allowance.rate = most;
  return out;
}

// Share of the leaves of b that were in a.
double kept(const Allocation& a, const Allocation& b) {
  std::set<std::tuple<int, int, int>> old;
  for (const Leaf& l : a.leaves) old.insert({l.level, l.row, l.col});
  int same = 0;
  for (const Leaf& l : b.leaves) same += old.count({l.level, l.row, l.col}) != 0;
  return static_cast<double>(same) / static_cast<double>(b.leaves.size());
}

int fine_leaves(const Allocation& allocation) {
  return static_cast<int>(std::count_if(allocation.leaves.begin(), allocation.leaves.end(),
                                        [](const Leaf& leaf) { return leaf.level == 0; }));
}

Thumb thumb_of_scene(const scenes::Image& image) {
  return thumb_of(Samples{image.rgb.data(), image.width, image.height, image.width * 3, false});
}

bool new_shot(const scenes::Scene& scene, size_t i) {
  if (scene.layout != "cut") return false;
  for (size_t q = 0; q < scene.images[i].targets.size(); ++q)
    if ((scene.images[i].targets[q].area() > 0) != (scene.images[i - 1].targets[q].area() > 0))
      return true;
  return false;
}

}  // namespace

TEST(Thumb, InterleavedAndPlanarFramesGiveTheSame) {
  const at::Tensor rgb = films::ground(500, 333, 1);
  const at::Tensor mixed = rgb.flip(0).permute({1, 2, 0}).contiguous();  // as OpenCV: BGR
  const Thumb a = thumb(rgb);
  const Thumb b = thumb_of(Samples{mixed.data_ptr<uint8_t>(), 500, 333, 1500, true});
  EXPECT_EQ(a, b);
  EXPECT_EQ(a.width, 166);
  EXPECT_EQ(thumb(films::ground(1, 1, 1)).rgb.size(), 3U);
  EXPECT_EQ(thumb(films::ground(2000, 2, 1)).height, 1);
}

TEST(Warp, RelevanceMovesWithTheFlow) {
  Map map = films::hill(kCanvas, 0.25, 0.5, 1);
  Flow flow{160, 120, std::vector<float>(160 * 120, -20.0F), std::vector<float>(160 * 120, 0.0F)};
  const Map moved = warp(map, flow);  // everything came from 20 thumb pixels to the left
  EXPECT_NEAR(moved.at(24, 24), map.at(24, 16), 1e-5);
  EXPECT_LT(moved.at(24, 16), 0.5F * map.at(24, 16));
}

TEST(Motion, AThingThatMovesIsFoundAndThePlaceItLeftIsNot) {
  std::deque<Thumb> recent;
  std::vector<float> motion;
  Box now;
  for (int i = 0; i < 6; ++i) {
    at::Tensor rgb = films::ground(kWidth, kHeight, 2);
    now = {40.0F + 30 * i, 100, 60.0F + 30 * i, 140};
    films::paint(rgb, now, 240, 30, 30);
    films::add_noise(rgb, i, 4);
    const Thumb t = thumb(rgb);
    motion = motion_of(t, recent, Tuning{});
    recent.push_front(t);
  }
  const int k = kWidth / recent.front().width, w = recent.front().width;
  const auto at = [&](float x, float y) { return motion[static_cast<size_t>(y / k) * w + x / k]; };
  EXPECT_GT(at(now.x0 + 10, 120), 0.9F);
  EXPECT_LT(at(now.x0 - 20, 120), 0.1F);  // where it was one frame ago
  EXPECT_LT(at(20, 20), 0.05F);
}

TEST(Cuts, ANewSceneIsACutAndAPanIsNot) {
  const auto flow = media::dis_flow();
  const Thumb a = thumb(films::ground(kWidth, kHeight, 3));
  const Thumb panned = thumb(films::ground(kWidth, kHeight, 3, 12));
  at::Tensor other = films::ground(kWidth, kHeight, 9);
  films::paint(other, {0, 0, 320, 120}, 250, 240, 120);
  films::paint(other, {0, 120, 320, 240}, 10, 20, 60);
  const auto cut = [&](const Thumb& b) {
    return compare(b, a, unexplained(b, a, flow->flow(b, a)), Tuning{}).cut;
  };
  EXPECT_FALSE(cut(panned));
  EXPECT_TRUE(cut(thumb(other)));
  EXPECT_THROW(compare(a, thumb(films::ground(64, 64, 1)), {}, Tuning{}), Error);
}

TEST(Cuts, AreFoundInTheGeneratedClips) {
  const auto assets = scenes::Assets::load(std::string(ARRCOC_SOURCE_DIR) + "/assets");
  const auto flow = media::dis_flow();
  int hits = 0, wrong = 0, missed = 0;
  for (int s = 0; s < scenes::kSuiteScenes; ++s) {
    const scenes::Scene scene = scenes::suite_scene(*assets, "clips", s);
    for (size_t i = 1; i < scene.images.size(); ++i) {
      const Thumb a = thumb_of_scene(scene.images[i - 1]), b = thumb_of_scene(scene.images[i]);
      const Change change = compare(b, a, unexplained(b, a, flow->flow(b, a)), Tuning{});
      const bool truth = new_shot(scene, i);
      hits += change.cut && truth;
      wrong += change.cut && !truth;
      missed += !change.cut && truth;
      if (change.cut != truth)
        std::printf("clip %d frame %zu (%s): histogram %.2f residual %.2f share %.2f\n", s, i,
                    scene.layout.c_str(), change.histogram, change.residual, change.share);
    }
  }
  const double f1 = 2.0 * hits / (2.0 * hits + wrong + missed);
  std::printf("cuts: %d found, %d false, %d missed, F1 %.3f\n", hits, wrong, missed, f1);
  EXPECT_GE(f1, 0.9);
}

// Lamps change all channels alike and are no cut; another room of the same brightness is one.
TEST(Cuts, OtherColoursAreACutAndOtherLightIsNot) {
  const at::Tensor ground = films::ground(kWidth, kHeight, 3);
  const Thumb a = thumb(ground), dimmed = thumb((ground.to(at::kFloat) * 0.8).to(at::kByte));
  at::Tensor turned = ground.clone();  // the channels exchanged and the picture turned round
  turned[0] = ground[2].flip({0, 1});
  turned[2] = ground[0].flip({0, 1});
  films::paint(turned, {0, 0, kWidth, kHeight / 3.0F}, 110, 60, 140);
  const std::vector<float> explained(a.rgb.size() / 3, 0);  // colours alone decide here
  EXPECT_FALSE(compare(dimmed, a, explained, Tuning{}).cut);
  EXPECT_TRUE(compare(thumb(turned), a, explained, Tuning{}).cut);
}

TEST(Constants, AreReadAndWritten) {
  FilmConstants given;
  given.decay = 0.5F;
  given.mover = 0.25F;
  given.stale = 0.75F;
  given.enough = 0.375F;
  given.novelty = 0.125;
  EXPECT_EQ(film_constants_from_json(to_json(given)), given);
  const filming::Options options = defaults(given);
  EXPECT_EQ(options.tuning.decay, 0.5F);
  EXPECT_EQ(options.allowance.novelty, 0.125);
  EXPECT_EQ(film_constants_from_json(R"({"decay": 0.25, "measured": {"frames": 3}})").decay, 0.25F);
  for (const char* bad : {"[]", R"({"decoy": 1})", R"({"decay": 1.5})", R"({"decay": "much"})"})
    EXPECT_THROW(film_constants_from_json(bad), Error) << bad;
}

TEST(TokenBucket, TheTotalIsNeverPassedAndQuietFramesGetNothing) {
  Allowance allowance;
  allowance.most = 64;
  allowance.rate = 16;
  allowance.total = 200;
  TokenBucket bucket(allowance);
  EXPECT_EQ(bucket.grant(0, true), 64);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(bucket.grant(0, false), 0);
  EXPECT_EQ(bucket.grant(1, false), 64);  // a key moment gets all that a frame may have
  for (int i = 0; i < 100; ++i) bucket.grant(1, false);
  EXPECT_LE(bucket.spent(), 200);
  EXPECT_GT(bucket.spent(), 180);
  EXPECT_THROW(TokenBucket({0, 1, 0, 0.1}), Error);
}

// What is relevant becomes as fine as it can, frame by frame; then the film is paid for.
TEST(Follower, AStillFilmBecomesFinerAndThenCostsNothing) {
  const filming::Options options = options_of(64);
  Follower follower(options, media::dis_flow(), media::slic_segments());
  const Thumb t = thumb(films::ground(kWidth, kHeight, 4));
  const Map map = films::hill(kCanvas, 0.3, 0.6);
  int looks = 0, fine = 0;
  for (int i = 0; i < 40; ++i) {
    const Step step = follower.step(t, kCanvas, [&] {
      ++looks;
      return map;
    });
    EXPECT_FALSE(step.cut);
    EXPECT_EQ(step.coherence.has_value(), i > 0);
    if (i > 0) EXPECT_GT(*step.coherence, 0.999F);
    EXPECT_LE(step.tokens, 64);
    EXPECT_LE(step.allocation.tokens(), 64 * options.tuning.held);
    ASSERT_EQ(step.since.size(), step.allocation.leaves.size());
    EXPECT_EQ(bought(step).tokens(), step.tokens);
    const int now = fine_leaves(step.allocation);
    EXPECT_GE(now, fine);
    if (i == 0) EXPECT_EQ(step.tokens, step.allocation.tokens());
    if (i > 20) EXPECT_EQ(step.tokens, 0) << i;
    if (i > 20) EXPECT_EQ(step.wanting, 0) << i;
    fine = now;
  }
  EXPECT_EQ(looks, 1);
  EXPECT_GT(fine, 64);
}

// A lamp that blinks where the question looks: its leaves are bought again, the others stay.
TEST(Follower, OnlyWhatChangedIsPaidForAgain) {
  Follower follower(options_of(64), media::dis_flow());
  const Box lamp{100, 140, 116, 156};
  const float s = 1024.0F / kWidth;
  const Box there{lamp.x0 * s, lamp.y0 * s, lamp.x1 * s, lamp.y1 * s};
  int64_t paid = 0;
  for (int i = 0; i < 40; ++i) {
    at::Tensor rgb = films::ground(kWidth, kHeight, 4);
    if (i % 10 >= 5) films::paint(rgb, lamp, 250, 250, 250);
    const Step step =
        follower.step(thumb(rgb), kCanvas, [] { return films::hill(kCanvas, 0.34, 0.62); });
    if (i < 20) continue;
    for (const Leaf& leaf : bought(step).leaves) {
      const Box box = allocating::box_of(kCanvas, leaf);
      const Box wide{box.x0 - 32, box.y0 - 32, box.x1 + 32, box.y1 + 32};
      EXPECT_GT(intersect(wide, there).area(), 0) << i;
    }
    paid += step.tokens;
    if (i % 5 != 0) EXPECT_EQ(step.tokens, 0) << i;
  }
  EXPECT_GT(paid, 0);
}

TEST(Follower, OtherAllocatorsPayForAllTheirLeaves) {
  filming::Options options = options_of(64);
  options.allocator = "experts";
  Follower follower(options, media::dis_flow());
  for (int i = 0; i < 6; ++i) {
    at::Tensor rgb = films::ground(kWidth, kHeight, 4);
    films::paint(rgb, {20.0F + 30 * i, 50, 60.0F + 30 * i, 90}, 200, 200, 20);
    const Step step =
        follower.step(thumb(rgb), kCanvas, [] { return films::hill(kCanvas, 0.5, 0.5); });
    if (step.tokens > 0) EXPECT_EQ(step.tokens, step.allocation.tokens());
    EXPECT_LE(step.allocation.tokens(), 64);
  }
}

// Scorers that read motion hear of it at close looks: the map is higher where something moves.
TEST(Follower, CloseLooksAreToldWhatMoves) {
  Options options = options_of(64);
  options.tuning.refresh = 4;
  Follower follower(options, media::dis_flow());
  LookOptions by_salience;
  by_salience.coupling = "saliency";
  const auto looker = make_looker(by_salience);
  const Query query = parse_query("where?");
  double told = 0, untold = 0;
  for (int i = 0; i < 16; ++i) {
    at::Tensor rgb = films::ground(kWidth, kHeight, 4);
    const int x = 20 + 12 * i;
    rgb.slice(1, 40, 70).slice(2, x, x + 30).fill_(200);
    const Picture frame = make_picture(rgb);
    follower.step(thumb_of(frame), kCanvas, [&] {
      const Map& moves = follower.motion();
      const Map map = look_at(*looker, frame, query, moves);
      const Map still = look_at(*looker, frame, query);
      if (i > 4) {
        EXPECT_GT(maximum(moves), 0) << i;
        told += coherence(resample(map, moves.rows, moves.cols), moves);
        untold += coherence(resample(still, moves.rows, moves.cols), moves);
      }
      return map;
    });
  }
  EXPECT_GT(told, 1.05 * untold) << untold;
}

// A hand-held camera: the picture trembles by a pixel and every frame has its own noise.
void expect_no_flicker(const FilmConstants& constants = {}) {
  Follower follower(options_of(64, constants), media::dis_flow());
  Allocation before, alone_before;
  double steady = 0, alone = 0;
  const int frames = 24;
  for (int i = 0; i < frames; ++i) {
    at::Tensor rgb = films::ground(kWidth, kHeight, 5, i % 2);
    films::add_noise(rgb, i, 6);
    // The network's opinion trembles as well.
    const Map opinion = films::hill(kCanvas, 0.5 + 0.004 * (i % 3), 0.5 - 0.004 * (i % 2));
    const Step step = follower.step(thumb(rgb), kCanvas, [&] { return opinion; });
    Relevance relevance;
    relevance.map = opinion;
    Budget budget;
    budget.tokens = 64;
    const Allocation own =
        allocating::allocate(relevance, kCanvas, budget, "quadtree", defaults().allocate);
    if (i > 0) {
      EXPECT_GT(*step.coherence, 0.95F) << i;
      steady += kept(before, step.allocation);
      alone += kept(alone_before, own);
    }
    before = step.allocation;
    alone_before = own;
  }
  EXPECT_GT(steady / (frames - 1), 0.95);
  EXPECT_GT(steady, alone);
}

TEST(Follower, JitterDoesNotMakeTheLeavesFlicker) { expect_no_flicker(); }

TEST(Follower, NorDoesItWithTheConstantsThatShip) { expect_no_flicker(load_bundle()->film); }

TEST(Follower, LeavesFollowAMovingTargetBetterThanFramesAlone) {
  const auto covered = [](const Allocation& a, const Box& box) {
    return measuring::covered(a, box, 16);
  };
  filming::Options options = options_of(64);
  options.interest = interest_in(parse_query("the person crossing the street"));
  EXPECT_EQ(options.interest.upright, 1);
  Follower follower(options, media::dis_flow());
  double followed = 0, alone = 0, even = 0;
  for (int i = 0; i < 40; ++i) {
    at::Tensor rgb = films::ground(kWidth, kHeight, 6);
    const Box box{20.0F + 5 * i, 100, 34.0F + 5 * i, 140};
    films::paint(rgb, box, 20, 20, 20);
    films::add_noise(rgb, i, 4);
    const Map opinion = films::hill(kCanvas, 0.8, 0.2);  // a network that does not know people
    const Step step = follower.step(thumb(rgb), kCanvas, [&] { return opinion; });
    EXPECT_LE(step.tokens, 64);
    if (step.coherence) EXPECT_GT(*step.coherence, 0.8F) << i;
    const float s = 1024.0F / kWidth;
    const Box there{box.x0 * s, box.y0 * s, box.x1 * s, box.y1 * s};
    Relevance relevance;
    relevance.map = opinion;
    Budget budget;
    budget.tokens = 64;
    followed += covered(step.allocation, there);
    alone += covered(allocating::allocate(relevance, kCanvas, budget, "quadtree", options.allocate),
                     there);
    even += covered(allocating::allocate(relevance, kCanvas, budget, "breadth-first"), there);
  }
  EXPECT_GT(followed / 40, 0.4);
  EXPECT_GT(followed, alone);
  EXPECT_GE(followed, 2 * even);
}

TEST(Follower, ACutStartsAfresh) {
  Follower follower(options_of(64), media::dis_flow());
  const at::Tensor dark = films::ground(kWidth, kHeight, 7).floor_divide(3);
  at::Tensor light = films::ground(kWidth, kHeight, 8);
  light = (light.to(at::kInt) + 110).clamp(0, 255).to(at::kByte);
  for (int i = 0; i < 4; ++i)
    EXPECT_FALSE(
        follower.step(thumb(dark), kCanvas, [] { return films::hill(kCanvas, 0.2, 0.2); }).cut);
  const Step step =
      follower.step(thumb(light), kCanvas, [] { return films::hill(kCanvas, 0.8, 0.8); });
  EXPECT_TRUE(step.cut);
  EXPECT_TRUE(step.looked);
  EXPECT_GT(step.tokens, 0);
  EXPECT_LT(*step.coherence, Tuning{}.steady);  // a cut is not slowed down
  EXPECT_EQ(follower.close_looks(), 2);
}

TEST(Follower, BrokenFramesAndOtherSizesAreSaid) {
  Follower follower(options_of(64), media::dis_flow());
  const auto look = [] { return films::hill(kCanvas, 0.5, 0.5); };
  const Thumb small = thumb(films::ground(200, 100, 1));
  EXPECT_TRUE(follower.missing("no data").allocation.leaves.empty());  // before anything was seen
  const Step first = follower.step(small, kCanvas, look);
  const Step gap = follower.missing("no data");
  EXPECT_EQ(gap.frame, 2);
  EXPECT_EQ(gap.tokens, 0);
  EXPECT_EQ(gap.allocation.leaves, first.allocation.leaves);
  EXPECT_EQ(gap.notes, std::vector<std::string>{"no data"});
  const Geometry other{512, 512, 0};
  const Step resized = follower.step(thumb(films::ground(90, 90, 1)), other,
                                     [&] { return films::hill(other, 0.5, 0.5); });
  EXPECT_TRUE(resized.cut);
  EXPECT_EQ(resized.allocation.geometry, other);
  ASSERT_EQ(resized.notes.size(), 1U);
  EXPECT_NE(resized.notes[0].find("size changed"), std::string::npos);
}

TEST(Follower, IsDeterministic) {
  const auto run = [] {
    Follower follower(options_of(64), media::dis_flow(), media::slic_segments());
    std::vector<Leaf> out;
    for (int i = 0; i < 12; ++i) {
      at::Tensor rgb = films::ground(kWidth, kHeight, 4);
      films::paint(rgb, {10.0F * i, 50, 10.0F * i + 30, 90}, 200, 200, 20);
      const Step step =
          follower.step(thumb(rgb), kCanvas, [] { return films::hill(kCanvas, 0.5, 0.5); });
      out.insert(out.end(), step.allocation.leaves.begin(), step.allocation.leaves.end());
    }
    return out;
  };
  EXPECT_EQ(run(), run());
}

TEST(Timeline, StaysSmallHoweverLongTheFilm) {
  media::Timeline timeline;
  Step step;
  step.tokens = 10;
  for (int i = 0; i < 20000; ++i) {
    step.cut = i == 777;
    timeline.add(step);
  }
  EXPECT_LE(timeline.columns(), 2048U);
  const at::Tensor drawing = timeline.draw();
  EXPECT_LE(drawing.size(2), 2200);
}
