#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include "arrcoc/error.h"
#include "arrcoc/picture.h"
#include "base/sha256.h"

using namespace arrcoc;

namespace {
at::Tensor noise(int64_t h, int64_t w, uint64_t seed = 1) {
  auto g = at::detail::createCPUGenerator(seed);
  return at::randint(0, 256, {3, h, w}, g, at::kByte);
}
}  // namespace

TEST(Picture, RefusesWhatIsNoPicture) {
  EXPECT_THROW(make_picture(at::Tensor()), Error);
  EXPECT_THROW(make_picture(at::zeros({3, 4, 4})), Error);
  EXPECT_THROW(make_picture(at::zeros({1, 4, 4}, at::kByte)), Error);
  EXPECT_THROW(make_picture(at::zeros({3, 0, 4}, at::kByte)), Error);
}

TEST(Picture, DigestTellsContentAndShapeApart) {
  at::Tensor a = noise(8, 16);
  at::Tensor b = a.clone();
  EXPECT_EQ(make_picture(a).digest, make_picture(b).digest);
  b[2][7][15] = b[2][7][15].item<int>() ^ 1;
  EXPECT_NE(make_picture(a).digest, make_picture(b).digest);
  EXPECT_NE(make_picture(a).digest, make_picture(a.reshape({3, 16, 8})).digest);
}

TEST(Picture, DigestCoversEveryMegabyteAndIsTheSameOnAnyNumberOfThreads) {
  const at::Tensor large = noise(700, 1300);  // 2.6 MB
  const auto whole = make_picture(large).digest;
  for (int64_t at : {0, 349525, 349526, 909999}) {
    at::Tensor other = large.clone();
    other.view(-1)[3 * at] = other.view(-1)[3 * at].item<int>() ^ 1;
    EXPECT_NE(make_picture(other).digest, whole) << at;
  }
  const int threads = at::get_num_threads();
  at::set_num_threads(1);
  EXPECT_EQ(make_picture(large).digest, whole);
  at::set_num_threads(threads);
  // Height and width as 64-bit numbers, 16 zero bytes, the SHA-256 of three zero bytes.
  std::array<std::array<uint8_t, 32>, 2> parts{};
  parts[0][0] = parts[0][8] = 1;
  parts[1] = sha256("\0\0\0", 3);
  EXPECT_EQ(make_picture(at::zeros({3, 1, 1}, at::kByte)).digest, sha256(parts.data(), 64));
}

TEST(Picture, FrameIsTheAreaMean) {
  at::Tensor a = noise(96, 64);
  at::Tensor frame = frame_of(make_picture(a), 48);
  ASSERT_EQ(frame.sizes(), (at::IntArrayRef{3, 48, 32}));
  at::Tensor expected = at::avg_pool2d(a.to(at::kFloat).unsqueeze(0), {2, 2}).squeeze(0) / 255.0;
  EXPECT_LT((frame - expected).abs().max().item<float>(), 1e-5);
}

TEST(Picture, FrameKeepsTheMeanAtAnyRatio) {
  at::Tensor a = noise(131, 77);
  for (int longest : {130, 100, 61, 17, 3, 1}) {
    at::Tensor frame = frame_of(make_picture(a), longest);
    EXPECT_LE(std::max(frame.size(1), frame.size(2)), longest);
    EXPECT_NEAR(frame.mean().item<float>(), a.to(at::kFloat).mean().item<float>() / 255, 2e-4);
  }
}

TEST(Picture, FrameNeverEnlargesAndSurvivesThinPictures) {
  EXPECT_EQ(frame_of(make_picture(noise(5, 7)), 1024).size(1), 5);
  at::Tensor thin = frame_of(make_picture(noise(1, 65535)), 1024);
  EXPECT_EQ(thin.sizes(), (at::IntArrayRef{3, 1, 1024}));
}

TEST(Picture, ResizeShrinksAndGrows) {
  Picture p = make_picture(noise(40, 30));
  EXPECT_EQ(resize(p, 15, 20).width(), 15);
  EXPECT_EQ(resize(p, 300, 10).height(), 10);
  at::Tensor flat = at::full({3, 10, 10}, 77, at::kByte);
  EXPECT_TRUE(resize(make_picture(flat), 33, 4).rgb.eq(77).all().item<bool>());
  EXPECT_THROW(resize(p, 0, 4), Error);
}

TEST(Geometry, RootRuleOfTheDesign) {
  Geometry g{1024, 1024};
  EXPECT_EQ(g.root_level(64), 4);
  EXPECT_EQ(g.root_level(255), 4);
  EXPECT_EQ(g.root_level(256), 3);
  EXPECT_EQ(g.root_level(400), 3);
  EXPECT_EQ((Geometry{1, 1}.root_level(64)), 0);
  EXPECT_EQ((Geometry{1, 1}.native_tokens()), 1);
  EXPECT_EQ((Geometry{65535, 1}.grid(0).cells()), 4096);
  for (auto [w, h] : {std::pair{10000, 10000}, {65535, 1}, {1, 65535}, {17, 900}, {1600, 689}}) {
    for (int budget : {1, 64, 100, 180, 400}) {
      Geometry any{w, h};
      int root = any.root_level(budget);
      EXPECT_LE(any.grid(root).cells(), std::min(kMaxRoots, std::max(1, budget / 4)));
      if (root > 0) {
        EXPECT_GT(any.grid(root - 1).cells(), std::min(kMaxRoots, std::max(1, budget / 4)));
      }
    }
  }
}

