// SmolVLM and Idefics3: a picture in tiles, and which of them are shown.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "arrcoc/error.h"
#include "base/tiling.h"
#include "hf/small_models.h"
#include "models/hf/processor.h"
#include "models/hf/vlm.h"

namespace arrcoc::hf {
namespace {

using testing_support::allocation;
using testing_support::answer;
using testing_support::data;
using testing_support::model_of;
using testing_support::picture;
using testing_support::read_json;
using testing_support::Scratch;

json processor(int64_t longest, int64_t tile) {
  return {{"image_processor_type", "SmolVLMImageProcessor"},
          {"size", {{"longest_edge", longest}}},
          {"max_image_size", {{"longest_edge", tile}}}};
}

// By hand from image_processing_idefics3.py: enlarged to the longest edge, then to whole tiles.
TEST(Tiles, ACanvasIsTheLongestEdgeInWholeTiles) {
  const auto canvas = [](int64_t height, int64_t width, int64_t longest, int64_t tile) {
    const PixelSize size = whole_tiles_size(longest_edge_size({height, width}, longest), tile);
    return std::pair{size.height, size.width};
  };
  using Size = std::pair<int64_t, int64_t>;
  EXPECT_EQ(canvas(768, 1024, 2048, 512), (Size{1536, 2048}));
  EXPECT_EQ(canvas(1080, 1920, 2048, 512), (Size{1536, 2048}));  // 1152 rows: three tiles
  EXPECT_EQ(canvas(1, 1000, 2048, 512), (Size{512, 2048}));
  EXPECT_EQ(canvas(3000, 1000, 1536, 384), (Size{1536, 768}));
  EXPECT_EQ(canvas(5000, 5000, 9000, 512), (Size{4096, 4096}));  // never over 4096
  EXPECT_EQ(canvas(100, 100, 400, 384), (Size{768, 768}));
}

TEST(Tiles, AreCutRowByRowAndTheWholeComesLast) {
  const at::Tensor rgb = picture(60, 90).rgb;
  const Pixels pixels = ImageProcessor::from(processor(128, 32), "p.json").process(rgb);
  ASSERT_EQ(pixels.tile_rows, 3);
  ASSERT_EQ(pixels.tile_cols, 4);
  ASSERT_EQ(pixels.values.sizes(), (std::vector<int64_t>{13, 3, 32, 32}));
  const at::Tensor canvas =
      resample(resample(rgb, 86, 128, Filter::lanczos), 96, 128, Filter::lanczos);
  const auto seen = [](const at::Tensor& bytes) { return bytes.to(at::kFloat) / 127.5 - 1; };
  EXPECT_TRUE(
      at::allclose(pixels.values[6], seen(canvas.narrow(1, 32, 32).narrow(2, 64, 32)), 0, 1e-5));
  EXPECT_TRUE(
      at::allclose(pixels.values[12], seen(resample(canvas, 32, 32, Filter::lanczos)), 0, 1e-5));
  json whole = processor(128, 32);
  whole["do_image_splitting"] = false;
  EXPECT_EQ(ImageProcessor::from(whole, "p.json").process(rgb).values.size(0), 1);
  EXPECT_EQ(ImageProcessor::from(processor(32, 32), "p.json").process(rgb).values.size(0), 1);
}

TEST(Tiles, OnlyThoseWhereTheAllocationLooksAreEncodedUnderTheirNames) {
  Scratch scratch;
  const auto model = model_of("smolvlm", scratch);
  const Picture image = picture(256, 256);
  const Features native = model->encode_image(image);
  ASSERT_EQ(native.views.size(), 17U);  // 4 x 4 tiles of 16 tokens, and the whole
  ASSERT_EQ(native.size(), model->native_tokens(256, 256));
  const Features few = model->encode_zoom(image, allocation(16 * 5 + 3));
  ASSERT_EQ(few.views.size(), 5U);
  EXPECT_EQ(few.size(), 80);
  std::vector<at::Tensor> expected;
  for (int64_t row = 1; row <= 2; ++row) {  // the finely cut quarter
    for (int64_t col = 1; col <= 2; ++col) {
      const Features::View& view = few.views[expected.size()];
      EXPECT_EQ(view.tile_row, row);
      EXPECT_EQ(view.tile_col, col);
      expected.push_back(native.rows.narrow(0, ((row - 1) * 4 + col - 1) * 16, 16));
    }
  }
  EXPECT_EQ(few.views.back().tile_row, 0);
  expected.push_back(native.rows.narrow(0, 16 * 16, 16));
  EXPECT_TRUE(at::allclose(few.rows, at::cat(expected), 1e-4, 1e-5));
  EXPECT_EQ(answer(*model, {{Role::user, "Read it", 1}}, {few}).visual_tokens, 80);
  const Features glance = model->encode_image(image, 100);
  ASSERT_EQ(glance.views.size(), 1U);
  EXPECT_TRUE(at::allclose(glance.rows, expected.back(), 1e-4, 1e-5));
  // Fewer tokens than one view has: some of the whole.
  const Features least = model->encode_zoom(image, allocation(7));
  EXPECT_EQ(least.views.size(), 1U);
  EXPECT_EQ(least.size(), 7);
  EXPECT_EQ(answer(*model, {{Role::user, "Read it", 1}}, {least}).visual_tokens, 7);
}

TEST(Tiles, PaddingIsNotLookedAt) {
  const WeightFile golden = WeightFile::open(data("goldens/smolvlm/golden.safetensors"));
  const auto model = HfModel::open(data("goldens/smolvlm"));
  at::Tensor values = golden.get("pixel_values", at::kFloat)[0].narrow(0, 2, 1).clone();
  const at::Tensor mask = golden.get("pixel_attention_mask", at::kLong)[0].narrow(0, 2, 1);
  const at::Tensor before = model->vlm().encode(values, mask).rows;
  values = values + (1 - mask.unsqueeze(1));  // other padding
  const at::Tensor after = model->vlm().encode(values, mask).rows;
  EXPECT_TRUE(at::allclose(before.narrow(0, 0, 12), after.narrow(0, 0, 12), 0, 1e-5));
  EXPECT_FALSE(at::allclose(before.narrow(0, 12, 4), after.narrow(0, 12, 4), 0, 1e-3));
  const at::Tensor open = model->vlm().encode(values, {}).rows;
  EXPECT_FALSE(at::allclose(open.narrow(0, 0, 12), after.narrow(0, 0, 12), 0, 1e-4));
  EXPECT_THROW(model->vlm().encode(values, mask.narrow(1, 0, 64)), Error);
}

// Idefics3 is the same under another name, with Llama 3's long waves and first token.
TEST(Tiles, IdeficsIsTheSameModelUnderAnotherName) {
  Scratch scratch;
  json config = read_json(data("goldens/smolvlm/config.json"));
  config["model_type"] = "idefics3";
  const auto logits = [&](const json& settings) {
    const ModelConfig parsed = parse_config(settings, "c.json");
    FileSource source(WeightFile::open(data("goldens/smolvlm")), spellings_of(parsed), at::kFloat,
                      at::kCPU);
    const auto vlm = make_vlm(parsed, source);
    const at::Tensor ids = at::arange(60, at::kLong).unsqueeze(0);
    const Prompt prompt = prepare(*vlm, ids, {}, {});
    return vlm->decoder().logits(vlm->decoder().forward(prompt.embeds, prompt.positions));
  };
  const at::Tensor plain = logits(config);
  json& rope = config["text_config"]["rope_parameters"];
  rope = {{"rope_type", "llama3"},  {"factor", 1.0},
          {"low_freq_factor", 1.0}, {"high_freq_factor", 4.0},
          {"rope_theta", 10000.0},  {"original_max_position_embeddings", 8}};
  EXPECT_TRUE(at::allclose(plain, logits(config), 0, 1e-4));
  rope["factor"] = 8.0;
  EXPECT_FALSE(at::allclose(plain, logits(config), 0, 1e-3));
  rope["high_freq_factor"] = 0.5;
  EXPECT_THROW(logits(config), Error);
}

}  // namespace
}  // namespace arrcoc::hf
