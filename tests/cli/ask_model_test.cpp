// arrcoc ask --model: a Hugging Face folder answers, with few tokens or all.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/process.h"
#include "cli/small_model.h"

using namespace arrcoc::test;
using nlohmann::json;

namespace {

const std::string kGoldens = std::string(ARRCOC_TEST_DATA) + "/goldens";
const std::string kPicture = kGoldens + "/processors/img1.png";

Outcome ask(const std::string& model, const std::string& rest) {
  return run_arrcoc("ask --model " + model + " --max-new-tokens 6 " + rest);
}

json said(const Outcome& o) {
  EXPECT_EQ(o.code, 0) << o.err;
  return json::parse(o.out, nullptr, false);
}

TEST(AskModel, EveryModeAnswersWithinTheBudgetAndTheSameWayTwice) {
  Folder folder;
  const std::string model = make_model(folder, "qwen3_vl");
  for (const char* mode : {"native", "prune", "patches", "zoom"}) {
    const std::string line = kPicture +
                             " 'Where is the red car?' --json --details --budget 16 --policy "
                             "saliency --mode " +
                             mode;
    const json first = said(ask(model, line));
    const bool native = std::string(mode) == "native";
    EXPECT_GT(first["tokens"], 0);
    if (native) {
      EXPECT_EQ(first["tokens"], first["native_tokens"]);
    } else {
      EXPECT_LE(first["tokens"], 16);
    }
    EXPECT_GT(first["prompt_tokens"], first["tokens"]);
    EXPECT_EQ(first["completion_tokens"], 6);
    EXPECT_FALSE(first["calibrated"]);
    ASSERT_EQ(first["probabilities"].size(), 6U);
    for (const json& p : first["probabilities"]) EXPECT_TRUE(p > 0 && p <= 1);
    const json attention = first["passes"][0]["attention"];
    EXPECT_EQ(attention["values"].size(),
              attention["rows"].get<size_t>() * attention["cols"].get<size_t>());
    EXPECT_FALSE(attention["values"].empty());
    const json again =
        said(run_arrcoc("--threads 1 ask --model " + model + " --max-new-tokens 6 " + line));
    EXPECT_EQ(again["answer"], first["answer"]);
    EXPECT_EQ(again["tokens"], first["tokens"]);
  }
}

TEST(AskModel, DepthSaysHowManyTokensWentHowDeep) {
  Folder folder;
  const std::string model = make_model(folder, "qwen3_vl");
  const std::string line = kPicture +
                           " 'Where is the red car?' --json --budget 16 --policy "
                           "saliency --depth ";
  const json whole = said(ask(model, kPicture + " 'Where is the red car?' --json --budget 16 "
                                                "--policy saliency --mode patches"));
  const json full = said(ask(model, line + "0,0,0,1"));
  EXPECT_EQ(full["answer"], whole["answer"]);
  EXPECT_EQ(full["probabilities"], whole["probabilities"]);
  EXPECT_FALSE(whole["passes"][0].contains("depths"));
  const json early = said(ask(model, line + "0.5,0.25,0.25,0 --mode prune"));
  EXPECT_NE(early["probabilities"], whole["probabilities"]);
  int64_t sum = 0;
  const std::vector<int64_t> blocks = {2, 4, 5, 6};
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(early["passes"][0]["depths"][i]["blocks"], blocks[i]);
    sum += early["passes"][0]["depths"][i]["tokens"].get<int64_t>();
  }
  EXPECT_EQ(sum, early["native_tokens"]);  // prune encodes all of them
  EXPECT_EQ(early["passes"][0]["depths"][3]["tokens"], 0);
  for (const auto& [flags, why] : {std::pair{"1 --mode native", "has 1 numbers and wants 4"},
                                   {"deep", "no depth named 'deep'"},
                                   {"0,0,0,1 --mode zoom", "zoom encodes every token whole"}}) {
    const Outcome o = ask(model, line + flags);
    EXPECT_EQ(o.code, 1);
    EXPECT_NE(o.err.find(why), std::string::npos) << o.err;
  }
}

// Laid out as huggingface_hub does it; nobody listens at the hub's address.
TEST(AskModel, AnswersByNameFromTheCacheOfHuggingFace) {
  Folder folder;
  const std::string commit(40, 'a'), repo = folder / "hub/models--acme--small";
  std::filesystem::create_directories(repo + "/snapshots");
  std::filesystem::create_directories(repo + "/refs");
  const std::string model = make_model(folder, "qwen3_vl");
  std::filesystem::rename(model, repo + "/snapshots/" + commit);
  std::ofstream(repo + "/refs/main") << commit;
  const std::string line = "ask --max-new-tokens 6 --json --budget 16 --policy saliency " +
                           kPicture + " 'Where?' --model ";
  const std::string here = "HF_ENDPOINT=http://127.0.0.1:9 HF_HOME=" + folder.path();
  const json byName = said(run_arrcoc(line + "acme/small", here));
  const json byFolder = said(run_arrcoc(line + repo + "/snapshots/" + commit));
  EXPECT_EQ(byName["answer"], byFolder["answer"]);
  EXPECT_EQ(byName["model"], "acme/small");
  const Outcome none = run_arrcoc(line + "acme/smal --offline", here);
  EXPECT_EQ(none.code, 1);
  EXPECT_NE(none.err.find("acme/smal is not in " + (folder / "hub")), std::string::npos)
      << none.err;
}