TEST(Geometry, CellsOutsideThePictureDoNotExist) {
  Geometry g{33, 16};
  EXPECT_EQ(g.grid(0), (Grid{1, 3}));
  EXPECT_TRUE(g.exists(0, 0, 2));
  EXPECT_FALSE(g.exists(0, 0, 3));
  EXPECT_FALSE(g.exists(0, 1, 0));
  EXPECT_FALSE(g.exists(-1, 0, 0));
  g.finest = -1;
  EXPECT_EQ(g.grid(-1), (Grid{2, 5}));
  EXPECT_TRUE(g.exists(-1, 1, 4));
}

TEST(Pyramid, LevelsAreTwoByTwoMeansOfWhatExists) {
  at::Tensor a = at::arange(3 * 3 * 5, at::kInt).remainder(251).to(at::kByte).reshape({3, 3, 5});
  Pyramid p(make_picture(a));
  at::Tensor one = p.level(0);
  EXPECT_TRUE(one.equal(a));
  Pyramid wide(make_picture(noise(37, 53)));
  at::Tensor half = wide.level(1);
  ASSERT_EQ(half.sizes(), (at::IntArrayRef{3, 19, 27}));
  at::Tensor expected =
      at::avg_pool2d(wide.level(0).to(at::kFloat).unsqueeze(0), {2, 2}, {2, 2}, {0, 0}, true, false)
          .squeeze(0);
  EXPECT_LE((half.to(at::kFloat) - expected).abs().max().item<float>(), 0.501);
  EXPECT_THROW(wide.level(-1), Error);
  EXPECT_THROW(wide.level(9), Error);
}

TEST(Pyramid, PatchesRepeatTheBorder) {
  at::Tensor a = noise(20, 40);
  Pyramid p(make_picture(a));
  at::Tensor patch = p.patches(0, {0, 1}, {0, 2});
  ASSERT_EQ(patch.sizes(), (at::IntArrayRef{2, 3, 16, 16}));
  EXPECT_TRUE(patch[0].equal(a.slice(1, 0, 16).slice(2, 0, 16)));
  EXPECT_TRUE(patch[1].slice(1, 0, 4).slice(2, 0, 8).equal(a.slice(1, 16, 20).slice(2, 32, 40)));
  for (int y : {4, 10, 15}) EXPECT_TRUE(patch[1].select(1, y).equal(patch[1].select(1, 3)));
  EXPECT_THROW(p.patches(0, {2}, {0}), Error);
}

TEST(Pyramid, EnlargedPatchesEqualTheEnlargedPicture) {
  Pyramid p(make_picture(noise(24, 40)), -1);
  at::Tensor whole = p.level(-1);
  ASSERT_EQ(whole.sizes(), (at::IntArrayRef{3, 48, 80}));
  at::Tensor patch = p.patches(-1, {0, 2, 1}, {0, 4, 3});
  EXPECT_TRUE(patch[0].equal(whole.slice(1, 0, 16).slice(2, 0, 16)));
  EXPECT_TRUE(patch[1].equal(whole.slice(1, 32, 48).slice(2, 64, 80)));
  EXPECT_TRUE(patch[2].equal(whole.slice(1, 16, 32).slice(2, 48, 64)));
}

TEST(Pyramid, AMarginBringsTheNeighboursPixels) {
  at::Tensor a = noise(40, 60);
  Pyramid p(make_picture(a), -1);
  at::Tensor wide = p.patches(0, {1, 0}, {1, 0}, 4);
  ASSERT_EQ(wide.sizes(), (at::IntArrayRef{2, 3, 24, 24}));
  EXPECT_TRUE(wide[0].equal(a.slice(1, 12, 36).slice(2, 12, 36)));
  EXPECT_TRUE(wide[1].select(1, 0).equal(wide[1].select(1, 4)));  // beyond the picture: its border
  at::Tensor enlarged = p.patches(-1, {2}, {3}, 4);
  EXPECT_TRUE(enlarged[0].equal(p.level(-1).slice(1, 28, 52).slice(2, 44, 68)));
  EXPECT_THROW(p.patches(0, {0}, {0}, 3), Error);
}

TEST(Pyramid, OnePixelAndVeryThin) {
  Pyramid dot(make_picture(at::full({3, 1, 1}, 9, at::kByte)));
  EXPECT_TRUE(dot.patches(0, {0}, {0}).eq(9).all().item<bool>());
  Pyramid thin(make_picture(noise(1, 65535)));
  EXPECT_EQ(thin.level(8).sizes(), (at::IntArrayRef{3, 1, 256}));
  EXPECT_EQ(thin.patches(8, {0}, {15}).size(0), 1);
}
