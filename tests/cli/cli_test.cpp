#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>

#include "cli/process.h"

using namespace arrcoc::test;
using nlohmann::json;

namespace {

// A page with a red box and some lines; the format follows the extension.
void draw(const std::string& path, int width = 640, int height = 480) {
  cv::Mat page(height, width, CV_8UC3, cv::Scalar(235, 235, 235));
  cv::rectangle(page, {width / 10, height / 10}, {width / 4, height / 4}, {20, 20, 220},
                cv::FILLED);
  for (int y = height / 2; y < height - 20; y += 30) {
    cv::putText(page, "TOTAL 12.90", {width / 8, y}, cv::FONT_HERSHEY_SIMPLEX, 0.6, {30, 30, 30}, 1,
                cv::LINE_AA);
  }
  ASSERT_TRUE(cv::imwrite(path, page));
}

void expect_one_line_error(const Outcome& o, const std::string& part = "") {
  EXPECT_TRUE(o.code == 1 || o.code == 2) << o.code << " " << o.err;
  EXPECT_EQ(std::count(o.err.begin(), o.err.end(), '\n'), 1) << o.err;
  EXPECT_NE(o.err.find(part), std::string::npos) << o.err;
  EXPECT_EQ(o.out, "");
}

class Cli : public ::testing::Test {
 protected:
  void SetUp() override { draw(folder / "page.png"); }
  Folder folder;
  std::string page() const { return folder / "page.png"; }
};

}  // namespace

TEST(Command, ThatIsUnknownIsNamedWithThoseSpeltNearlySo) {
  expect_one_line_error(run_arrcoc("frobnicate"),
                        "no command 'frobnicate'; there are ask, bench, ");
  expect_one_line_error(run_arrcoc("benhc --out x"), "no command 'benhc'; did you mean bench?");
  expect_one_line_error(run_arrcoc("models lst"), "no command 'lst'; did you mean list?");
}

TEST_F(Cli, LookPrintsTheWholeJson) {
  Outcome o = run_arrcoc("look " + page() + " 'What is the red thing?' --budget 100 --json");
  ASSERT_EQ(o.code, 0) << o.err;
  json j = json::parse(o.out);
  EXPECT_EQ(j["image"]["width"], 640);
  EXPECT_EQ(j["image"]["height"], 480);
  EXPECT_EQ(j["question"], "What is the red thing?");
  EXPECT_EQ(j["budget"], 100);
  EXPECT_LE(j["tokens"].get<int>(), 100);
  EXPECT_EQ(j["leaves"].size(), j["tokens"].get<size_t>());
  EXPECT_EQ(j["map"]["values"].size(),
            j["map"]["rows"].get<size_t>() * j["map"]["cols"].get<size_t>());
  for (const char* key : {"weights", "milliseconds", "fallbacks"}) {
    EXPECT_TRUE(j.contains(key)) << key;
  }
  // The leaves tile the picture exactly once, in pixels of the canvas: it is a small one.
  EXPECT_EQ(j["canvas"]["width"], 1024);
  EXPECT_EQ(j["canvas"]["height"], 768);
  double area = 0;
  for (const json& l : j["leaves"]) {
    const int size = l["size"];
    EXPECT_EQ(size, 16 << l["level"].get<int>());
    const int x = l["x"], y = l["y"];
    area += (std::min(1024, x + size) - x) * (std::min(768, y + size) - y);
  }
  EXPECT_EQ(area, 1024 * 768);
}

TEST_F(Cli, SameSeedSameBytesOnOneAndTwoThreads) {
  const std::string args = page() + " 'the text at the bottom' --json --heatmap ";
  Outcome one = run_arrcoc("--threads 1 look " + args + folder / "a.png");
  Outcome two = run_arrcoc("--threads 2 look " + args + folder / "b.png");
  ASSERT_EQ(one.code, 0) << one.err;
  json a = json::parse(one.out);
  json b = json::parse(two.out);
  EXPECT_EQ(a["leaves"], b["leaves"]);
  EXPECT_EQ(a["map"], b["map"]);
  EXPECT_EQ(slurp(folder / "a.png"), slurp(folder / "b.png"));
  EXPECT_GT(slurp(folder / "a.png").size(), 1000u);
}

