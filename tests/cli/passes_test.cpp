// arrcoc ask --passes and several pictures, arrcoc eval --policy passes, arrcoc passes --fit.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "cli/process.h"

using namespace arrcoc::test;
using nlohmann::json;

namespace {

const std::string kPictures = std::string(ARRCOC_SOURCE_DIR) + "/examples/pictures/";

json json_of(const Outcome& o) {
  EXPECT_EQ(o.code, 0) << o.err;
  return json::parse(o.out, nullptr, false);
}

void expect_one_line_error(const Outcome& o, const std::string& part) {
  EXPECT_NE(o.code, 0);
  EXPECT_EQ(std::count(o.err.begin(), o.err.end(), '\n'), 1) << o.err;
  EXPECT_NE(o.err.find(part), std::string::npos) << o.err;
  EXPECT_EQ(o.out, "");
}

}  // namespace

TEST(Passes, TheHistoryIsToldAndTheTotalHolds) {
  Folder folder;
  // Nothing is ever sure enough, and every answer counts as read from one place or not at all.
  const json j = json_of(run_arrcoc("--threads 1 ask " + kPictures +
                                    "receipt.jpg 'What is the total?' --passes 3 --budget 100 "
                                    "--total-budget 150 --confident 1 --json --details --strip " +
                                    folder / "strip.png"));
  const json& passes = j["passes"];
  ASSERT_GE(passes.size(), 1U);
  EXPECT_LE(passes.size(), 3U);
  int sum = 0;
  for (const json& p : passes) {
    sum += p["tokens"].get<int>();
    EXPECT_EQ(p["map"]["values"].size(), p["attention"]["values"].size());
    EXPECT_GE(p["uncertainty"], 0);
    EXPECT_LE(p["uncertainty"], 1);
  }
  EXPECT_EQ(j["tokens"], sum);
  EXPECT_LE(sum, 150);
  EXPECT_EQ(passes[0]["manner"], "first");
  EXPECT_LE(passes[0]["tokens"], 90);  // a share of what a single look would get
  const size_t best = j["best_pass"].get<size_t>() - 1;
  EXPECT_EQ(passes[best]["answer"], j["answer"]);
  for (const json& p : passes)  // a closer look that is unsure is doubted
    if (p["manner"] != "closer") EXPECT_LE(p["confidence"], passes[best]["confidence"]);
  EXPECT_GT(std::filesystem::file_size(folder / "strip.png"), 1000U);
}

TEST(Passes, AGazeMovesTheFirstLook) {
  const std::string line =
      "--threads 1 ask " + kPictures +
      "receipt.jpg 'What is the total?' --passes 1 --budget 64 --json --details";
  const json plain = json_of(run_arrcoc(line)), gaze = json_of(run_arrcoc(line + " --gaze 40 40"));
  EXPECT_GT(gaze["passes"][0]["map"]["values"][0], plain["passes"][0]["map"]["values"][0]);
  expect_one_line_error(run_arrcoc(line + " --gaze 99999 1"), "pixel of the picture");
}

TEST(Passes, EvalComparesThemWithASingleLookInPairs) {
  const json j =
      json_of(run_arrcoc("--threads 1 eval --suite hard --limit 4 --policy "
                         "realized,passes --budget 100 --json"));
  const json& d = j["differences"]["passes"]["all"];
  EXPECT_EQ(d["questions"], 4);
  const double expected = j["policies"]["passes"]["exact_match"].get<double>() -
                          j["policies"]["realized"]["exact_match"].get<double>();
  EXPECT_NEAR(d["exact_match"].get<double>(), expected, 1e-4);
  EXPECT_LE(d["exact_match_95"][0], d["exact_match"]);
  EXPECT_GE(d["exact_match_95"][1], d["exact_match"]);
}

TEST(Passes, ASingleLookMayGetWhatPassesSpent) {
  const json j =
      json_of(run_arrcoc("--threads 1 eval --suite hard,documents --limit 4 --policy "
                         "realized,passes --budget 100 --equal-totals passes --json"));
  for (const char* suite : {"hard", "documents"}) {
    const json& d = j["differences"]["passes"][suite];
    EXPECT_EQ(d["questions"], 4);
    EXPECT_NEAR(d["tokens"].get<double>(), d["tokens_of_first"].get<double>(), 4) << suite;
  }
  expect_one_line_error(run_arrcoc("eval --suite hard --policy realized --equal-totals passes"),
                        "--equal-totals");
  expect_one_line_error(run_arrcoc("eval --equal-totals passes"), "--suite");
}

