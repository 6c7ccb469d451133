#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <opencv2/imgcodecs.hpp>
#include <thread>

#include "cli/process.h"
#include "ports.h"

using namespace arrcoc::test;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

const std::string kSmoke = std::string(ARRCOC_SOURCE_DIR) + "/configs/smoke.json";

void expect_refused(const std::string& arguments, const std::string& part) {
  const Outcome o = run_arrcoc("train " + arguments);
  EXPECT_NE(o.code, 0) << arguments;
  EXPECT_NE(o.err.find(part), std::string::npos) << o.err;
  EXPECT_EQ(o.out, "");
}

}  // namespace

TEST(CliTrain, TrainsWritesWeightsAndDrawsItsCurves) {
  Folder folder;
  const std::string out = folder / "run";
  const Outcome o = run_arrcoc(
      "train --config " + kSmoke + " --steps 2 --out " + out +
      " --set report_seconds=0 --set held_out=1 --set pictures=2 --set canvas=256 --json");
  ASSERT_EQ(o.code, 0) << o.err;
  const json result = json::parse(o.out);
  EXPECT_EQ(result["steps"], 2);
  EXPECT_TRUE(fs::exists(fs::path(out) / "weights" / "config.json"));
  const cv::Mat curves = cv::imread(result["curves"].get<std::string>());
  ASSERT_FALSE(curves.empty());
  // Broken lines, as a killed writer leaves them, do not stop the drawing.
  std::ofstream(fs::path(out) / "metrics.jsonl", std::ios::app) << "{\"step\": 3, \"ans";
  EXPECT_EQ(run_arrcoc("train --curves " + out).code, 0);
  // int8 weights load as the bundled ones do.
  const std::string small = folder / "int8";
  const Outcome exported =
      run_arrcoc("train --export-int8 " + out + "/weights --out " + small + " --json");
  ASSERT_EQ(exported.code, 0) << exported.err;
  EXPECT_GT(json::parse(exported.out)["bytes"].get<int64_t>(), 0);
  EXPECT_EQ(json::parse(std::ifstream(fs::path(small) / "config.json"))["weights"], "int8");
}

TEST(CliTrain, TwoProcessesEndWhereOneDoes) {
  Folder folder;
  const std::string same = "train --config " + kSmoke +
                           " --steps 3 --set fresh=4 --set accumulate=2 --set held_out=1 "
                           "--set canvas=256 --set reading=0.4 --set own_maps_start=1 --json";
  ASSERT_EQ(run_arrcoc(same + " --out " + folder / "one").code, 0);
  const std::string world =
      "WORLD_SIZE=2 MASTER_ADDR=127.0.0.1 MASTER_PORT=" + std::to_string(free_port()) + " RANK=";
  const std::string second = "(" + world + "1 " + ARRCOC_BINARY + " " + same + " --out " +
                             folder / "b" + " >" + folder / "b.out" + " 2>&1; echo $? >" +
                             folder / "b.tmp" + "; mv " + folder / "b.tmp" + " " + folder / "b.rc" +
                             ") & ";
  const Outcome o = run_arrcoc(same + " --out " + folder / "two", second + world + "0");
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(json::parse(o.out)["steps"], 3);
  const std::string shard = "/weights/model-s3-00001-of-00001.safetensors";
  const std::string one = slurp((folder / "one") + shard), two = slurp((folder / "two") + shard);
  ASSERT_FALSE(one.empty());
  EXPECT_TRUE(one == two);
  while (!fs::exists(folder / "b.rc")) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_EQ(slurp(folder / "b.rc"), "0\n") << slurp(folder / "b.out");
  EXPECT_FALSE(fs::exists(folder / "b" + std::string("/weights")));  // only the first writes
}

TEST(CliTrain, HalfAnEnvironmentIsRefused) {
  const Outcome o = run_arrcoc("train --config " + kSmoke + " --steps 1", "WORLD_SIZE=2 RANK=5");
  EXPECT_NE(o.code, 0);
  EXPECT_NE(o.err.find("RANK"), std::string::npos) << o.err;
}

TEST(CliTrain, NothingToTrainOnIsOneLine) {
  const std::string model = std::string(ARRCOC_SOURCE_DIR) + "/models/tiny";
  for (const std::string& rest : {std::string(), "--steps 1 --init " + model}) {
    const Outcome o = run_arrcoc("train " + rest);
    EXPECT_EQ(o.code, 1);
    EXPECT_NE(o.err.find("--data DIR"), std::string::npos) << o.err;
    EXPECT_EQ(std::count(o.err.begin(), o.err.end(), '\n'), 1) << o.err;
  }
}

TEST(CliTrain, PoliciesFromAConfigurationAreFittedAndRefuseUnknownKeys) {
  Folder folder;
  const std::string config = folder / "policies.json", out = folder / "fitted.json";
  std::ofstream(config) << R"({"policies": {"questions": 72, "couplings": ["lexical"]}})";
  std::ofstream(out) << R"({"outcome": {"kept": true}})";
  const Outcome o = run_arrcoc("train --config " + config + " --out " + out + " --json");
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(json::parse(o.out)["measured"].size(), 5U);
  const json file = json::parse(slurp(out));
  EXPECT_TRUE(file.contains("experts"));
  EXPECT_EQ(file["outcome"]["kept"], true);
  std::ofstream(config) << R"({"policies": {"question": 72}})";
  const Outcome wrong = run_arrcoc("train --config " + config + " --out " + out);
  EXPECT_NE(wrong.code, 0);
  EXPECT_NE(wrong.err.find("unknown key 'question'"), std::string::npos) << wrong.err;
}

TEST(CliTrain, TheBalancerIsFittedOnAnswersAndTheFilesOtherPartsStay) {
  Folder folder;
  const std::string out = folder / "policies.json";
  std::ofstream(out) << R"({"experts": {"kept": true}})";
  const Outcome o = run_arrcoc("train --balancer 12 --out " + out + " --json");
  ASSERT_EQ(o.code, 0) << o.err;
  const json report = json::parse(o.out);
  const int kept = 12 - report["fitted_on"].get<int>();  // of every fourth picture
  EXPECT_GE(kept, 1);
  EXPECT_LE(kept, 3);
  EXPECT_GT(report["expected_after"].get<double>(), report["expected_before"].get<double>());
  ASSERT_EQ(report["kept_back"].size(), 15U);
  EXPECT_EQ(report["kept_back"][0]["points"], json({0.0, 0.0, 0.0}));
  for (const json& row : report["kept_back"]) EXPECT_EQ(row["questions"], kept) << row["what"];
  const json file = json::parse(slurp(out));
  EXPECT_EQ(file["experts"]["kept"], true);
  EXPECT_EQ(file["outcome"]["out_bias"].size(), 6U);
  expect_refused("--balancer 12", "--out");
}

TEST(CliTrain, RefusesWhatItDoesNotKnow) {
  expect_refused("--config /nowhere.json", "/nowhere.json");
  expect_refused("--config " + kSmoke + " --set minuts=3", "minuts");
  expect_refused("--config " + kSmoke + " --set rate", "NAME=VALUE");
  expect_refused("--curves /nowhere", "metrics.jsonl");
  expect_refused("--export-int8 /nowhere", "--out");
}