TEST_F(Cli, ReadsStandardInputAndWritesAllPictures) {
  Outcome o = run_arrcoc("look - 'what?' --heatmap " + folder / "h.png" + " --seen " +
                             folder / "s.png" + " --relevance " + folder / "r.png",
                         "cat " + page() + " |");
  ASSERT_EQ(o.code, 0) << o.err;
  for (const char* name : {"h.png", "s.png", "r.png"}) {
    EXPECT_FALSE(cv::imread(folder / name).empty()) << name;
  }
  EXPECT_NE(o.out.find("tokens"), std::string::npos);
}

TEST_F(Cli, FullChannelsAndEveryPolicyRun) {
  for (const char* policy : {"full", "lexical", "text", "saliency", "breadth-first", "random"}) {
    Outcome o = run_arrcoc("look " + page() + " 'What is the total?' --json --policy " + policy);
    ASSERT_EQ(o.code, 0) << policy << o.err;
    EXPECT_LE(json::parse(o.out)["tokens"].get<int>(), 180);
  }
  Outcome o =
      run_arrcoc("look " + page() + " 'x y' --json --policy lexical --channels full --statistics");
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(json::parse(o.out)["statistics"][0]["stage"], "look.information");
}

TEST_F(Cli, AskAnswersWithTheBundledModel) {
  const std::string line = "ask " + page() + " 'What is the total?' --budget 100";
  Outcome o = run_arrcoc(line + " --json --heatmap " + folder / "h.png");
  ASSERT_EQ(o.code, 0) << o.err;
  const json j = json::parse(o.out);
  EXPECT_EQ(j["policy"], "realized");
  EXPECT_LE(j["tokens"].get<int>(), 100);
  EXPECT_EQ(j["native_tokens"], 1200);
  EXPECT_TRUE(j["answer"].is_string());
  EXPECT_EQ(j["unsure"], j["confidence"].get<double>() < 0.5);
  EXPECT_TRUE(j["milliseconds"].contains("reading"));
  EXPECT_FALSE(cv::imread(folder / "h.png").empty());
  Outcome text = run_arrcoc(line);
  ASSERT_EQ(text.code, 0) << text.err;
  EXPECT_NE(text.out.find("confidence"), std::string::npos);
  expect_one_line_error(run_arrcoc(line, "ARRCOC_MODELS=/nowhere"), "ARRCOC_MODELS");
}

// Far more threads than cores wait for each other; and a few tokens show no print.
TEST_F(Cli, AskBoundsThreadsAndDoubtsAnAnswerOfNothing) {
  const std::string receipt = std::string(ARRCOC_SOURCE_DIR) + "/examples/pictures/receipt.jpg";
  const Outcome o =
      run_arrcoc("--threads 1000 ask " + receipt + " 'What is the total?' --budget 3 --json");
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_NE(o.err.find("arrcoc: --threads 1000: "), std::string::npos) << o.err;
  const json said = json::parse(o.out);
  EXPECT_EQ(said["answer"], "none");
  EXPECT_EQ(said["unsure"], true);
}

TEST_F(Cli, AskTakesABatchAndGoesOnAfterABadLine) {
  std::ofstream(folder / "questions.jsonl")
      << R"({"image":"page.png","question":"What is the total?"})"
      << "\n"
      << "{broken\n\n"
      << R"({"image":"none.png","question":"What is the total?"})"
      << "\n"
      << R"({"image":"page.png","question":"Which colour?"})"
      << "\n";
  const Outcome o = run_arrcoc("ask --batch " + folder / "questions.jsonl" + " --budget fast");
  EXPECT_EQ(o.code, 1);
  EXPECT_NE(o.err.find("2 of 4"), std::string::npos) << o.err;
  std::istringstream lines(o.out);
  std::vector<json> replies;
  for (std::string line; std::getline(lines, line);) replies.push_back(json::parse(line));
  ASSERT_EQ(replies.size(), 4u);
  EXPECT_TRUE(replies[0].contains("answer"));
  EXPECT_LE(replies[0]["tokens"].get<int>(), 64);
  EXPECT_TRUE(replies[1].contains("error"));
  EXPECT_NE(replies[2]["error"].get<std::string>().find("none.png"), std::string::npos);
  EXPECT_EQ(replies[3]["line"], 5);
  const auto seeing = [&](int i) { return replies[i]["milliseconds"]["seeing"].get<double>(); };
  EXPECT_LT(seeing(3), 0.1 * seeing(0));  // the picture is remembered
  std::ofstream(folder / "good.jsonl") << R"({"image":"page.png","question":"What?"})"
                                       << "\n";
  EXPECT_EQ(run_arrcoc("ask --batch " + folder / "good.jsonl").code, 0);
  expect_one_line_error(run_arrcoc("ask --batch " + folder / "nowhere.jsonl"), "nowhere");
  expect_one_line_error(run_arrcoc("ask " + page()), "question");
  expect_one_line_error(run_arrcoc("ask " + page() + " 'what?' --policy oracle"), "oracle");
  expect_one_line_error(run_arrcoc("ask " + page() + " 'what?' --policy nobody"), "nobody");
}