TEST(AskModel, SeveralPicturesAndFurtherQuestionsShareOneConversation) {
  Folder folder;
  const std::string model = make_model(folder, "qwen2_5_vl");
  const json turns =
      said(ask(model, kPicture + " " + kGoldens +
                          "/processors/img0.png 'Compare them' --then 'Which is "
                          "older?' --then 'Why?' --json --details --budget 30 --mode prune "
                          "--relevance attention"))["turns"];
  ASSERT_EQ(turns.size(), 3U);
  for (const json& turn : turns) {
    EXPECT_EQ(turn["pictures"].size(), 2U);
    EXPECT_LE(turn["tokens"], 30);
  }
  EXPECT_EQ(turns[1]["question"], "Which is older?");
  EXPECT_GT(turns[2]["prompt_tokens"], turns[1]["prompt_tokens"]);
  EXPECT_NE(turns[0]["pictures"][0]["passes"][0]["map"],
            turns[1]["pictures"][0]["passes"][0]["map"]);
}

// Random weights are hardly ever sure and look everywhere.
TEST(AskModel, LooksAgainAsTheBundledModelDoes) {
  Folder folder;
  for (const char* family : {"qwen3_vl", "llava", "smolvlm"}) {
    const std::string model = make_model(folder, family), strip = folder / "strip.png";
    const Outcome o = ask(model, kPicture +
                                     " 'Where is the red car?' --json --details --budget 40 "
                                     "--policy saliency --passes 3 --total-budget 80 --gaze 20 30 "
                                     "--threshold 0.9 --strip " +
                                     strip);
    const json said_ = said(o);
    ASSERT_GE(said_["passes"].size(), 1U);
    EXPECT_LE(said_["tokens"], 80);
    EXPECT_EQ(said_["unsure"], said_["confidence"].get<double>() < 0.9);
    EXPECT_FALSE(said_["box"].is_null());
    for (const json& pass : said_["passes"]) {
      for (const char* key : {"uncertainty", "confidence", "gathered", "explore", "manner"})
        EXPECT_TRUE(pass.contains(key)) << key;
      EXPECT_FALSE(pass["attention"]["values"].empty());
    }
    EXPECT_GT(std::filesystem::file_size(strip), 100U);
    std::filesystem::remove(strip);
  }
}

TEST(AskModel, OneBudgetIsSpreadOverPicturesByRelevance) {
  Folder folder;
  const std::string model = make_model(folder, "qwen3_vl");
  for (const char* mode : {"prune", "zoom"}) {
    const auto shares = [&](const std::string& question) {
      const json out =
          said(ask(model, kPicture + " " + kGoldens + "/processors/img1.png '" + question +
                              "' --json --budget 60 --policy saliency " + "--mode " + mode));
      EXPECT_LE(out["tokens"], 60);
      return std::pair{out["pictures"][0]["tokens"].get<int>(),
                       out["pictures"][1]["tokens"].get<int>()};
    };
    const auto [first, second] = shares("What is in the second picture?");
    EXPECT_LE(first, second) << mode;  // the same picture twice: only the question tells them apart
    EXPECT_GE(first, 1);
  }
}

TEST(AskModel, SamplesBySeedAndReadsTheRelevanceOfASecondModel) {
  Folder folder;
  const std::string model = make_model(folder, "llava");
  const std::string clip = make_model(folder, "clip");
  const std::string line = kPicture +
                           " 'A red car' --json --budget 9 --mode patches --relevance "
                           "clip --relevance-model " +
                           clip + " --temperature 2 --top-p 0.9 --seed ";
  const json first = said(ask(model, line + "3"));
  EXPECT_LE(first["tokens"], 9);
  EXPECT_EQ(first["probabilities"], said(ask(model, line + "3"))["probabilities"]);
  EXPECT_NE(first["probabilities"], said(ask(model, line + "4"))["probabilities"]);
}

TEST(AskModel, DrawsWhereItLooked) {
  Folder folder;
  const std::string model = make_model(folder, "qwen2_vl");
  for (const char* mode : {"native", "zoom"}) {
    const std::string map = folder / (std::string(mode) + ".png");
    const Outcome o = ask(model, kPicture + " 'Where?' --policy saliency --budget 12 --mode " +
                                     mode + " --heatmap " + map);
    EXPECT_EQ(o.code, 0) << o.err;
    EXPECT_GT(std::filesystem::file_size(map), 100U);
    EXPECT_NE(o.out.find("\ntokens "), std::string::npos) << o.out;
  }
}

