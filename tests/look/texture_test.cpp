#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include <cmath>

#include "arrcoc/error.h"
#include "arrcoc/texture.h"
#include "look/texture/cpu_kernels.h"
#include "look/texture/filters.h"

using namespace arrcoc;

namespace {

at::Tensor random_frames(int64_t b, int64_t h, int64_t w, uint64_t seed = 3) {
  auto g = at::detail::createCPUGenerator(seed);
  return at::rand({b, 3, h, w}, g, at::kFloat);
}

at::Tensor channel(const at::Tensor& full, Channel c) {
  return full.select(1, static_cast<int64_t>(c));
}

}  // namespace

TEST(Texture, ChannelSetsHaveTheirSizesAndNames) {
  EXPECT_EQ(channels_of(ChannelSet::compact).size(), 13u);
  EXPECT_EQ(channels_of(ChannelSet::full).size(), 11u);
  EXPECT_STREQ(to_string(Channel::gaze), "gaze");
  EXPECT_EQ(static_cast<int>(Channel::gaze), 10);
  EXPECT_STREQ(to_string(Channel::luminance), "luminance");
  EXPECT_EQ(static_cast<int>(Channel::luminance), kAllChannels - 1);
  EXPECT_EQ(parse_enum<ChannelSet>("11"), ChannelSet::full);
  EXPECT_THROW(parse_enum<ChannelSet>("40"), Error);
}

TEST(Texture, AreaPoolIsTheExactMeanOnAnyGrid) {
  at::Tensor maps = random_frames(1, 50, 34);
  for (auto [r, c] : {std::pair{25, 17}, {7, 5}, {50, 34}, {1, 1}, {4, 3}, {13, 9}}) {
    at::Tensor pooled = texture::area_pool(maps, r, c);
    ASSERT_EQ(pooled.size(2), r);
    ASSERT_EQ(pooled.size(3), c);
    if (50 % r == 0 && 34 % c == 0) {
      at::Tensor expected = maps.reshape({1, 3, r, 50 / r, c, 34 / c}).mean({3, 5});
      EXPECT_LT((pooled - expected).abs().max().item<float>(), 1e-5);
    }
  }
  // A short last cell averages only what exists: a constant stays constant.
  at::Tensor flat = at::full({1, 1, 33, 17}, 0.25);
  EXPECT_LT((texture::area_pool(flat, 3, 2) - 0.25).abs().max().item<float>(), 1e-6);
}

TEST(Texture, ThinStrokesSurvivePooling) {
  at::Tensor frame = at::zeros({1, 3, 64, 64});
  frame.select(3, 7).fill_(1.0);  // one white column, between the samples of a bilinear shrink
  at::Tensor pooled = texture::sense_compact(frame, 4, 4);
  EXPECT_NEAR(pooled[0][0][0][0].item<float>(), 1.0 / 16, 1e-5);
  EXPECT_GT(pooled[0][7][0][0].item<float>(), 0.05);  // gradient magnitude
}

TEST(Texture, LabOfKnownColours) {
  at::Tensor rgb = at::tensor({1.0F, 1.0F, 1.0F, 1.0F, 0.0F, 0.0F}).reshape({2, 3, 1, 1});
  at::Tensor lab = texture::rgb_to_lab(rgb).reshape({2, 3});
  EXPECT_NEAR(lab[0][0].item<float>(), 1.0, 1e-3);  // white
  EXPECT_NEAR(lab[0][1].item<float>(), 0.0, 1e-3);
  EXPECT_NEAR(lab[1][0].item<float>(), 0.5324, 1e-3);  // red: L 53.24, a 80.09, b 67.20
  EXPECT_NEAR(lab[1][1].item<float>() * 128, 80.09, 0.1);
  EXPECT_NEAR(lab[1][2].item<float>() * 128, 67.20, 0.1);
}

TEST(Texture, FullSetMeansWhatItSays) {
  at::Tensor frame = at::zeros({1, 3, 40, 60});
  frame.slice(3, 30, 60).fill_(1.0);  // right half white
  at::Tensor full = texture::sense_full(frame);
  ASSERT_EQ(full.sizes(), (at::IntArrayRef{1, 11, 40, 60}));
  EXPECT_NEAR(channel(full, Channel::eccentricity)[0][0][0].item<float>(), 1.0, 1e-5);
  EXPECT_NEAR(channel(full, Channel::edges)[0][20][29].item<float>(), 1.0, 1e-5);
  EXPECT_NEAR(channel(full, Channel::edges)[0][20][10].item<float>(), 0.0, 1e-6);
  EXPECT_NEAR(channel(full, Channel::highpass)[0][20][29].item<float>(), 1.0, 1e-5);
  EXPECT_NEAR(channel(full, Channel::highpass)[0][20][30].item<float>(), -1.0, 1e-5);
  EXPECT_EQ(channel(full, Channel::motion).abs().max().item<float>(), 0.0);
  for (auto c = static_cast<int>(Channel::distance_field); c < kFullChannels; ++c) {
    EXPECT_EQ(full.select(1, c).abs().max().item<float>(), 0.0) << c;
  }
}