TEST_F(Cli, AskDecidesHowManyTokensAndSaysWhereItRead) {
  const Outcome o = run_arrcoc("ask " + page() + " 'What is the total?' --json");
  ASSERT_EQ(o.code, 0) << o.err;
  const json j = json::parse(o.out);
  EXPECT_GE(j["budget"].get<int>(), 64);
  EXPECT_LE(j["budget"].get<int>(), 400);
  EXPECT_LE(j["tokens"].get<int>(), j["budget"].get<int>());
  if (j["answer"] != "none" && j["answer"] != "") {
    ASSERT_EQ(j["box"].size(), 4u);
    EXPECT_LT(j["box"][0].get<double>(), j["box"][2].get<double>());
    EXPECT_LE(j["box"][2].get<double>(), 640);
    EXPECT_LE(j["box"][3].get<double>(), 480);
  }
  const Outcome all = run_arrcoc("ask " + page() + " 'What is the total?' --json --policy native");
  ASSERT_EQ(all.code, 0) << all.err;
  EXPECT_EQ(json::parse(all.out)["tokens"], 1200);
}

TEST_F(Cli, EvalAsksASuiteWithItsBaselinesInOneTable) {
  const Outcome o = run_arrcoc(
      "eval --suite charts --limit 2 --policy realized,oracle,resize,random --budget 100 --json");
  ASSERT_EQ(o.code, 0) << o.err;
  const json j = json::parse(o.out);
  for (const char* policy : {"realized", "oracle", "resize", "random"}) {
    const json& row = j["policies"][policy];
    EXPECT_EQ(row["questions"], 2) << policy;
    EXPECT_LE(row["most_tokens"].get<int>(), 100) << policy;
    EXPECT_LE(row["exact_match_95"][0].get<double>(), row["exact_match"].get<double>());
    EXPECT_LE(row["exact_match"].get<double>(), row["anls"].get<double>() + 1e-9);
    EXPECT_EQ(row["suites"]["charts"]["questions"], 2);
    EXPECT_FALSE(row["complexity"].empty());
    EXPECT_FALSE(row["budgets"].empty());
  }
  EXPECT_EQ(j["maps"]["distinctiveness"]["pairs"], 1);
  const Outcome text = run_arrcoc("eval --suite charts --limit 2 --policy realized --budget 64");
  ASSERT_EQ(text.code, 0) << text.err;
  EXPECT_NE(text.out.find("exact match"), std::string::npos);
  expect_one_line_error(run_arrcoc("eval --suite nowhere"), "nowhere");
  expect_one_line_error(run_arrcoc("eval"), "--suite");
}

TEST_F(Cli, EvalComparesTwoFoldersOfWeights) {
  const std::string tiny = std::string(ARRCOC_SOURCE_DIR) + "/models/tiny";
  const std::string both = "eval --weights " + tiny + " --weights " + tiny;
  const Outcome o = run_arrcoc(both + " --suite charts,documents --limit 2 --budget 64 --json");
  ASSERT_EQ(o.code, 0) << o.err;
  const json j = json::parse(o.out);
  EXPECT_EQ(j["questions"], 4);
  EXPECT_EQ(j["same_answers"], 1);
  EXPECT_EQ(j["anls_95"], json({0, 0}));
  EXPECT_EQ(j["parts"]["charts"]["questions"], 2);
  EXPECT_EQ(j["weights"][1]["folder"], tiny);
  EXPECT_EQ(j["different"], json::array());
  expect_one_line_error(run_arrcoc(both), "--suite");
  expect_one_line_error(run_arrcoc("eval --suite charts --weights " + tiny), "--weights B");
}

