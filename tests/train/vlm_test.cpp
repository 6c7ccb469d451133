// Training Hugging Face families at smoke size: the whole of a small one, and what stands before a
// frozen one.
#include "lab/train/vlm/vlm.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "arrcoc/error.h"
#include "arrcoc/model.h"
#include "arrcoc/weights.h"
#include "hf/small_models.h"
#include "lab/train/vlm/allocator.h"
#include "lab/train/vlm/shapes.h"

namespace arrcoc::training {
namespace {

namespace support = arrcoc::testing_support;
const auto kQuiet = [](const std::string&) {};

TEST(Shapes, ScenesAreTheirSeedsAndTheBoxHoldsTheAnswer) {
  const ShapeScene one = make_shapes(7, 128), again = make_shapes(7, 128);
  EXPECT_TRUE(one.picture.rgb.equal(again.picture.rgb));
  EXPECT_EQ(one.question, again.question);
  EXPECT_FALSE(one.picture.rgb.equal(make_shapes(8, 128).picture.rgb));
  for (uint64_t seed = 0; seed < 40; ++seed) {
    const ShapeScene scene = make_shapes(seed, 128);
    ASSERT_GE(scene.box.x0, 0);
    ASSERT_LE(scene.box.y1, 128);
    if (!scene.asks_colour || scene.answer != "red") continue;
    const auto x = static_cast<int64_t>((scene.box.x0 + scene.box.x1) / 2);
    const auto y = static_cast<int64_t>((scene.box.y0 + scene.box.y1) / 2);
    EXPECT_EQ(scene.picture.rgb[0][y][x].item<int>(), 210) << seed;
  }
}

// configs/sam_clip_tiny.json from random weights: what is saved is a folder like every other.
TEST(TrainingAVlm, TheWholeOfASmallOneLearnsAndIsSaved) {
  const support::Scratch scratch;
  VlmOptions options;
  options.init = std::string(ARRCOC_SOURCE_DIR) + "/configs/sam_clip_tiny.json";
  options.out = scratch.path("out");
  options.steps = 25;
  options.batch = 4;
  options.held_out = 12;
  const VlmReport report = train_vlm(options, kQuiet);
  EXPECT_GT(report.first_loss, 4.5);  // 258 tokens alike: 5.5
  EXPECT_LT(report.loss, report.first_loss - 1.5);
  EXPECT_LE(report.tokens, 24);
  EXPECT_GT(report.tokens, 12);
  EXPECT_EQ(inspect_model(options.out).problem, "");
  for (const TensorCheck& check : self_test(options.out)) EXPECT_TRUE(check.ok()) << check.name;
  const WeightFile file = WeightFile::open(options.out);
  EXPECT_FALSE(file.view("model.vision_tower.clip_encoder.embeddings.size_embedding.weight")
                   .equal(at::zeros({3, 64})));
  // And goes on from there: what was learned is there.
  options.init = options.out;
  options.out = scratch.path("more");
  options.steps = 1;
  EXPECT_NEAR(train_vlm(options, kQuiet).first_loss, report.loss, 1e-4);
  const auto model = open_model(options.out, {});
  const ShapeScene scene = make_shapes(3, 128);
  Reading reading;
  reading.question = scene.question;
  reading.pictures.push_back({&scene.picture, {}, {}});
  Allocation& all = reading.pictures[0].allocation;
  all.geometry = {128, 128, 0};
  all.budget.tokens = 4;
  for (int i = 0; i < 4; ++i) all.leaves.push_back({2, i / 2, i % 2, 0.5F});
  EXPECT_EQ(read_one(*model, reading).kept, std::vector<int64_t>{4});
}

class BeforeAFrozenModel : public ::testing::TestWithParam<const char*> {};

// Adapter, then allocator, then both: no bit of the checkpoint changes, and the loss falls.
TEST_P(BeforeAFrozenModel, ThreeStagesLearnWhileItStandsStill) {
  const support::Scratch scratch;
  VlmOptions options;
  options.init = support::folder_of(GetParam(), scratch);
  const std::string weights = support::read_text(options.init + "/model.safetensors");
  options.side = 256;
  options.examples = 4;
  options.batch = 4;
  options.budget = 16;
  options.width = 16;
  options.rate = 0.02;
  options.stage = VlmStage::adapter;
  options.out = scratch.path("adapter");
  options.steps = 12;
  const VlmReport adapter = train_vlm(options, kQuiet);
  EXPECT_TRUE(adapter.frozen_alike);
  EXPECT_LT(adapter.loss, adapter.first_loss - 0.01);

  options.learned = scratch.path("adapter/learned.safetensors");
  options.stage = VlmStage::allocator;
  options.out = scratch.path("allocator");
  options.steps = 3;
  const VlmReport allocator = train_vlm(options, kQuiet);
  EXPECT_TRUE(allocator.frozen_alike);
  EXPECT_LE(allocator.tokens, 16);
  const WeightFile before = WeightFile::open(options.learned);
  const WeightFile after = WeightFile::open(scratch.path("allocator/learned.safetensors"));
  EXPECT_TRUE(before.view("adapter.up").equal(after.view("adapter.up")));
  EXPECT_FALSE(before.view("allocator.out").equal(after.view("allocator.out")));

  options.learned = scratch.path("allocator/learned.safetensors");
  options.stage = VlmStage::both;
  options.out = scratch.path("both");
  options.steps = 6;
  const VlmReport both = train_vlm(options, kQuiet);
  EXPECT_TRUE(both.frozen_alike);
  EXPECT_LT(both.loss, both.first_loss);
  EXPECT_EQ(support::read_text(options.init + "/model.safetensors"), weights);
}

INSTANTIATE_TEST_SUITE_P(Families, BeforeAFrozenModel,
                         ::testing::Values("qwen3_vl", "llava", "qwen2_5_vl", "smolvlm"));

// A model for which one place alone matters: the policy gradient finds it.
TEST(TheAllocator, LearnsWhereTheLossIsLow) {
  hf::Features features;
  features.width = features.height = 128;
  for (int i = 0; i < 64; ++i) {
    const auto x = static_cast<float>(i % 8 * 16), y = static_cast<float>(i / 8 * 16);
    features.boxes.push_back({x, y, x + 16, y + 16});
  }
  at::manual_seed(3);
  features.rows = at::randn({64, 12});
  const Geometry geometry{128, 128, 0};
  const at::Tensor question = at::randn({12});
  const Named weights = first_weights(12, 8, 5);
  Steps steps({weights.at("allocator.rows"), weights.at("allocator.question"),
               weights.at("allocator.out")});
  constexpr int64_t kPlace = 27;
  const auto finds = [&](const std::vector<std::vector<int64_t>>& groups) {
    for (const auto& group : groups)
      if (group == std::vector<int64_t>{kPlace}) return 1.0F;
    return 0.0F;
  };
  for (int step = 0; step < 150; ++step) {
    const at::Tensor logits = cell_logits(weights, features, geometry, question);
    std::vector<at::Tensor> scores;
    std::vector<float> found;
    for (int i = 0; i < 8; ++i) {
      Dice dice(9, static_cast<uint64_t>(step), static_cast<uint64_t>(i));
      const Drawn drawn = drawn_choice(features, geometry, at::sigmoid(logits), 10, 0.5, dice);
      EXPECT_LE(drawn.groups.size(), 10U);
      scores.push_back(drawn.score);
      found.push_back(finds(drawn.groups));
    }
    const at::Tensor reward = at::tensor(found), better = reward - reward.mean();
    (-(at::matmul(better, at::stack(scores)) * at::log_sigmoid(logits)).sum()).backward();
    steps.step(0.03);
  }
  Dice dice(1);
  const at::Tensor relevance = at::sigmoid(cell_logits(weights, features, geometry, question));
  EXPECT_EQ(finds(drawn_choice(features, geometry, relevance, 10, 0, dice).groups), 1.0F);
}

TEST(TrainingAVlm, WhatCannotBeIsSaidInOneLine) {
  EXPECT_THROW(vlm_options({{"stage", "half"}}), Error);
  EXPECT_THROW(vlm_options({{"step", 5}}), Error);
  VlmOptions options;
  EXPECT_THROW(train_vlm(options, kQuiet), Error);
  const support::Scratch scratch;
  options.init = support::folder_of("deepseek_ocr2", scratch);
  options.out = scratch.path("out");
  options.stage = VlmStage::allocator;
  try {
    train_vlm(options, kQuiet);
    FAIL();
  } catch (const Error& problem) {
    EXPECT_EQ(problem.code(), ErrorCode::unsupported);
  }
}

}  // namespace
}  // namespace arrcoc::training
