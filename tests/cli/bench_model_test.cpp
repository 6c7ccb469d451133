// eval and bench on published sets, and with --model: every family goes to the end.
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "base/base64.h"
#include "cli/process.h"
#include "cli/small_model.h"

using namespace arrcoc::test;
using nlohmann::json;

namespace {

const std::string kPicture = std::string(ARRCOC_TEST_DATA) + "/goldens/processors/img1.png";

void put(const std::string& path, const std::string& text) {
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  std::ofstream(path, std::ios::binary) << text;
}

void picture_at(const std::string& path, const std::string& from = kPicture) {
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  std::filesystem::copy_file(from, path, std::filesystem::copy_options::overwrite_existing);
}

// Two pictures, three questions. The pictures differ: one that is known costs less.
std::string small_chartqa(const Folder& folder) {
  picture_at(folder / "png/a.png");
  picture_at(folder / "png/b.png", std::string(ARRCOC_TEST_DATA) + "/goldens/processors/img2.png");
  put(folder / "test_human.json",
      R"([{"imgname": "a.png", "query": "How many bars are there?", "label": "4"},
          {"imgname": "a.png", "query": "What is the highest value?", "label": "50%"},
          {"imgname": "b.png", "query": "Which colour is it?", "label": "red"}])");
  return "chartqa:" + (folder / "test_human.json");
}

json said(const Outcome& o) {
  EXPECT_EQ(o.code, 0) << o.err;
  return json::parse(o.out, nullptr, false);
}

void without_costs(json& j) {
  if (j.is_object())
    for (const char* key : {"milliseconds", "peak_mb"}) j.erase(key);
  if (j.is_structured())
    for (json& part : j) without_costs(part);
}

json report_of(const std::string& out) {
  json report = json::parse(slurp(out + "/report.json"));
  without_costs(report);
  return report;
}

// Every way once: among the cells, or refused with a reason.
std::map<std::string, json> ways_of(const json& report) {
  std::map<std::string, json> out;
  for (const json& cell : report["cells"]) out[cell["policy"]] = cell;
  for (const json& one : report.value("refused", json::array())) {
    EXPECT_EQ(out.count(one["policy"]), 0U) << one;
    EXPECT_FALSE(one["why"].get<std::string>().empty());
    out[one["policy"]] = nullptr;
  }
  return out;
}

class BenchModel : public ::testing::TestWithParam<const char*> {};

TEST_P(BenchModel, GoesEveryWayToTheEndAndGoesOn) {
  const Folder folder;
  const std::string family = GetParam(), model = make_model(folder, family);
  const std::string line = "bench --model " + model + " --data " + small_chartqa(folder) +
                           " --budgets 8 --max-new-tokens 4 --gallery 1 --out ";
  const Outcome first = run_arrcoc(line + (folder / "one"));
  ASSERT_EQ(first.code, 0) << first.err;
  const json report = report_of(folder / "one");
  const auto ways = ways_of(json::parse(slurp(folder / "one/report.json")));
  for (const char* way : {"native", "prune", "patches", "passes", "random", "cdpruner", "fastv",
                          "tome", "visionzip"}) {
    ASSERT_EQ(ways.count(way), 1U) << way;
    const json& cell = ways.at(way);
    ASSERT_FALSE(cell.is_null()) << way << first.out;
    EXPECT_EQ(cell["questions"], 3) << way;
    EXPECT_GT(cell["gflop"], 0) << way;
    EXPECT_EQ(cell["metric"], "relaxed 5 %");
    EXPECT_GT(cell["mean_tokens"], 0) << way;
    EXPECT_TRUE(cell.contains("peak_mb") && cell["milliseconds"].contains("p50")) << way;
    if (std::string(way) != "native") EXPECT_LE(cell["most_tokens"], 8) << way;
  }
  for (const char* way : {"zoom", "resize"}) EXPECT_EQ(ways.count(way), 1U) << way;
  const bool follows = family.rfind("qwen", 0) == 0;
  EXPECT_EQ(!ways.at("zoom").is_null(), follows || family == "smolvlm");
  EXPECT_EQ(!ways.at("resize").is_null(), follows);
  if (follows) EXPECT_LE(ways.at("resize")["most_tokens"], 8);
  EXPECT_GT(ways.at("native")["mean_tokens"], ways.at("prune")["mean_tokens"]);
  if (!follows) {
    EXPECT_NE(first.out.find("resize: not with this model"), std::string::npos);
    EXPECT_NE(first.out.find("| resize | 8 | - | not with this model |"), std::string::npos);
  }
  // A run that was cut off goes on and ends the same.
  std::filesystem::create_directories(folder / "two");
  std::filesystem::copy(folder / "one/settings.json", folder / "two/settings.json");
  const std::string records = slurp(folder / "one/records.jsonl");
  put(folder / "two/records.jsonl", records.substr(0, records.size() / 2));
  ASSERT_EQ(run_arrcoc(line + (folder / "two")).code, 0);
  EXPECT_EQ(report_of(folder / "two"), report);
  EXPECT_NE(run_arrcoc(line + (folder / "two") + " --limit 1").code, 0);  // other settings
}