TEST(AskModel, BadUsageIsOneLine) {
  Folder folder;
  const std::string model = make_model(folder, "ovis2");
  const std::string plain = kPicture + " 'Where?' --policy saliency ";
  auto refused = [&](const Outcome& o, const std::string& why) {
    EXPECT_NE(o.code, 0) << why;
    EXPECT_NE(o.err.find(why), std::string::npos) << o.err;
    EXPECT_EQ(std::count(o.err.begin(), o.err.end(), '\n'), 1) << o.err;
    EXPECT_TRUE(o.out.empty()) << o.out;
  };
  refused(ask(model, plain + "--mode zoom"), "always spends the same number of tokens");
  refused(ask(model, plain + "--mode blur"), "no mode named 'blur'");
  refused(ask(model, plain + "--relevance clip"), "CLIP or SigLIP");
  refused(ask(model, plain + "--device warp"), "unknown device 'warp'");
  refused(ask(model, plain + "--dtype int3"), "unknown dtype 'int3'");
  refused(ask(model, kPicture + " ''"), "give a picture and a question");
  refused(ask(model, plain + "--passes 2 --mode native"), "mode native reads all of it");
  std::ofstream(folder / "film.mp4") << "no picture";
  refused(ask(model, (folder / "film.mp4") + " 'Where?'"), "arrcoc watch");
  refused(ask(model, folder.path() + " 'Where?'"), "arrcoc watch");
  refused(ask(folder / "nowhere", plain), "nowhere");
  refused(ask(kGoldens + "/clip", plain), "clip");
  refused(run_arrcoc("ask " + kPicture + " 'Where?' --mode prune"), "--mode needs --model");
  refused(run_arrcoc("ask " + kPicture + " Where is it"), "is the question in quotes?");
}

TEST(AskModel, OtherWeightsOfTheBundledModelAnswerAsWell) {
  Folder folder;
  const std::string sources = ARRCOC_SOURCE_DIR, tiny = sources + "/models/tiny";
  const std::string asked =
      "ask " + sources + "/examples/pictures/receipt.jpg 'What is the total?' ";
  std::filesystem::copy(tiny, folder / "own");
  const Outcome good = run_arrcoc(asked + "--model " + (folder / "own"));
  EXPECT_EQ(good.code, 0) << good.err;
  EXPECT_NE(good.out.find("answer      33.10"), std::string::npos) << good.out;
  const Outcome mode = run_arrcoc(asked + "--mode zoom --model " + (folder / "own"));
  EXPECT_EQ(mode.code, 1);
  EXPECT_NE(mode.err.find("--mode is for Hugging Face models"), std::string::npos) << mode.err;
  for (const auto& file : std::filesystem::directory_iterator(folder / "own"))
    if (file.path().extension() == ".safetensors") std::filesystem::resize_file(file, 1000);
  const Outcome cut = run_arrcoc(asked + "--model " + (folder / "own"));
  EXPECT_EQ(cut.code, 1);
  EXPECT_NE(cut.err.find("safetensors"), std::string::npos) << cut.err;
  EXPECT_EQ(std::count(cut.err.begin(), cut.err.end(), '\n'), 1) << cut.err;
}

// In 8 bits by type or by kernels, which is the same; what is not there is said.
TEST(AskModel, ComputesIn8BitsWhereItIsAskedTo) {
  Folder folder;
  const std::string model = make_model(folder, "qwen3_vl");
  const std::string line = kPicture + " 'Where is it?' --json --budget 16 --policy saliency ";
  const json floats = said(ask(model, line)), bytes = said(ask(model, line + "--dtype int8"));
  EXPECT_EQ(bytes["completion_tokens"], 6);
  EXPECT_EQ(bytes["tokens"], floats["tokens"]);
  const json off = said(ask(model, line + "--dtype int8 --kernels reference"));
  EXPECT_EQ(off["probabilities"], floats["probabilities"]);
  ASSERT_EQ(off["fallbacks"].size(), 1U);
  EXPECT_EQ(off["fallbacks"][0], "float32 instead of int8: reference kernels were asked for");
  if (!bytes["fallbacks"].empty()) return;  // no fast kernels here
  const std::string detail = line + "--details ";
  EXPECT_NE(said(ask(model, detail + "--dtype int8"))["passes"][0]["attention"],
            said(ask(model, detail))["passes"][0]["attention"]);
  EXPECT_EQ(said(ask(model, line + "--kernels fast"))["probabilities"], bytes["probabilities"]);
}

}  // namespace