// Also in folders, and for another policy that looks again; what was asked for is what is told.
TEST(Passes, EqualTotalsHoldInFoldersAndForEveryPolicy) {
  Folder folder;
  const std::string made =
      "synth --kind hard --count 2 --questions 2 --seed 880001 --out " + folder.path();
  ASSERT_EQ(run_arrcoc(made).code, 0);
  const std::string line = "--threads 1 eval --data " + folder.path() +
                           " --policy realized,passes,history --budget 100 --equal-totals passes";
  const std::string diagram = folder / "reliability.png", said = folder / "said.jsonl";
  const json j =
      json_of(run_arrcoc(line + " --json --reliability " + diagram + " --predictions " + said));
  EXPECT_EQ(j["budget"], "100");
  EXPECT_EQ(j["data"], json::array({folder.path()}));
  EXPECT_TRUE(std::filesystem::exists(diagram));
  const json& alone = j["differences"]["passes"]["all"];
  EXPECT_EQ(alone["questions"], 4);
  EXPECT_NEAR(alone["tokens"].get<double>(), alone["tokens_of_first"].get<double>(), 4);
  EXPECT_EQ(j["policies"]["history"]["questions"], 4);
  std::ifstream lines(said);
  std::map<std::string, int> rows;
  for (std::string one; std::getline(lines, one);) ++rows[json::parse(one)["row"]];
  EXPECT_EQ(rows, (std::map<std::string, int>{{"history", 4}, {"passes", 4}, {"realized", 4}}));
  expect_one_line_error(
      run_arrcoc("eval --metric gaze --equal-totals passes --data " + folder.path()),
      "--equal-totals");
  expect_one_line_error(run_arrcoc("eval --calibrate " + folder.path() + " --equal-totals passes"),
                        "--equal-totals");
}

TEST(Pictures, PairsShareOneBudget) {
  const json j = json_of(run_arrcoc("--threads 1 eval --pairs --limit 2 --budget 96 --json"));
  EXPECT_EQ(j["questions"], 2);
  EXPECT_LE(j["most_tokens"], 96);
  EXPECT_GE(j["exact_match"], 0);
  const json apart = json_of(
      run_arrcoc("--threads 1 eval --pairs --intent pair.different --limit 2 --budget 100 --json"));
  EXPECT_EQ(apart["questions"], 2);
  ASSERT_EQ(apart["intents"].size(), 1U);
  EXPECT_TRUE(apart["intents"].contains("pair.different"));
  expect_one_line_error(run_arrcoc("eval --pairs --intent pair.weather"), "pair.weather");
  expect_one_line_error(run_arrcoc("eval --suite hard --intent pair.which"), "--pairs");
}

TEST(Clips, ConstantsAreFittedIntoAFile) {
  Folder folder;
  const std::string file = folder / "film.json";
  const json fit = json_of(
      run_arrcoc("--threads 1 clips --count 2 --movers 2 --policy saliency --json --fit " + file));
  EXPECT_GT(fit["decay"], 0);
  const json& measured = fit["measured"];
  EXPECT_TRUE(measured["better"].is_boolean());
  EXPECT_EQ(measured["clips_held_aside"].size(), 3U);
  EXPECT_EQ(measured["movers_held_aside"].size(), 3U);
  EXPECT_EQ(measured["tried"].size(), fit.size() - 1);  // the same constants, nothing measured
  if (measured["better"] == true) {
    EXPECT_EQ(measured["tried"]["decay"], fit["decay"]);
  }
  EXPECT_EQ(json::parse(std::ifstream(file)), fit);
  expect_one_line_error(run_arrcoc("clips --data " + folder.path() + " --fit " + file),
                        "generated clips");
}

TEST(Passes, ALearnedPolicyIsFittedAndUsed) {
  Folder folder;
  const std::string file = folder / "passes.json";
  const json fit =
      json_of(run_arrcoc("--threads 1 passes --limit 40 --budget 64 --json --fit " + file));
  EXPECT_GE(fit["measured"]["fitted_on"]["questions"], 15);
  const json j = json_of(run_arrcoc("--threads 1 ask " + kPictures +
                                    "chart.jpg 'What is the title?' --passes 2 --budget 64 "
                                    "--json --pass-policy " +
                                    file));
  EXPECT_TRUE(j["stopped"] == "not worth it" || j["stopped"] == "passes") << j["stopped"];
  std::ofstream(folder / "bad.json") << "{\"right\": 3}";
  expect_one_line_error(run_arrcoc("ask " + kPictures +
                                   "chart.jpg 'Title?' --passes 2 "
                                   "--pass-policy " +
                                   folder / "bad.json"),
                        "right");
}

TEST(Pictures, AComparisonIsAskedOfEachAndAnsweredByItsPlace) {
  const json j =
      json_of(run_arrcoc("--threads 1 ask " + kPictures + "receipt.jpg " + kPictures +
                         "chart.jpg 'Which picture shows the total?' --budget 90 --json"));
  EXPECT_EQ(j["each"], "Where is the total?");
  EXPECT_TRUE(j["answer"] == "first picture" || j["answer"] == "second picture");
  EXPECT_LE(j["tokens"], 90);
  ASSERT_EQ(j["pictures"].size(), 2U);
}
