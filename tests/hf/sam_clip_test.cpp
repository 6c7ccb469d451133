// Our own composition against its parts, and its tokens under a budget.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "arrcoc/error.h"
#include "hf/small_models.h"
#include "models/hf/checkpoint.h"
#include "models/hf/sam.h"
#include "models/hf/vlm.h"

namespace arrcoc::hf {
namespace {

using namespace testing_support;

nlohmann::json small(const std::string& decoder = "llama") {
  return {{"model_type", "sam_clip"},
          {"image_token_id", 3005},
          {"vision_config",
           {{"sam_config",
             {{"hidden_size", 32},
              {"num_hidden_layers", 2},
              {"num_attention_heads", 2},
              {"mlp_dim", 64},
              {"image_size", 256},
              {"patch_size", 16},
              {"window_size", 4},
              {"global_attn_indexes", {1}},
              {"output_channels", 24}}},
            {"downsample_channels", {40}},
            {"clip_config",
             {{"hidden_size", 48},
              {"intermediate_size", 96},
              {"num_hidden_layers", 2},
              {"num_attention_heads", 4}}}}},
          {"text_config",
           {{"model_type", decoder},
            {"hidden_size", 64},
            {"intermediate_size", 96},
            {"num_hidden_layers", 2},
            {"num_attention_heads", 4},
            {"num_key_value_heads", 2},
            {"head_dim", 16},
            {"vocab_size", 3010}}}};
}

std::string folder_of(const Scratch& scratch, const std::string& decoder = "llama") {
  write_text(scratch.path("c.json"), small(decoder).dump());
  init_checkpoint(scratch.path("c.json"), scratch.path("m"), "float32", 3);
  auto tokenizer = small_tokenizer(data("goldens"), "llava");
  write_text(scratch.path("m/tokenizer.json"), tokenizer.dump());
  return scratch.path("m");
}

// One leaf a place: full detail everywhere.
Allocation finest() {
  Allocation out;
  out.geometry = {256, 256, 0};
  out.budget.tokens = 256;
  for (int row = 0; row < 8; ++row)
    for (int col = 0; col < 8; ++col) out.leaves.push_back({1, row, col, 0.5F});
  return out;
}

TEST(SamClip, AllPlacesByThemselvesAreThePlainCompositionOfTheParts) {
  c10::InferenceMode guard;
  Scratch scratch;
  const std::string folder = folder_of(scratch);
  const auto model = HfModel::open(folder, {}, load_tokenizer(folder));
  const Picture shown = picture(256, 256);
  const Features whole = model->encode_image(shown),
                 uniform = model->encode_patches(shown, finest());
  ASSERT_EQ(whole.size(), 64);
  ASSERT_EQ(uniform.size(), 64);
  EXPECT_TRUE(at::allclose(whole.rows, uniform.rows, 1e-5, 1e-5));

  const ModelConfig config = read_config(folder);
  FileSource source = open_weights(folder, config, {});
  const SamClipConfig& c = config.sam_clip;
  const SamEncoder sam(c.sam, "sam.", config.file, source);
  const Encoder clip(c.clip, "clip.encoder.", source);
  const auto part = [&](const std::string& name, std::vector<int64_t> shape) {
    return source.get(name, shape);
  };
  Pixels pixels;
  model->shown(shown, pixels);
  at::Tensor x =
      at::conv2d(sam(pixels.values), part("compressor.0.weight", {40, 24, 3, 3}), {}, 2, 1);
  x = source.linear("clip.embeddings.projection", 40, 48)(x.flatten(2).transpose(1, 2)) +
      part("clip.embeddings.position_embedding.weight", {64, 48});
  x = clip(source.layer_norm("clip.pre_layrnorm", 48, c.clip.eps)(x));
  x = source.linear("projector.linear_2", 64,
                    64)(at::gelu(source.linear("projector.linear_1", 48, 64)(x)));
  EXPECT_TRUE(at::allclose(whole.rows, x[0], 1e-5, 1e-5));
}

TEST(SamClip, EveryLeafIsOneTokenAndTheBudgetHolds) {
  Scratch scratch;
  const std::string folder = folder_of(scratch);
  const auto model = HfModel::open(folder, {}, load_tokenizer(folder));
  EXPECT_EQ(model->native_tokens(256, 256), 64);
  EXPECT_EQ(model->token_pixels(), 32);
  // 16 fine leaves (of 2x2 patches) and three quarters: 16 places alone, three of 16 places.
  const Features some = model->encode_patches(picture(256, 256), allocation(19));
  EXPECT_EQ(some.size(), 19);
  ASSERT_EQ(some.groups.size(), 19U);
  size_t places = 0, large = 0;
  for (const auto& group : some.groups) {
    places += group.size();
    large += group.size() == 16 ? 1 : 0;
  }
  EXPECT_EQ(places, 64U);
  EXPECT_EQ(large, 3U);
  EXPECT_EQ(model->encode_patches(picture(256, 256), allocation(10)).size(), 10);
  const Generation made = answer(*model, {{Role::user, "What is it?", 1}}, {some});
  EXPECT_EQ(made.visual_tokens, 19);
  EXPECT_EQ(made.ids.size(), 5U);
}

TEST(SamClip, LargeTokensKnowTheirSize) {
  c10::InferenceMode guard;
  Scratch scratch;
  const ModelConfig config = read_config(folder_of(scratch));
  FileSource source = open_weights(scratch.path("m"), config, {});
  const auto vlm = make_vlm(config, source);
  const at::Tensor flat = at::full({1, 3, 256, 256}, 0.3);
  EXPECT_TRUE(vlm->takes_groups());
  const at::Tensor pair = vlm->encode_groups(flat, {}, {{0}, {1, 2, 9, 10}}).rows;
  const at::Tensor other = vlm->encode_groups(flat, {}, {{0}, {1, 2}}).rows;
  EXPECT_FALSE(at::allclose(pair[1], other[1], 1e-6, 1e-6));
  EXPECT_THROW(vlm->encode_groups(flat.expand({2, 3, 256, 256}), {}, {{0}}), Error);
  EXPECT_THROW(vlm->encode_groups(flat, {}, {{64}}), Error);
}

TEST(SamClip, FoldersAreMadeListedCheckedAndReadWithEveryDecoder) {
  for (const char* decoder : {"llama", "qwen2", "qwen3"}) {
    Scratch scratch;
    const std::string folder = folder_of(scratch, decoder);
    const ModelInfo info = inspect_model(folder);
    EXPECT_EQ(info.family, "sam_clip");
    EXPECT_EQ(info.problem, "");
    for (const TensorCheck& check : self_test(folder)) EXPECT_TRUE(check.ok()) << check.name;
    const auto model = open_model(folder, {});
    EXPECT_EQ(model->capabilities().takes, TokenKind::selection);
    const Picture shown = picture(256, 256);
    Reading reading;
    reading.pictures.push_back({&shown, allocation(19), {}});
    reading.question = "What is it?";
    reading.generate.max_new_tokens = 3;
    const Reply reply = read_one(*model, reading);
    EXPECT_EQ(reply.kept, std::vector<int64_t>{19});
    EXPECT_EQ(reply.focus.size(), 19U);
  }
}

TEST(SamClip, AMissingTensorIsNamed) {
  Scratch scratch;
  const std::string folder = folder_of(scratch);
  auto config = small();
  config["vision_config"]["downsample_channels"] = {40, 48};
  write_text(scratch.path("m/config.json"), config.dump());
  EXPECT_NE(inspect_model(folder).problem.find("compressor"), std::string::npos)
      << inspect_model(folder).problem;
}

}  // namespace
}  // namespace arrcoc::hf
