// DeepSeek-OCR-2: views of a picture, which of them are shown, and the mixture of experts.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "arrcoc/error.h"
#include "hf/small_models.h"
#include "models/hf/processor.h"
#include "models/hf/vlm.h"

namespace arrcoc::hf {
namespace {

using testing_support::allocation;
using testing_support::answer;
using testing_support::data;
using testing_support::folder_of;
using testing_support::model_of;
using testing_support::picture;
using testing_support::read_json;
using testing_support::Scratch;
using testing_support::write_text;

ImageProcessor processor(bool crop = true) {
  return ImageProcessor::from(json{{"image_processor_type", "DeepseekOcr2ImageProcessor"},
                                   {"size", {{"height", 64}, {"width", 64}}},
                                   {"tile_size", 48},
                                   {"crop_to_patches", crop}},
                              "p.json");
}

TEST(Views, TheWholeIsOnAGreySquareAndLargePicturesHaveTiles) {
  const at::Tensor rgb = picture(60, 120).rgb;
  const Pixels pixels = processor().process(rgb);
  EXPECT_EQ(pixels.values.sizes(), (std::vector<int64_t>{1, 3, 64, 64}));
  EXPECT_EQ(pixels.tile_rows, 1);
  EXPECT_EQ(pixels.tile_cols, 2);
  ASSERT_EQ(pixels.grid.sizes(), (std::vector<int64_t>{2, 3, 48, 48}));
  const auto seen = [](const at::Tensor& bytes) { return bytes.to(at::kFloat) / 127.5 - 1; };
  const at::Tensor grey = seen(at::full({3, 16, 64}, 127, at::kByte));
  EXPECT_TRUE(at::allclose(pixels.values[0].narrow(1, 0, 16), grey, 0, 1e-5));
  EXPECT_TRUE(at::allclose(pixels.values[0].narrow(1, 48, 16), grey, 0, 1e-5));
  EXPECT_TRUE(at::allclose(pixels.values[0].narrow(1, 16, 32),
                           seen(resample(rgb, 32, 64, Filter::bicubic)), 0, 1e-5));
  const at::Tensor canvas = resample(rgb, 48, 96, Filter::bicubic);
  EXPECT_TRUE(at::allclose(pixels.grid[1], seen(canvas.narrow(2, 48, 48)), 0, 1e-5));
  EXPECT_FALSE(processor().process(picture(48, 40).rgb).grid.defined());  // no larger than a tile
  EXPECT_FALSE(processor().process(rgb, {0, 64 * 64}).grid.defined());
  EXPECT_EQ(processor().process(rgb, {0, 64 * 64 - 1}).values.size(2), 48);
  EXPECT_EQ(processor(false).process(rgb).values.size(2), 48);
  EXPECT_EQ(processor().count(60, 120), 3);
}

TEST(Views, ThoseWhereTheAllocationLooksAreEncodedWithTheWhole) {
  Scratch scratch;
  const auto model = model_of("deepseek_ocr2", scratch);
  const Picture image = picture(256, 256);
  const Features native = model->encode_image(image);
  ASSERT_EQ(native.views.size(), 6U);  // 2 x 2 tiles of 144 tokens, the whole and a separator
  ASSERT_EQ(native.size(), 4 * 144 + 257);
  EXPECT_EQ(native.size(), model->native_tokens(256, 256));
  EXPECT_EQ(model->native_tokens(192, 100), 257);
  const Features few = model->encode_zoom(image, allocation(257 + 144));
  ASSERT_EQ(few.size(), 257 + 144);
  EXPECT_EQ(few.views[0].tile_row, 1);  // the finely cut quarter
  EXPECT_EQ(few.views[0].tile_col, 1);
  EXPECT_TRUE(at::allclose(few.rows.narrow(0, 0, 144), native.rows.narrow(0, 0, 144), 1e-4, 1e-5));
  EXPECT_TRUE(
      at::allclose(few.rows.narrow(0, 144, 257), native.rows.narrow(0, 576, 257), 1e-4, 1e-5));
  EXPECT_EQ(model->encode_zoom(image, allocation(400)).size(), 257);
  EXPECT_EQ(model->encode_zoom(image, allocation(256)).size(), 145);  // a smaller whole
  EXPECT_THROW(model->encode_zoom(image, allocation(144)), Error);
  const std::vector<Turn> asked = {{Role::user, "Free OCR.", 1}};
  EXPECT_EQ(answer(*model, asked, {few}).visual_tokens, few.size());
  EXPECT_EQ(answer(*model, {{Role::user, "Compare.", 2}}, {few, native}).visual_tokens,
            few.size() + native.size());
  EXPECT_THROW(model->select(native, allocation(300)), Error);
  EXPECT_THROW(model->encode_patches(image, allocation(300)), Error);
  const Map map = token_map(native, model->early_attention(asked, {native}));
  EXPECT_EQ(map.rows, 2);
  EXPECT_EQ(map.cols, 2);
  for (float value : map.values) EXPECT_GT(value, 0);
  EXPECT_EQ(chat_text(Family::deepseek_ocr2, asked, {{}}), "<image>\nFree OCR.");
}

TEST(Views, PruneAndPatchesAreRefusedWithAReason) {
  Scratch scratch;
  const std::string folder = folder_of("deepseek_ocr2", scratch);
  for (ReadMode mode : {ReadMode::prune, ReadMode::patches}) {
    try {
      open_model(folder, {mode});
      ADD_FAILURE();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::unsupported);
      EXPECT_NE(std::string(error.what()).find("zoom"), std::string::npos);
    }
  }
  EXPECT_EQ(open_model(folder, {ReadMode::automatic})->capabilities().takes, TokenKind::selection);
}

// transformers 5.x in memory: other names, and the experts of a layer in one tensor.
TEST(Experts, FilesWithTheNamesOfModulesAreRead) {
  Scratch scratch;
  const std::string folder = data("goldens/deepseek_ocr2");
  const WeightFile stored = WeightFile::open(folder);
  const auto replaced = [](std::string name, const std::string& from, const std::string& to) {
    const size_t at = name.find(from);
    return at == std::string::npos ? name : name.replace(at, from.size(), to);
  };
  std::map<std::string, at::Tensor> tensors;
  for (const auto& [name, info] : stored.tensors()) {
    if (name.find(".experts.") != std::string::npos) continue;
    std::string now = name;
    if (name.rfind("model.layers.", 0) == 0 || name.rfind("model.norm.", 0) == 0 ||
        name.rfind("model.embed_tokens.", 0) == 0)
      now = replaced(name, "model.", "model.language_model.");
    for (const auto& [from, to] : std::map<std::string, std::string>{
             {"sam_model.blocks.", "vision_tower.sam_encoder.layers."},
             {"sam_model.patch_embed.proj.", "vision_tower.sam_encoder.patch_embed.projection."},
             {"sam_model.pos_embed", "vision_tower.sam_encoder.pos_embed"},
             {"sam_model.neck.0.", "vision_tower.sam_encoder.neck.conv1."},
             {"sam_model.neck.1.", "vision_tower.sam_encoder.neck.layer_norm1."},
             {"sam_model.neck.2.", "vision_tower.sam_encoder.neck.conv2."},
             {"sam_model.neck.3.", "vision_tower.sam_encoder.neck.layer_norm2."},
             {"sam_model.net_2.", "vision_tower.sam_encoder.proj.conv1."},
             {"sam_model.net_3.", "vision_tower.sam_encoder.proj.conv2."},
             {".norm1.", ".layer_norm1."},
             {".norm2.", ".layer_norm2."},
             {"qwen2_model.model.model.", "vision_tower.vision_encoder."},
             {"qwen2_model.query_768.", "vision_tower.query_768_resolution."},
             {"qwen2_model.query_1024.", "vision_tower.query_1024_resolution."},
             {"projector.layers.", "multi_modal_projector."},
             {"view_seperator", "view_separator"}})
      now = replaced(now, from, to);
    tensors[now] = stored.get(name, at::kFloat);
  }
  for (const char* layer : {"1", "2"}) {
    const std::string old = std::string("model.layers.") + layer + ".mlp.experts.";
    std::vector<at::Tensor> in, back;
    for (int i = 0; i < 6; ++i) {
      const std::string one = old + std::to_string(i) + ".";
      in.push_back(at::cat({stored.get(one + "gate_proj.weight", at::kFloat),
                            stored.get(one + "up_proj.weight", at::kFloat)}));
      back.push_back(stored.get(one + "down_proj.weight", at::kFloat));
    }
    const std::string now = replaced(old, "model.", "model.language_model.");
    tensors[now + "gate_up_proj"] = at::stack(in);
    tensors[now + "down_proj"] = at::stack(back);
  }
  write_safetensors(scratch.path("model.safetensors"), tensors);
  write_text(scratch.path("config.json"), read_json(folder + "/config.json").dump());
  for (const TensorCheck& check : check_golden(scratch.path(""), folder + "/golden.safetensors"))
    EXPECT_TRUE(check.ok()) << check.name << " " << check.difference << " " << check.problem;
}

TEST(Experts, OnlyThoseOfTheBestGroupsAreAskedWhereTheFileSaysSo) {
  json config = read_json(data("goldens/deepseek_ocr2/config.json"));
  const auto logits = [&] {
    const ModelConfig parsed = parse_config(config, "c.json");
    FileSource source(WeightFile::open(data("goldens/deepseek_ocr2")), spellings_of(parsed),
                      at::kFloat, at::kCPU);
    const auto vlm = make_vlm(parsed, source);
    const Prompt prompt = prepare(*vlm, at::arange(40, at::kLong).unsqueeze(0), {}, {});
    return vlm->decoder().logits(vlm->decoder().forward(prompt.embeds, prompt.positions));
  };
  const at::Tensor plain = logits();
  json& text = config["text_config"];
  text["topk_method"] = "group_limited_greedy";
  text["n_group"] = 3;
  text["topk_group"] = 3;
  EXPECT_TRUE(at::allclose(plain, logits(), 0, 1e-6));  // all groups are open
  text["topk_group"] = 1;
  EXPECT_FALSE(at::allclose(plain, logits(), 0, 1e-4));
  text["topk_group"] = 4;
  EXPECT_THROW(logits(), Error);
  text["topk_method"] = "noaux_tc";
  EXPECT_THROW(logits(), Error);
}

}  // namespace
}  // namespace arrcoc::hf