TEST(Texture, NormalisedEdgesFindFaintPrint) {
  // The same stripes at strong and at faint contrast: plain edges differ, normalised hardly.
  at::Tensor frame = at::full({1, 3, 64, 128}, 0.3);
  for (int x = 8; x < 56; x += 4) frame.slice(3, x, x + 2).fill_(0.9);
  for (int x = 72; x < 120; x += 4) frame.slice(3, x, x + 2).fill_(0.4);
  at::Tensor full = texture::sense_full(frame);
  at::Tensor plain = channel(full, Channel::edges)[0].slice(0, 16, 48);
  at::Tensor normal = channel(full, Channel::edges_inverted)[0].slice(0, 16, 48);
  float plain_ratio =
      (plain.slice(1, 16, 48).mean() / plain.slice(1, 80, 112).mean()).item<float>();
  float normal_ratio =
      (normal.slice(1, 16, 48).mean() / normal.slice(1, 80, 112).mean()).item<float>();
  EXPECT_GT(plain_ratio, 4.0);
  EXPECT_LT(normal_ratio, 1.6);
  EXPECT_LE(normal.max().item<float>(), 1.0);
}

TEST(Texture, SaliencyPopsOut) {
  at::Tensor frame = at::full({1, 3, 256, 256}, 0.5);
  frame[0][0].slice(0, 96, 128).slice(1, 160, 192).fill_(1.0);
  frame[0][2].slice(0, 96, 128).slice(1, 160, 192).fill_(0.1);
  at::Tensor s = channel(texture::sense_full(frame), Channel::saliency)[0];
  EXPECT_NEAR(s.max().item<float>(), 1.0, 0.05);
  EXPECT_GT(s[112][176].item<float>(), 0.7);
  EXPECT_LT(s[20][20].item<float>(), 0.1);
}

TEST(Texture, MotionIsTheColourDistance) {
  at::Tensor a = at::zeros({1, 3, 8, 8});
  at::Tensor b = at::ones({1, 3, 8, 8});
  EXPECT_NEAR(channel(texture::sense_full(b, a), Channel::motion).mean().item<float>(), 1.0, 1e-5);
  EXPECT_THROW(texture::sense_full(b, at::zeros({1, 3, 8, 9})), Error);
}

TEST(Texture, ABatchNeverChangesItsMembers) {
  at::Tensor frames = random_frames(3, 48, 80);
  frames[1].mul_(0.01);  // a dark one: any batch-wide normalisation would show
  for (int64_t i = 0; i < 3; ++i) {
    at::Tensor alone = frames.narrow(0, i, 1).contiguous();
    EXPECT_LT((texture::sense_full(frames).narrow(0, i, 1) - texture::sense_full(alone))
                  .abs()
                  .max()
                  .item<float>(),
              1e-5);
    EXPECT_LT(
        (texture::sense_compact(frames, 3, 5).narrow(0, i, 1) - texture::sense_compact(alone, 3, 5))
            .abs()
            .max()
            .item<float>(),
        1e-5);
  }
}

TEST(Texture, TinyAndThinFramesWork) {
  for (auto [h, w] : {std::pair{1, 1}, {1, 300}, {2, 3}, {5, 1024}}) {
    at::Tensor full = texture::sense_full(random_frames(1, h, w));
    EXPECT_TRUE(at::isfinite(full).all().item<bool>()) << h << "x" << w;
    at::Tensor compact = texture::sense_compact(random_frames(1, h, w), 1, (w + 15) / 16);
    EXPECT_TRUE(at::isfinite(compact).all().item<bool>()) << h << "x" << w;
  }
  EXPECT_THROW(texture::sense_full(at::zeros({3, 4, 4})), Error);
}