INSTANTIATE_TEST_SUITE_P(Families, BenchModel,
                         ::testing::Values("llava", "qwen2_vl", "qwen2_5_vl", "qwen3_vl", "ovis2",
                                           "smolvlm"));

TEST(BenchOfModels, DepthCostsLessInTheModesThatChoose) {
  const Folder folder;
  const std::string model = make_model(folder, "qwen3_vl");
  const std::string line = "bench --model " + model + " --data " + small_chartqa(folder) +
                           " --budgets 8 --max-new-tokens 4 --gallery 0 --policies "
                           "native,prune,patches,random --out ";
  ASSERT_EQ(run_arrcoc(line + (folder / "whole")).code, 0);
  const Outcome o = run_arrcoc(line + (folder / "early") + " --depth 0.75,0.25,0,0");
  ASSERT_EQ(o.code, 0) << o.err;
  const auto whole = ways_of(report_of(folder / "whole")),
             early = ways_of(report_of(folder / "early"));
  for (const char* way : {"prune", "patches"})
    EXPECT_LT(early.at(way)["gflop"], whole.at(way)["gflop"]) << way;
  for (const char* way : {"native", "random"})
    EXPECT_EQ(early.at(way)["gflop"], whole.at(way)["gflop"]) << way;
  const json& depths = early.at("prune")["depths"];  // of all tokens, a mean over the questions
  ASSERT_EQ(depths.size(), 4U);
  EXPECT_NEAR(depths[0].get<double>(), 3 * depths[1].get<double>(), 3);
  EXPECT_EQ(depths[3], 0);
  EXPECT_FALSE(early.at("native").contains("depths") || whole.at("prune").contains("depths"));
  EXPECT_EQ(report_of(folder / "early")["settings"]["model"]["depth"], "0.75,0.25,0,0");
  const Outcome bad = run_arrcoc(line + (folder / "bad") + " --depth 0.5,0.5");
  EXPECT_EQ(bad.code, 1);
  EXPECT_NE(bad.err.find("wants 4"), std::string::npos) << bad.err;
}

// Its tokens are no places of the picture: views are chosen, and the others say why not.
TEST(BenchOfModels, DeepSeekChoosesViewsAndGoesToTheEnd) {
  const Folder folder;
  const std::string model = make_model(folder, "deepseek_ocr2");
  const std::string line = "bench --model " + model + " --data " + small_chartqa(folder) +
                           " --budgets 400 --max-new-tokens 4 --gallery 1 --out ";
  const Outcome first = run_arrcoc(line + (folder / "one"));
  ASSERT_EQ(first.code, 0) << first.err;
  const json report = report_of(folder / "one");
  const auto ways = ways_of(report);
  for (const char* way : {"native", "zoom", "passes"}) {
    ASSERT_EQ(ways.count(way), 1U) << way;
    ASSERT_FALSE(ways.at(way).is_null()) << way << first.out;
    EXPECT_EQ(ways.at(way)["questions"], 3) << way;
  }
  for (const char* way : {"prune", "patches", "tome", "visionzip"})
    EXPECT_TRUE(ways.at(way).is_null()) << way;
  std::filesystem::create_directories(folder / "two");
  std::filesystem::copy(folder / "one/settings.json", folder / "two/settings.json");
  const std::string records = slurp(folder / "one/records.jsonl");
  put(folder / "two/records.jsonl", records.substr(0, records.size() / 2));
  ASSERT_EQ(run_arrcoc(line + (folder / "two")).code, 0);
  EXPECT_EQ(report_of(folder / "two"), report);
}

// Two looks together spend what a single one may.
TEST(BenchOfModels, PassesStayWithinTheBudgetOfASingleLook) {
  const Folder folder;
  const std::string model = make_model(folder, "qwen2_5_vl");
  const Outcome o = run_arrcoc("bench --model " + model + " --data " + small_chartqa(folder) +
                               " --policies passes,prune --budgets 120 --max-new-tokens 4 "
                               "--gallery 0 --out " +
                               (folder / "out"));
  ASSERT_EQ(o.code, 0) << o.err;
  const auto ways = ways_of(report_of(folder / "out"));
  EXPECT_LE(ways.at("passes")["most_tokens"], 120);
  EXPECT_LE(ways.at("prune")["most_tokens"], 120);
}

