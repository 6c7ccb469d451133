// The goldens again, under other names, in shards, with broken parts.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <functional>

#include "arrcoc/error.h"
#include "arrcoc/model.h"
#include "arrcoc/weights.h"
#include "hf/support.h"
#include "models/settings.h"

namespace arrcoc::hf {
namespace {

namespace fs = std::filesystem;
using testing_support::data;
using testing_support::Scratch;
using testing_support::write_text;
using Tensors = std::map<std::string, at::Tensor>;

std::string golden(const std::string& family) { return data("goldens/" + family); }

json config_of(const std::string& family) {
  return Settings::read(golden(family) + "/config.json");
}

Tensors tensors_of(const std::string& family) {
  WeightFile file = WeightFile::open(golden(family));
  Tensors out;
  for (const auto& [name, info] : file.tensors()) out[name] = file.view(name);
  return out;
}

Tensors renamed(const Tensors& tensors, const std::function<std::string(std::string)>& rename) {
  Tensors out;
  for (const auto& [name, tensor] : tensors) out[rename(name)] = tensor;
  return out;
}

bool starts(const std::string& text, const std::string& with) { return text.rfind(with, 0) == 0; }

void save(const Scratch& scratch, const json& config, const Tensors& tensors) {
  write_text(scratch.path("config.json"), config.dump());
  write_safetensors(scratch.path("model.safetensors"), tensors);
}

void expect_golden(const Scratch& scratch, const std::string& family) {
  for (const TensorCheck& check :
       check_golden(scratch.path(""), golden(family) + "/golden.safetensors")) {
    EXPECT_TRUE(check.ok()) << family << " " << check.name << " " << check.difference << " "
                            << check.problem;
  }
}

// What transformers 4.x wrote: text settings at the top, rope_theta and rope_scaling apart.
json flat(json config) {
  json text = config["text_config"];
  config.erase("text_config");
  json rope = text["rope_parameters"];
  text.erase("rope_parameters");
  text.erase("model_type");
  for (const auto& [key, value] : text.items()) config[key] = value;
  config["rope_theta"] = rope["rope_theta"];
  config["rope_scaling"] = {{"type", "mrope"}, {"mrope_section", rope["mrope_section"]}};
  config["torch_dtype"] = config["dtype"];
  config.erase("dtype");
  config["vision_config"].erase("rope_parameters");
  config["vision_config"]["in_chans"] = config["vision_config"]["in_channels"];
  config["vision_config"].erase("in_channels");
  return config;
}

TEST(Spellings, Qwen2ConfigsWithTextSettingsAtTheTop) {
  for (const char* family : {"qwen2_vl", "qwen2_5_vl"}) {
    Scratch scratch;
    save(scratch, flat(config_of(family)), tensors_of(family));
    expect_golden(scratch, family);
  }
}

TEST(Spellings, QwenWeightsWithAndWithoutTheModelLevel) {
  for (const char* family : {"qwen2_vl", "qwen2_5_vl"}) {
    Scratch scratch;
    save(scratch, config_of(family), renamed(tensors_of(family), [](std::string name) {
           if (starts(name, "visual.")) return "model." + name;
           if (starts(name, "model.")) return "model.language_model." + name.substr(6);
           return name;
         }));
    expect_golden(scratch, family);
  }
  Scratch scratch;
  save(scratch, config_of("qwen3_vl"), renamed(tensors_of("qwen3_vl"), [](std::string name) {
         if (starts(name, "model.visual.")) return name.substr(6);
         if (starts(name, "model.language_model.")) return "model." + name.substr(21);
         return name;
       }));
  expect_golden(scratch, "qwen3_vl");
}

TEST(Spellings, LlavaWeightsAsOnTheHubAndAsLaterWritten) {
  const std::function<std::string(std::string)> ways[] = {
      [](std::string name) {
        return starts(name, "vision_tower.") ? "vision_tower.vision_model." + name.substr(13)
                                             : name;
      },
      [](std::string name) {
        if (starts(name, "language_model.model.")) return "model.language_model." + name.substr(21);
        if (starts(name, "language_model.lm_head.")) return name.substr(15);
        return "model." + name;
      }};
  for (const auto& way : ways) {
    Scratch scratch;
    save(scratch, config_of("llava"), renamed(tensors_of("llava"), way));
    expect_golden(scratch, "llava");
  }
}

TEST(Spellings, ShardsAndOtherFloatTypesGiveTheSameResults) {
  Scratch scratch;
  Tensors tensors = tensors_of("qwen3_vl");
  Tensors first, second;
  json map = json::object();
  for (const auto& [name, tensor] : tensors) {
    bool odd = map.size() % 2;
    (odd ? first : second)[name] = tensor.to(at::kFloat);
    map[name] = odd ? "a.safetensors" : "b.safetensors";
  }
  write_safetensors(scratch.path("a.safetensors"), first);
  write_safetensors(scratch.path("b.safetensors"), second);
  write_text(scratch.path("config.json"), config_of("qwen3_vl").dump());
  write_text(scratch.path("model.safetensors.index.json"), json{{"weight_map", map}}.dump());
  expect_golden(scratch, "qwen3_vl");
}

TEST(Spellings, ATiedHeadMayBeLeftOutOfTheFile) {
  Scratch scratch;
  Tensors tensors = tensors_of("ovis2");  // its head equals its embeddings
  tensors.erase("lm_head.weight");
  save(scratch, config_of("ovis2"), tensors);
  expect_golden(scratch, "ovis2");

  json untied = config_of("ovis2");
  untied["tie_word_embeddings"] = false;
  save(scratch, untied, tensors);
  EXPECT_THROW(check_golden(scratch.path(""), golden("ovis2") + "/golden.safetensors"), Error);
}

// Opening must fail with this in the message.
void expect_refused(const json& config, const Tensors& tensors, const std::string& says) {
  Scratch scratch;
  save(scratch, config, tensors);
  ModelInfo info = inspect_model(scratch.path(""));
  EXPECT_NE(info.problem.find(says), std::string::npos) << says << " | " << info.problem;
  EXPECT_NE(info.problem.find(scratch.path("").substr(0, 12)), std::string::npos);
  EXPECT_THROW(self_test(scratch.path("")), Error);
}

TEST(Checkpoint, MissingMisshapenAndMistypedTensorsAreNamed) {
  for (const char* family : {"clip", "siglip", "sam", "llava", "qwen2_vl", "qwen2_5_vl", "qwen3_vl",
                             "ovis2", "smolvlm", "deepseek_ocr2"}) {
    Tensors tensors = tensors_of(family);
    std::string name;
    for (const auto& [one, tensor] : tensors) {
      bool used = family != std::string("sam") || starts(one, "vision_encoder.");
      if (used && tensor.dim() == 2 && one.find("layers.1.") != std::string::npos) name = one;
      if (used && tensor.dim() == 2 && one.find("blocks.1.") != std::string::npos) name = one;
    }
    ASSERT_FALSE(name.empty());
    at::Tensor kept = tensors[name];
    tensors.erase(name);
    expect_refused(config_of(family), tensors, name);
    tensors[name] = at::zeros({3, 5});
    expect_refused(config_of(family), tensors, "'" + name + "' has shape [3,5]");
    tensors[name] = kept.to(at::kChar);
    expect_refused(config_of(family), tensors, "'" + name + "' is int8");
  }
}

TEST(Checkpoint, ImpossibleConfigurationsAreRefusedByName) {
  Tensors tensors = tensors_of("qwen3_vl");
  auto with = [](std::function<void(json&)> change) {
    json config = config_of("qwen3_vl");
    change(config);
    return config;
  };
  expect_refused(with([](json& c) { c["model_type"] = "pixtral"; }), tensors, "pixtral");
  expect_refused(with([](json& c) { c.erase("model_type"); }), tensors, "model_type");
  expect_refused(with([](json& c) { c["text_config"]["model_type"] = "mamba"; }), tensors, "mamba");
  expect_refused(with([](json& c) { c["text_config"]["hidden_size"] = 0; }), tensors,
                 "hidden_size");
  expect_refused(with([](json& c) { c["text_config"]["hidden_size"] = "x"; }), tensors,
                 "hidden_size");
  expect_refused(with([](json& c) { c["text_config"]["num_key_value_heads"] = 3; }), tensors,
                 "num_key_value_heads");
  expect_refused(with([](json& c) {
                   c["text_config"]["rope_parameters"]["mrope_section"] = {1, 1, 1};
                 }),
                 tensors, "mrope_section");
  expect_refused(with([](json& c) { c["text_config"]["rope_parameters"]["rope_type"] = "yarn"; }),
                 tensors, "yarn");
  expect_refused(with([](json& c) { c["vision_config"]["deepstack_visual_indexes"] = {99}; }),
                 tensors, "deepstack_visual_indexes");
  expect_refused(with([](json& c) { c["vision_config"]["hidden_act"] = "mish"; }), tensors, "mish");
}

TEST(Checkpoint, EveryFamilyPassesItsSelfTest) {
  for (const char* family : {"clip", "siglip", "sam", "llava", "qwen2_vl", "qwen2_5_vl", "qwen3_vl",
                             "ovis2", "smolvlm", "deepseek_ocr2"}) {
    ModelInfo info = inspect_model(golden(family));
    EXPECT_EQ(info.problem, "");
    EXPECT_EQ(info.family, family);
    EXPECT_GT(info.parameters, 1000);
    for (const TensorCheck& check : self_test(golden(family))) {
      EXPECT_TRUE(check.ok()) << family << " " << check.name << " " << check.difference << " "
                              << check.problem;
    }
  }
}

TEST(Checkpoint, RandomCheckpointsOfOtherSizesRunAndAreReproducible) {
  for (const char* family : {"clip", "siglip", "sam", "llava", "qwen2_vl", "qwen2_5_vl", "qwen3_vl",
                             "ovis2", "smolvlm", "deepseek_ocr2"}) {
    Scratch scratch;
    json config = config_of(family);
    config.erase("vocab_size");
    if (config.contains("text_config")) {
      config["text_config"]["vocab_size"] = 811;
      config["text_config"]["num_hidden_layers"] = 5;
      config["text_config"]["intermediate_size"] = 72;
      config["text_config"].erase("mlp_layer_types");
    }
    write_text(scratch.path("c.json"), config.dump());
    int64_t count = init_checkpoint(scratch.path("c.json"), scratch.path("a"), "float32", 7, 60000);
    EXPECT_TRUE(fs::exists(scratch.path("a/model.safetensors.index.json"))) << family;
    EXPECT_EQ(inspect_model(scratch.path("a")).problem, "");
    EXPECT_EQ(inspect_model(scratch.path("a")).parameters, count);
    for (const TensorCheck& check : self_test(scratch.path("a"))) {
      EXPECT_TRUE(check.ok()) << family << " " << check.name << " " << check.problem;
    }
    init_checkpoint(scratch.path("c.json"), scratch.path("b"), "float32", 7, 60000);
    for (const auto& entry : fs::directory_iterator(scratch.path("a"))) {
      EXPECT_EQ(testing_support::read_text(entry.path()),
                testing_support::read_text(scratch.path("b/") + entry.path().filename().string()));
    }
  }
}

}  // namespace
}  // namespace arrcoc::hf
