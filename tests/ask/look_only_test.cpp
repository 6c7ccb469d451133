// Looking and allocating without a model, and the failure cases that need none.
#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include "arrcoc/ask.h"
#include "arrcoc/error.h"
#include "sight.h"

using namespace arrcoc;
using namespace arrcoc::test;

namespace {

Picture picture_of(const at::Tensor& rgb) {
  return make_picture((rgb * 255).round().to(at::kByte));
}

// A red block in the upper left and print below it, in proportion to the size.
at::Tensor busy(uint64_t seed, int h = 384, int w = 512) {
  at::Tensor rgb = flat(.7, .72, .68, h, w);
  fill(rgb, h / 10, w / 8, 3 * h / 10, 3 * w / 8, .8, .1, .1);
  scribble(rgb, h / 2, w / 12, 5 * h / 6, 7 * w / 12, .15);
  auto g = at::detail::createCPUGenerator(seed);
  return (rgb + at::randn({3, h, w}, g, at::kFloat) * 0.01).clamp(0, 1);
}

// Tokens per area in the box over tokens per area in the whole picture.
double density(const Allocation& a, const Box& box) {
  int inside = 0;
  for (const Box& b : allocating::token_boxes(a)) {
    const float x = (b.x0 + b.x1) / 2, y = (b.y0 + b.y1) / 2;
    inside += x >= box.x0 && x < box.x1 && y >= box.y0 && y < box.y1;
  }
  const double area = static_cast<double>(a.geometry.width) * a.geometry.height;
  return inside / static_cast<double>(a.tokens()) * area / box.area();
}

// Share of the box under leaves of at most that many pixels.
double covered(const Allocation& a, const Box& box, double largest) {
  double sum = 0;
  for (const Leaf& leaf : a.leaves)
    if (static_cast<double>(Geometry::side(leaf.level)) <= largest)
      sum += intersect(allocating::box_of(a.geometry, leaf), box).area();
  return sum / box.area();
}

AskOptions lexical(const std::string& budget = "balanced") {
  AskOptions out = policy("lexical");
  out.budget = budget;
  return out;
}

struct Looked {
  Answer answer;
  const Allocation& allocation() const { return answer.from().answer().allocation; }
  const Map& map() const { return answer.from().look.relevance.map; }
};

Looked look(const Picture& picture, const std::string& question,
            const AskOptions& options = lexical()) {
  return {Asker(nullptr).look(picture, question, options)};
}

}  // namespace

TEST(LookOnly, EveryPolicyKeepsTheBudget) {
  const Picture picture = picture_of(busy(1));
  for (const auto& [name, summary] : policy_names()) {
    if (name == "full" || name == "reader") continue;  // need media
    AskOptions options = policy(name);
    if (options.look.coupling == kNetwork) continue;  // needs weights
    for (int budget : {1, 64, 180, 400}) {
      options.budget = std::to_string(budget);
      const Looked r = look(picture, "What does the red sign say?", options);
      const int most = options.own_budget.empty() ? budget : std::stoi(options.own_budget);
      if (name != "native") EXPECT_LE(r.allocation().tokens(), most) << name;
      EXPECT_EQ(r.answer.tokens, r.allocation().tokens()) << name;
      EXPECT_EQ(r.answer.stop, Stop::open) << name;
    }
  }
}

TEST(LookOnly, SameInputSameResultOnOneOrTwoThreads) {
  const Picture picture = picture_of(busy(2));
  const int before = at::get_num_threads();
  at::set_num_threads(1);
  const Looked one = look(picture, "What does the text say?");
  at::set_num_threads(2);
  const Looked two = look(picture, "What does the text say?");
  const Looked again = look(picture, "What does the text say?");
  at::set_num_threads(before);
  ASSERT_EQ(one.allocation().leaves.size(), two.allocation().leaves.size());
  for (size_t i = 0; i < one.allocation().leaves.size(); ++i) {
    const Leaf &a = one.allocation().leaves[i], &b = two.allocation().leaves[i];
    EXPECT_TRUE(a.level == b.level && a.row == b.row && a.col == b.col);
  }
  for (size_t i = 0; i < one.map().size(); ++i)
    EXPECT_NEAR(one.map().values[i], two.map().values[i], 5e-5);
  EXPECT_EQ(two.map(), again.map());
  EXPECT_EQ(two.allocation().leaves, again.allocation().leaves);
}

TEST(LookOnly, CamouflagedTextBeatsTheRedDistractor) {
  // Grey 0.4 on 0.3, and a saturated red block that draws the eye.
  at::Tensor rgb = flat(.3, .3, .3, 1024, 1024);
  scribble(rgb, 600, 120, 680, 420, .4);
  fill(rgb, 100, 600, 300, 900, .9, .05, .05);
  for (const char* question : {"What does the text say?", "What is written on the wall?"}) {
    const Looked r = look(picture_of(rgb), question);
    const double text = density(r.allocation(), Box{120, 600, 420, 680});
    EXPECT_GT(text, 2.0) << question;
    EXPECT_GT(text, 2 * density(r.allocation(), Box{600, 100, 900, 300})) << question;
  }
}

