// DeepSeek-OCR-2: views of a picture, which of them are shown, and the mixture of experts.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "arrcoc/error.h"
#include "hf/small_models.h"
#include "models/hf/checkpoint.h"
#include "models/hf/generate.h"
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

// The form of deepseek-ai's own config.json, numbers as published; configs/deepseek_ocr2.json is
// what transformers' conversion makes of it.
json published() {
  return json::parse(R"({
    "model_type": "deepseek_vl_v2", "torch_dtype": "bfloat16", "tile_tag": "2D",
    "global_view_pos": "head", "candidate_resolutions": [[1024, 1024]],
    "architectures": ["DeepseekOCR2ForCausalLM"], "hidden_size": 1280, "vocab_size": 129280,
    "language_config": {
      "architectures": ["DeepseekV2ForCausalLM"], "bos_token_id": 0, "eos_token_id": 1,
      "first_k_dense_replace": 1, "hidden_size": 1280, "intermediate_size": 6848,
      "kv_lora_rank": null, "lm_head": true, "max_position_embeddings": 8192,
      "moe_intermediate_size": 896, "n_group": 1, "n_routed_experts": 64, "n_shared_experts": 2,
      "num_attention_heads": 10, "num_experts_per_tok": 6, "num_hidden_layers": 12,
      "num_key_value_heads": 10, "q_lora_rank": null, "qk_nope_head_dim": 0,
      "qk_rope_head_dim": 0, "rm_head": false, "topk_group": 1, "topk_method": "greedy",
      "torch_dtype": "bfloat16", "use_mla": false, "v_head_dim": 0, "vocab_size": 129280},
    "projector_config": {"input_dim": 896, "model_type": "mlp_projector", "n_embed": 1280,
      "projector_type": "linear"},
    "vision_config": {"image_size": 1024, "mlp_ratio": 3.7362, "model_name": "deepencoderv2",
      "model_type": "vision", "width": {"qwen2-0-5b": {"dim": 896}, "sam_vit_b": {
        "downsample_channels": [512, 1024], "global_attn_indexes": [2, 5, 8, 11], "heads": 12,
        "layers": 12, "width": 768}}}})");
}

// Names and shapes of all tensors that a configuration asks for.
std::map<std::string, std::vector<int64_t>> shapes_of(const ModelConfig& config) {
  PlanSource plan(spellings_of(config));
  visit_tensors(config, plan);
  return plan.planned();
}

TEST(DeepseekConfig, AsItsAuthorsPublishItIsTheSameModel) {
  const ModelConfig theirs = parse_config(published(), "config.json");
  const ModelConfig ours = read_config(data("../../configs/deepseek_ocr2.json"));
  EXPECT_EQ(theirs.family, Family::deepseek_ocr2);
  EXPECT_EQ(theirs.dtype, "bfloat16");
  EXPECT_EQ(theirs.image_token, ours.image_token);
  EXPECT_EQ(shapes_of(theirs), shapes_of(ours));
  EXPECT_EQ(theirs.deepseek.sam.global_layers, ours.deepseek.sam.global_layers);
  for (const auto& [a, b] : {std::pair{&theirs.decoder, &ours.decoder},
                             std::pair{&theirs.deepseek.encoder, &ours.deepseek.encoder}}) {
    EXPECT_EQ(a->theta, b->theta);
    EXPECT_EQ(a->eps, b->eps);
    EXPECT_EQ(a->heads, b->heads);
    EXPECT_EQ(a->kv_heads, b->kv_heads);
    EXPECT_EQ(a->head_dim, b->head_dim);
    EXPECT_EQ(a->experts.in_layer, b->experts.in_layer);
    EXPECT_EQ(a->experts.chosen, b->experts.chosen);
    EXPECT_EQ(a->experts.limited, b->experts.limited);
  }
}

TEST(DeepseekConfig, AnswersEndWhereTheirConfigurationSays) {
  Scratch scratch;
  write_text(scratch.path("config.json"), published().dump());
  EXPECT_EQ(read_generation(scratch.path("")).stop, std::vector<int64_t>{1});
}

TEST(DeepseekConfig, OtherModelsOfThatTypeAreRefusedInOneLine) {
  json first = published();  // DeepSeek-OCR: CLIP in place of the encoder of queries
  json& width = first["vision_config"]["width"];
  width.erase("qwen2-0-5b");
  width["clip-l-14-224"] = {{"layers", 24}, {"heads", 16}, {"width", 1024}};
  try {
    parse_config(first, "config.json");
    FAIL() << "was read";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::unsupported);
    EXPECT_NE(std::string(error.what()).find("only DeepSeek-OCR-2"), std::string::npos);
  }
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
