// Linear layers in 8 bits against float32: on the golden checkpoints, and what falls back.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "arrcoc/error.h"
#include "hf/small_models.h"
#include "models/hf/checkpoint.h"
#include "models/hf/vlm.h"
#include "models/kernels/rows.h"

namespace arrcoc::hf {
namespace {

using namespace testing_support;

double cosine(const at::Tensor& a, const at::Tensor& b) {
  const at::Tensor x = a.flatten().to(at::kDouble), y = b.flatten().to(at::kDouble);
  return (x.dot(y) / (x.norm() * y.norm()).clamp_min(1e-12)).item<double>();
}

class InBytes : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!kernels::no_fast_kernels().empty()) GTEST_SKIP() << kernels::no_fast_kernels();
    at::manual_seed(1);
  }
};

TEST_F(InBytes, LayersAreThoseOfFloatsWhateverTheirSizes) {
  const int64_t sizes[][3] = {{1, 64, 96}, {7, 33, 17}, {20, 130, 50}, {600, 48, 24}, {1, 1, 1}};
  for (const auto& [rows, inputs, outputs] : sizes) {
    const at::Tensor w = at::randn({outputs, inputs}), b = at::randn({outputs});
    // Rows of very different sizes, one of them zeros.
    const at::Tensor x = at::randn({rows, inputs}) * at::logspace(-3, 3, rows).unsqueeze(1);
    if (rows > 1) x[0].zero_();
    const kernels::RowDense layer(w, b);
    const at::Tensor got = layer(x), wanted = at::linear(x, w, b);
    ASSERT_EQ(got.sizes(), wanted.sizes());
    for (int64_t i = 0; i < rows; ++i)
      EXPECT_LT(((got[i] - wanted[i]).norm() / wanted[i].norm()).item<double>(), 0.03)
          << rows << "x" << inputs << "x" << outputs << ", row " << i;
    // A row's answer does not depend on those beside it, nor on how many there are.
    for (int64_t i : {int64_t{0}, rows - 1})
      EXPECT_TRUE(layer(x.narrow(0, i, 1)).equal(got.narrow(0, i, 1))) << "row " << i;
  }
}

TEST_F(InBytes, LayersOfHalfWidthsAreReadAsTheyAre) {
  const at::Tensor w = at::randn({40, 32}).to(at::kBFloat16), x = at::randn({2, 3, 32});
  EXPECT_GT(cosine(kernels::RowDense(w, {})(x), at::linear(x, w.to(at::kFloat))), 0.999);
  EXPECT_EQ(kernels::RowDense(w, {})(at::zeros({0, 32})).sizes(), at::IntArrayRef({0, 40}));
}

TEST_F(InBytes, WhatIsNoNumberStaysNone) {
  const kernels::RowDense layer(at::randn({8, 20}), {});
  for (const double bad : {NAN, INFINITY}) {
    at::Tensor x = at::ones({2, 20});
    x[1][19] = bad;
    EXPECT_TRUE(layer(x)[1].isnan().all().item<bool>());
    EXPECT_TRUE(layer(x)[0].isfinite().all().item<bool>());
  }
}

struct Heard {
  at::Tensor rows, logits;
};

// Image features and logits over a prompt with all of them, of a golden checkpoint.
Heard heard(const std::string& family, const std::string& dtype) {
  const std::string folder = data("goldens/" + family);
  const ModelConfig config = read_config(folder);
  FileSource source = open_weights(folder, config, {.dtype = dtype});
  const auto model = make_vlm(config, source);
  const WeightFile golden = WeightFile::open(folder + "/golden.safetensors");
  at::Tensor pixels = golden.get("pixel_values", at::kFloat), grid;
  if (golden.has("image_grid_thw")) grid = golden.get("image_grid_thw", at::kLong);
  if (pixels.dim() == 5) pixels = pixels[0].narrow(0, 0, 1);
  const Visual visual = model->encode(pixels, grid);
  const at::Tensor ids = golden.get("input_ids", at::kLong);
  Prompt prompt;
  if (config.is_smol() || config.family == Family::deepseek_ocr2) {
    // One picture of it, and no local views: a prompt of our own.
    const at::Tensor text = at::arange(6, at::kLong) + 5;
    const at::Tensor image = at::full({visual.size()}, config.image_token, at::kLong);
    prompt = prepare(*model, at::cat({text, image, text}).unsqueeze(0), grid, visual);
  } else {
    prompt = prepare(*model, ids, grid, visual);
  }
  const Decoder& decoder = model->decoder();
  return {visual.rows, decoder.logits(decoder.forward(prompt.embeds, prompt.positions, nullptr,
                                                      &prompt.deepstack))};
}