TEST_F(Cli, EvalComparesKernels) {
  expect_one_line_error(run_arrcoc("eval --against reference --kernels reference --suite charts"),
                        "both would be reference");
  expect_one_line_error(run_arrcoc("eval --against quick --suite charts"), "quick");
  expect_one_line_error(run_arrcoc("eval --against reference"), "--data DIR");
  std::ofstream(folder / "items.jsonl")
      << R"({"id":"a","image":"page.png","width":640,"height":480,"question":"What is the total?",)"
      << R"("answer":"12.90","answer_boxes":[[64,48,160,120]],"kind":"total"})"
      << "\n";
  const std::string fast = "eval --kernels fast --against reference --data " + folder.path();
  const Outcome o = run_arrcoc(fast + " --json");
  if (o.code != 0) {  // a machine without them says so
    expect_one_line_error(o, "no fast kernels");
    return;
  }
  const json j = json::parse(o.out);
  EXPECT_EQ(j["questions"], 1);
  EXPECT_EQ(j["kernels"][0]["kernels"], "reference (chosen)");
  EXPECT_EQ(j["kernels"][1]["kernels"].get<std::string>().rfind("fast (", 0), 0U);
  EXPECT_EQ(j["different"].size(), j["same_answers"] == 1 ? 0U : 1U);
  EXPECT_LT(j["map_distance"].get<double>(), 0.05);
  const Outcome text = run_arrcoc(fast);
  EXPECT_NE(text.out.find("less reference"), std::string::npos) << text.out;
}

TEST_F(Cli, ZoomGivesCropsUnderTheBudget) {
  Outcome o =
      run_arrcoc("look " + page() + " 'the red thing' --allocator zoom --budget 120 --json");
  ASSERT_EQ(o.code, 0) << o.err;
  json j = json::parse(o.out);
  EXPECT_LE(j["tokens"].get<int>(), 120);
  EXPECT_GE(j["crops"].size(), 1u);
}

TEST_F(Cli, BadInputIsOneLineAndNonZero) {
  const std::string good = "look " + page() + " 'what?' ";
  expect_one_line_error(run_arrcoc("look " + folder / "none.png" + " 'what?'"), "none.png");
  expect_one_line_error(run_arrcoc("look " + folder.path() + " 'what?'"));
  expect_one_line_error(run_arrcoc("look " + page() + " ''"), "question");
  expect_one_line_error(run_arrcoc("look " + page() + " '   '"), "question");
  expect_one_line_error(run_arrcoc("look " + page() + " \"$(printf 'a\\377b')\""), "UTF-8");
  expect_one_line_error(
      run_arrcoc("look " + page() + " \"$(head -c 100000 /dev/zero | tr '\\0' a)\""), "bytes");
  expect_one_line_error(run_arrcoc(good + "--policy nobody"), "nobody");
  expect_one_line_error(run_arrcoc(good + "--allocator nobody"), "nobody");
  expect_one_line_error(run_arrcoc(good + "--channels 41"), "41");
  expect_one_line_error(run_arrcoc(good + "--budget 0"), "0");
  expect_one_line_error(run_arrcoc(good + "--budget lots"), "a number of tokens");
  expect_one_line_error(run_arrcoc(good + "--page 0"), "0 is not more than 0");
  const std::string asked = "ask " + page() + " 'what?' ";
  expect_one_line_error(run_arrcoc(asked + "--threshold nan"), "nan is not from 0 to 1");
  expect_one_line_error(run_arrcoc(asked + "--salience radial"), "--salience changes nothing");
  expect_one_line_error(run_arrcoc(asked + "--passes 17"), "17");
  expect_one_line_error(run_arrcoc("ask " + page() + " " + page()), "the question is missing");
  expect_one_line_error(run_arrcoc("eval --suite hard,hard"), "'hard' is named twice");
  expect_one_line_error(run_arrcoc("synth --kind suite:hard --count 2 --out " + folder / "s"),
                        "a suite is fixed");
  expect_one_line_error(run_arrcoc("bench --suite hard --budget 64 --out " + folder / "b"),
                        "--budgets");
  expect_one_line_error(run_arrcoc(good + "--no-such-flag"), "no-such-flag");
  expect_one_line_error(run_arrcoc(good + "--max-megapixels 0.1"), "megapixel");
  expect_one_line_error(run_arrcoc("look " + page()), "question");
  expect_one_line_error(run_arrcoc("dance"), "");
  expect_one_line_error(run_arrcoc("eval --data " + folder.path()), "items.jsonl");
}