TEST(LookOnly, TinyTextInACornerIsSeenFinely) {
  at::Tensor rgb = flat(.8, .82, .8, 1024, 1024);
  fill(rgb, 300, 300, 700, 700, .2, .5, .3);
  scribble(rgb, 984, 904, 1020, 1020, .2);
  const Looked r = look(picture_of(rgb), "What is the tiny text in the corner?");
  EXPECT_GT(covered(r.allocation(), Box{904, 984, 1015, 1018}, 16), 0.9);
}

TEST(LookOnly, VoidAndNoiseFallBackToUniformAndSaySo) {
  auto g = at::detail::createCPUGenerator(9);
  for (const at::Tensor& rgb : {flat(.5, .5, .5, 512, 512), flat(0, 0, 0, 300, 200),
                                at::rand({3, 512, 512}, g, at::kFloat)}) {
    const Looked r = look(picture_of(rgb), "What is this?");
    ASSERT_FALSE(r.answer.fallbacks.empty());
    EXPECT_NE(r.answer.fallbacks[0].find("uniform"), std::string::npos);
    int coarsest = -9;
    int finest = 99;
    for (const Leaf& leaf : r.allocation().leaves) {
      coarsest = std::max(coarsest, leaf.level);
      finest = std::min(finest, leaf.level);
    }
    EXPECT_LE(coarsest - finest, 1) << "an even map must give even detail";
  }
}

TEST(LookOnly, TheMapMovesWithTheQuestion) {
  at::Tensor rgb = busy(3, 1024, 1024);
  fill(rgb, 700, 700, 800, 900, .1, .2, .8);
  const Picture picture = picture_of(rgb);
  const Looked red = look(picture, "What is the red thing?");
  const Looked blue = look(picture, "What is the blue thing?");
  EXPECT_GT(density(red.allocation(), Box{128, 102, 384, 307}), 2.0);
  EXPECT_GT(density(blue.allocation(), Box{700, 700, 900, 800}), 2.0);
  EXPECT_GT(cosine_distance(red.map(), blue.map()), 0.1);
}

TEST(LookOnly, LeavesReferToNativePixelsOrToTheCanvas) {
  const Picture picture = picture_of(busy(4, 300, 500));
  AskOptions options = lexical();
  options.least_side = 0;
  const Looked native = look(picture, "the red thing", options);
  EXPECT_EQ(native.allocation().geometry.width, 500);
  options.canvas = 1024;
  const Looked canvas = look(picture, "the red thing", options);
  EXPECT_EQ(canvas.allocation().geometry.width, 1024);
  EXPECT_EQ(canvas.allocation().geometry.height, 614);
  EXPECT_GT(density(canvas.allocation(), Box{128, 61, 384, 184}), 2.0);
}

TEST(LookOnly, ExtremeShapesWork) {
  for (auto [h, w] : {std::pair{1, 1}, {1, 65535}, {65535, 1}, {3, 4000}, {17, 15}}) {
    const Picture picture = make_picture(at::full({3, h, w}, 100, at::kByte));
    for (const char* allocator : {"quadtree", "breadth-first", "uniform"}) {
      AskOptions options = lexical();
      options.allocator = allocator;
      const Looked r = look(picture, "what?", options);
      EXPECT_GE(r.answer.tokens, 1);
      EXPECT_LE(r.answer.tokens, 180);
    }
  }
}

TEST(LookOnly, EnlargedPatchesAreOptIn) {
  const Picture picture = picture_of(busy(5, 128, 128));
  AskOptions options = lexical("400");
  const Looked plain = look(picture, "the text", options);
  for (const Leaf& l : plain.allocation().leaves) EXPECT_GE(l.level, 0);
  options.enlarge = true;
  const Looked r = look(picture, "the text", options);
  EXPECT_TRUE(std::any_of(r.allocation().leaves.begin(), r.allocation().leaves.end(),
                          [](const Leaf& l) { return l.level == -1; }));
}

TEST(LookOnly, StatisticsAreBehindOneSwitch) {
  const Picture picture = picture_of(busy(6));
  EXPECT_TRUE(look(picture, "what?").answer.statistics.empty());
  AskOptions options = lexical();
  options.statistics = true;
  const Looked r = look(picture, "what?", options);
  ASSERT_GE(r.answer.statistics.size(), 5u);
  EXPECT_EQ(r.answer.statistics[0].stage, "look.information");
  EXPECT_THROW(measure("here", at::full({2}, NAN)), Error);
}

TEST(LookOnly, TheGazeMovesTheTokens) {
  const Picture picture = picture_of(busy(7, 1024, 1024));
  AskOptions options = lexical();
  options.gaze = {4, 4, 256, 256, std::vector<float>(16, 0)};
  options.gaze.at(3, 3) = 1;
  const Box corner{768, 768, 1024, 1024};
  EXPECT_GT(density(look(picture, "the red thing", options).allocation(), corner),
            2 * density(look(picture, "the red thing").allocation(), corner));
}