TEST(Texture, ProvidersFillChannelsAndFailuresAreNamed) {
  class Broken : public Provider {
   public:
    std::vector<Channel> channels() const override { return {Channel::gaze}; }
    at::Tensor provide(const at::Tensor&, const Picture&) const override {
      throw Error(ErrorCode::io, "no eye tracker");
    }
  };
  Picture picture = make_picture(at::randint(0, 255, {3, 64, 64}, at::kByte));
  texture::Options options;
  options.channels = ChannelSet::full;
  options.providers = {given({Channel::motion}, at::full({1, 2, 2}, 0.5)),
                       std::make_shared<Broken>()};
  Texture t = texture::sense(picture, options);
  EXPECT_NEAR(t.of(Channel::motion).mean().item<float>(), 0.5, 1e-6);
  ASSERT_EQ(t.fallbacks.size(), 1u);
  EXPECT_NE(t.fallbacks[0].find("no eye tracker"), std::string::npos);
  EXPECT_EQ(t.of(Channel::gaze).abs().max().item<float>(), 0.0);

  options.channels = ChannelSet::compact;
  t = texture::sense(picture, options);
  EXPECT_EQ(t.values.size(0), 14);
  EXPECT_TRUE(t.has(Channel::motion));
  EXPECT_THROW(t.of(Channel::text_mask), Error);
  EXPECT_THROW(given({Channel::gaze}, at::zeros({2, 4, 4})), Error);
}

TEST(Texture, CpuKernelsComputeWhatTheTensorOpsDo) {
  for (auto [h, w] : {std::pair{33, 47}, {1, 1}, {1, 70}, {128, 64}}) {
    at::Tensor gray = random_frames(2, h, w).narrow(1, 0, 1);
    EXPECT_LT((texture::stencils_cpu(gray) - texture::stencil_ops(gray)).abs().max().item<float>(),
              1e-5);
    EXPECT_TRUE(texture::gradients(gray).equal(texture::stencils_cpu(gray).narrow(1, 0, 2)));
    at::Tensor grown = texture::gradients(gray.to(at::kDouble)).to(at::kFloat);  // tensor-op form
    EXPECT_LT((grown - texture::gradients(gray)).abs().max().item<float>(), 1e-5);
    at::Tensor maps = random_frames(2, h, w);
    for (int64_t cell : {2, 5, 16}) {
      at::Tensor expected = at::avg_pool2d(maps, {cell, cell}, {cell, cell}, {0, 0}, true, false);
      at::Tensor got =
          texture::pool_cpu(maps, {cell, cell}, (h + cell - 1) / cell, (w + cell - 1) / cell);
      EXPECT_LT((got - expected).abs().max().item<float>(), 1e-5);
    }
  }
}

namespace {

float difference(const at::Tensor& a, const at::Tensor& b) {
  return (a.to(at::kDouble) - b.to(at::kDouble)).abs().max().item<float>();
}

}  // namespace

TEST(Texture, OnePassFormsEqualTheTensorOps) {
  // Doubles have no CPU kernel: they take the path that runs on CUDA.
  for (auto [h, w] : {std::pair{96, 160}, {33, 47}, {1, 1}, {1, 70}, {5, 1024}, {131, 64}}) {
    SCOPED_TRACE(std::to_string(h) + "x" + std::to_string(w));
    const at::Tensor frames = random_frames(2, h, w);
    const at::Tensor wide = frames.to(at::kDouble);
    EXPECT_LT(difference(texture::luma(frames), texture::luma(wide)), 1e-6);
    EXPECT_LT(difference(texture::rgb_to_lab(frames), texture::rgb_to_lab_ops(wide)), 3e-6);
    EXPECT_LT(difference(texture::sense_full(frames), texture::sense_full(wide)), 1e-4);
    const int64_t rows = (h + 15) / 16;
    const int64_t cols = (w + 15) / 16;
    EXPECT_LT(difference(texture::pooled_luma(frames, rows, cols),
                         texture::pooled_luma(wide, rows, cols)),
              1e-6);
    EXPECT_LT(difference(texture::sense_compact(frames, rows, cols),
                         texture::sense_compact(wide, rows, cols)),
              1e-4);
    EXPECT_LT(difference(texture::stretch(frames, 2 * h + 3, 5 * w),
                         texture::stretch(wide, 2 * h + 3, 5 * w)),
              1e-5);
  }
}

TEST(Texture, TheSameBitsOnOneAndOnTwoThreads) {
  const at::Tensor frames = random_frames(2, 200, 333);
  const int threads = at::get_num_threads();
  at::set_num_threads(1);
  const at::Tensor full = texture::sense_full(frames);
  const at::Tensor compact = texture::sense_compact(frames, 13, 21);
  at::set_num_threads(2);
  EXPECT_TRUE(texture::sense_full(frames).equal(full));
  EXPECT_TRUE(texture::sense_compact(frames, 13, 21).equal(compact));
  at::set_num_threads(threads);
}