TEST_F(Cli, BrokenPicturesAreRefused) {
  draw(folder / "whole.jpg");
  const std::string whole = slurp(folder / "whole.jpg");
  std::ofstream(folder / "half.jpg", std::ios::binary) << whole.substr(0, whole.size() / 2);
  std::ofstream(folder / "empty.png");
  std::ofstream(folder / "text.png") << "this is no picture";
  for (const char* name : {"half.jpg", "empty.png", "text.png"}) {
    expect_one_line_error(run_arrcoc("look " + folder / name + " 'what?'"), name);
  }
}

TEST_F(Cli, NothingIsWrittenHalf) {
  const std::string look = "look " + page() + " 'what?' --heatmap ";
  expect_one_line_error(run_arrcoc(look + folder / "no/such/folder/h.png"), "folder");
  std::ofstream(folder / "kept.png") << "old";
  expect_one_line_error(run_arrcoc(look + folder / "kept.png" + " --budget nonsense"), "nonsense");
  EXPECT_EQ(slurp(folder / "kept.png"), "old");
  Outcome full = run_arrcoc("look " + page() + " 'what?' --json; exit", "");
  EXPECT_EQ(full.code, 0);
}

TEST_F(Cli, AFullDiskIsAnErrorNotSilence) {
  const std::string line = std::string(ARRCOC_BINARY) + " look " + page() +
                           " 'what?' --json >/dev/full 2>" + folder / "err";
  const int status = std::system(line.c_str());
  EXPECT_EQ(WEXITSTATUS(status), 1);
  EXPECT_NE(slurp(folder / "err").find("standard output"), std::string::npos);
}

TEST_F(Cli, OptionsFromAFileAndUnknownKeysRefused) {
  std::ofstream(folder / "o.json") << R"({"policy":"text","budget":70})";
  Outcome o = run_arrcoc("look " + page() + " 'what?' --json --config " + folder / "o.json");
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(json::parse(o.out)["budget"], 70);
  EXPECT_EQ(json::parse(o.out)["policy"], "text");
  std::ofstream(folder / "bad.json") << R"({"colour":"red"})";
  expect_one_line_error(run_arrcoc("look " + page() + " 'what?' --config " + folder / "bad.json"),
                        "colour");
}

TEST_F(Cli, EvalMeasuresAFolderBesideItsBaselines) {
  std::ofstream(folder / "items.jsonl")
      << R"({"id":"a","image":"page.png","width":640,"height":480,"question":"What is the red thing?",)"
      << R"("answer":"a box","answer_boxes":[[64,48,160,120]],"kind":"thing"})"
      << "\n";
  Outcome o = run_arrcoc("eval --data " + folder.path() + " --budget 180 --json");
  ASSERT_EQ(o.code, 0) << o.err;
  json j = json::parse(o.out);
  EXPECT_EQ(j["questions"], 1);
  EXPECT_LE(j["mean_tokens"].get<double>(), 180);
  EXPECT_GT(j["answer_region_recall"].get<double>(), 0.5);
  EXPECT_EQ(j["kinds"]["thing"]["questions"], 1);
  EXPECT_TRUE(j.contains("exact_match"));
  EXPECT_TRUE(j.contains("anls"));
  for (const char* name : {"breadth-first", "random", "text"}) {
    EXPECT_TRUE(j["baselines"][name].contains("answer_region_recall")) << name;
  }
  EXPECT_LT(j["baselines"]["breadth-first"]["answer_region_recall"].get<double>(), 0.5);
  std::ofstream(folder / "items.jsonl") << "{broken\n";
  expect_one_line_error(run_arrcoc("eval --data " + folder.path()), "items.jsonl:1");
}

TEST_F(Cli, InfoListsEveryStage) {
  Outcome o = run_arrcoc("info --json");
  ASSERT_EQ(o.code, 0) << o.err;
  json j = json::parse(o.out);
  EXPECT_TRUE(j["strategies"]["allocator"].contains("quadtree"));
  EXPECT_TRUE(j["strategies"]["scorer"].contains("reader"));
  EXPECT_TRUE(j["strategies"]["policy"].contains("lexical"));
  EXPECT_TRUE(j["strategies"]["budget rule"].contains("auto"));
  EXPECT_EQ(run_arrcoc("--version").code, 0);
  EXPECT_EQ(run_arrcoc("--help").code, 0);
}