TEST(EvalModel, TellsTheOptionsAndSaysWhatTheFamilyCannotDo) {
  const Folder folder;
  const std::string model = make_model(folder, "llava");
  picture_at(folder / "direct/a.png");
  put(folder / "test_questions.jsonl",
      R"({"image": "direct/a.png", "text": "What is it?\n(A) a cat\n(B) a dog\nAnswer with the )"
      R"(option's letter.", "category": "direct", "label": "B", "question_id": 7})");
  const json out = said(run_arrcoc("eval --model " + model +
                                   " --data vstar:" + (folder / "test_questions.jsonl") +
                                   " --policy prune,zoom,tome --max-new-tokens 3 --budget 8 --json "
                                   "--predictions " +
                                   (folder / "answers.jsonl")));
  EXPECT_EQ(out["questions"], 1);
  EXPECT_EQ(out["metric"], "choice");
  EXPECT_LE(out["most_tokens"], 8);
  EXPECT_NE(out["baselines"]["zoom"]["refused"].get<std::string>().find("llava"),
            std::string::npos);
  EXPECT_EQ(out["baselines"]["tome"]["questions"], 1);
  for (const json* row : {static_cast<const json*>(&out), &out["baselines"]["tome"]}) {
    EXPECT_GT((*row)["gflop"], 0);
    EXPECT_GT((*row)["peak_mb"], 0);
    EXPECT_TRUE((*row)["milliseconds"].contains("p50"));
  }
  const json line = json::parse(
      slurp(folder / "answers.jsonl").substr(0, slurp(folder / "answers.jsonl").find('\n')));
  EXPECT_EQ(line["answer"]["question"], "What is it?");  // the looker is asked no more
  // With the options the prompt is longer than the question alone needs.
  const json bare =
      said(run_arrcoc("ask --model " + model + " --mode prune --budget 8 --json " +
                      "--max-new-tokens 3 " + (folder / "direct/a.png") + " 'What is it?'"));
  EXPECT_GT(line["answer"]["prompt_tokens"], bare["prompt_tokens"]);
}

void expect_refused(const std::string& line, const std::string& word) {
  const Outcome o = run_arrcoc(line);
  EXPECT_NE(o.code, 0) << line;
  EXPECT_EQ(std::count(o.err.begin(), o.err.end(), '\n'), 1) << o.err;
  EXPECT_NE(o.err.find(word), std::string::npos) << o.err;
}

TEST(EvalModel, RefusesWhatDoesNotBelongTogether) {
  expect_refused("eval --suite charts --mode prune", "--model");
  expect_refused("eval --model nowhere/at/all --suite charts", "nowhere");
  expect_refused("eval --model x --pairs", "--model");
  expect_refused("bench --model x --speed", "--speed");
  expect_refused("eval --ranges models/tiny --budget 64", "not with --budget");
}

TEST(PublishedSets, AreLookedAtByTheBundledModel) {
  const Folder folder;
  const std::string png = slurp(kPicture);
  put(folder / "hr.tsv",
      "index\tquestion\tanswer\tcategory\tA\tB\tC\tD\tcycle_category\timage\n0\tWhat is "
      "it?\tA\tsingle\tx\ty\tz\tw\t0\t" +
          arrcoc::to_base64({png.begin(), png.end()}) + "\n");
  for (int frame : {1, 2, 3})
    picture_at(folder / ("videos/video7/" + std::to_string(frame) + ".png"));
  put(folder / "val_qa.json",
      R"([{"id": 1, "video_id": 7, "question": "what is shown?", "answer": "car"}])");
  picture_at(folder / "a.png");
  put(folder / "refcoco_val.jsonl",
      R"({"image": "a.png", "sent": "the left one", "bbox": [0, 0, 9, 9], "width": 0, "height": 1})");
  const std::string look = " --policy breadth-first --budget 24 --look-only --json";
  for (const std::string& data : {"hrbench:" + (folder / "hr.tsv"), small_chartqa(folder),
                                  "msrvtt-qa:" + (folder / "val_qa.json") + ",frames=2"}) {
    const json out = said(run_arrcoc("eval --data " + data + look));
    EXPECT_GE(out["questions"], 1) << data;
    EXPECT_LE(out["most_tokens"], 24) << data;
  }
  expect_refused("eval --data refcoco:" + (folder / "refcoco_val.jsonl") + look, ":1");
  expect_refused("eval --data docvqa:" + (folder / "none.json"), "none.json");
  expect_refused("bench --data vstarr:x --out " + (folder / "out"), "vstarr");
}

}  // namespace
