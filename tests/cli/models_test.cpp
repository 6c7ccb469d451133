#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cli/process.h"

using namespace arrcoc::test;
using nlohmann::json;

namespace {

std::string golden(const std::string& name) {
  return std::string(ARRCOC_TEST_DATA) + "/goldens/" + name;
}

TEST(ModelsCommand, CheckPrintsOneLineATensorAndPasses) {
  Outcome o = run_arrcoc("models check " + golden("qwen3_vl") + " --golden " +
                         golden("qwen3_vl/golden.safetensors"));
  EXPECT_EQ(o.code, 0) << o.err;
  for (const char* name :
       {"image_features", "deepstack_2", "logits", "sparse_logits", "generated"}) {
    EXPECT_NE(o.out.find(std::string("ok    ") + name), std::string::npos) << name << "\n" << o.out;
  }
}

TEST(ModelsCommand, CheckFailsWhenTheOutputsAreOthers) {
  Outcome o = run_arrcoc("models check " + golden("qwen2_5_vl") + " --golden " +
                         golden("qwen2_vl/golden.safetensors"));
  EXPECT_EQ(o.code, 1);
  EXPECT_NE(o.out.find("FAIL  logits"), std::string::npos) << o.out;
}

TEST(ModelsCommand, ChecksProcessorsAndTokenizers) {
  std::string images = golden("processors");
  for (const char* name : {"clip", "siglip", "qwen2_vl", "qwen3_vl"}) {
    Outcome o = run_arrcoc("models check --processor " + images + "/" + name + ".json --golden " +
                           images + "/" + name + ".safetensors --images " + images);
    EXPECT_EQ(o.code, 0) << o.out << o.err;
    EXPECT_NE(o.out.find("ok    img2.pixel_values"), std::string::npos) << o.out;
  }
  std::string folder = golden("tokenizers");
  Outcome good = run_arrcoc("models check --tokenizer " + folder + "/qwen_style.json --golden " +
                            folder + "/qwen_style.golden.json");
  EXPECT_EQ(good.code, 0) << good.out;
  Outcome bad = run_arrcoc("models check --tokenizer " + folder + "/qwen_style.json --golden " +
                           folder + "/llama_style.golden.json");
  EXPECT_EQ(bad.code, 1);
  EXPECT_NE(bad.out.find("FAIL"), std::string::npos);
}

TEST(ModelsCommand, ListsInspectsAndTestsWhatItMade) {
  Folder folder;
  Outcome made = run_arrcoc("models init --config " + golden("qwen2_vl/config.json") + " --out " +
                            (folder / "m") + " --dtype float16 --seed 5");
  ASSERT_EQ(made.code, 0) << made.err;
  Outcome info = run_arrcoc("models info " + (folder / "m") + " --json");
  ASSERT_EQ(info.code, 0) << info.err;
  json about = json::parse(info.out);
  EXPECT_EQ(about["family"], "qwen2_vl");
  EXPECT_EQ(about["dtype"], "float16");
  EXPECT_EQ(about["stored_bytes"], about["parameters"].get<int64_t>() * 2);
  EXPECT_EQ(run_arrcoc("models check " + (folder / "m")).code, 0);
  Outcome list = run_arrcoc("models list " + folder.path() + " --json");
  ASSERT_EQ(list.code, 0) << list.err;
  json all = json::parse(list.out);
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0]["loadable"], true);
}

TEST(ModelsCommand, KnowsWeightsOfTheBundledModel) {
  Folder folder;
  const std::string tiny = std::string(ARRCOC_SOURCE_DIR) + "/models/tiny";
  Outcome list = run_arrcoc("models list " + tiny + " --json");
  ASSERT_EQ(list.code, 0) << list.err;
  const json about = json::parse(list.out)[0];
  EXPECT_EQ(about["family"], "arrcoc-tiny-1");
  EXPECT_EQ(about["dtype"], "int8");
  EXPECT_EQ(about["loadable"], true);
  EXPECT_GT(about["parameters"], 19'000'000);
  EXPECT_GT(about["stored_bytes"], 15'000'000);
  Outcome check = run_arrcoc("models check " + tiny);
  EXPECT_EQ(check.code, 0) << check.out << check.err;
  EXPECT_NE(check.out.find("ok    relevance alone and together"), std::string::npos) << check.out;

  std::filesystem::create_directories(folder / "m");
  std::filesystem::copy(tiny + "/config.json", folder / "m/config.json");
  Outcome broken = run_arrcoc("models list " + folder.path() + " --json");
  ASSERT_EQ(broken.code, 0) << broken.err;
  EXPECT_EQ(json::parse(broken.out)[0]["loadable"], false);
  EXPECT_EQ(run_arrcoc("models check " + (folder / "m")).code, 1);
}

TEST(ModelsCommand, BrokenFoldersAreOneLineThatNamesTheFile) {
  Folder folder;
  std::filesystem::create_directories(folder / "m");
  std::filesystem::copy(golden("llava/config.json"), folder / "m/config.json");
  std::string weights = slurp(golden("llava/model.safetensors"));
  std::ofstream(folder / "m/model.safetensors", std::ios::binary)
      << weights.substr(0, weights.size() - 100);
  for (const char* command : {"models info ", "models check "}) {
    Outcome o = run_arrcoc(command + (folder / "m"));
    EXPECT_EQ(o.code, 1);
    EXPECT_NE(o.err.find("model.safetensors: tensor"), std::string::npos) << o.err;
    EXPECT_EQ(std::count(o.err.begin(), o.err.end(), '\n'), 1) << o.err;
  }
  Outcome list = run_arrcoc("models list " + folder.path());
  EXPECT_EQ(list.code, 0);
  EXPECT_NE(list.out.find("truncated"), std::string::npos) << list.out;
  const Outcome nothing = run_arrcoc("models info " + folder.path());
  EXPECT_EQ(nothing.code, 1);
  EXPECT_EQ(nothing.out, "");  // no table of nothing
  EXPECT_NE(nothing.err.find("config.json"), std::string::npos) << nothing.err;
  EXPECT_EQ(run_arrcoc("models check").code, 1);
  EXPECT_EQ(run_arrcoc("models frobnicate").code, 2);
}

}  // namespace