class InBytesOf : public ::testing::TestWithParam<const char*> {};

// Random weights give flat logits, the hardest case for the likeliest token: bounds are below what
// is seen there (docs/kernels.md).
TEST_P(InBytesOf, LogitsAndFeaturesAreNearThoseOfFloats) {
  if (!kernels::no_fast_kernels().empty()) GTEST_SKIP() << kernels::no_fast_kernels();
  c10::InferenceMode guard;
  const Heard floats = heard(GetParam(), "float32"), bytes = heard(GetParam(), "int8");
  const double same =
      floats.logits.argmax(-1).eq(bytes.logits.argmax(-1)).to(at::kDouble).mean().item<double>();
  const double rows = cosine(floats.rows, bytes.rows), logits = cosine(floats.logits, bytes.logits);
  RecordProperty("features", std::to_string(rows));
  RecordProperty("logits", std::to_string(logits));
  RecordProperty("same_token", std::to_string(same));
  EXPECT_GT(rows, 0.998);
  EXPECT_GT(logits, 0.998);
  EXPECT_GT(same, 0.85);
  EXPECT_FALSE(floats.logits.equal(bytes.logits));
}

INSTANTIATE_TEST_SUITE_P(Families, InBytesOf,
                         ::testing::Values("llava", "qwen2_vl", "qwen2_5_vl", "qwen3_vl", "ovis2",
                                           "smolvlm", "deepseek_ocr2"));

TEST_F(InBytes, AModelAnswersAndTheSameWayTwice) {
  Scratch scratch;
  const std::string folder = folder_of("qwen3_vl", scratch);
  const auto model = HfModel::open(folder, {.dtype = "int8"}, load_tokenizer(folder));
  EXPECT_EQ(model->note(), "");
  EXPECT_EQ(model->vlm().decoder().dtype(), at::kFloat);
  const Features all = model->encode_image(picture(64, 96));
  const Generation made = answer(*model, {{Role::user, "What is it?", 1}}, {all});
  EXPECT_EQ(made.ids.size(), 5U);
  EXPECT_EQ(made.visual_tokens, all.size());
  const Generation again = answer(*model, {{Role::user, "What is it?", 1}}, {all});
  EXPECT_EQ(made.ids, again.ids);
}

TEST(Numbers, KernelsAndTypesSayTogetherWhatIsComputed) {
  const bool there = kernels::no_fast_kernels().empty();
  ::unsetenv("ARRCOC_KERNELS");
  EXPECT_FALSE(numbers_of({}).in_bytes);
  EXPECT_EQ(numbers_of({.dtype = "int8"}).in_bytes, there);
  EXPECT_EQ(numbers_of({.dtype = "int8"}).note.empty(), there);
  ASSERT_EQ(::setenv("ARRCOC_KERNELS", "fast", 1), 0);
  EXPECT_EQ(numbers_of({}).in_bytes, there);
  EXPECT_FALSE(numbers_of({.dtype = "float32"}).in_bytes);
  ASSERT_EQ(::setenv("ARRCOC_KERNELS", "reference", 1), 0);
  const Numbers off = numbers_of({.dtype = "int8"});
  ::unsetenv("ARRCOC_KERNELS");
  EXPECT_FALSE(off.in_bytes);
  EXPECT_EQ(off.note, "float32 instead of int8: reference kernels were asked for");
  EXPECT_EQ(off.dtype, at::kFloat);
  EXPECT_THROW(numbers_of({.dtype = "int4"}), Error);
}

}  // namespace
}  // namespace arrcoc::hf
