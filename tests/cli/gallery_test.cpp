// What bench and eval make of wrong answers, of confidence and of people's gaze.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>

#include "cli/process.h"

using namespace arrcoc::test;
using nlohmann::json;

namespace {

const char* const kCauses[] = {"looked elsewhere", "misread", "misunderstood", "unanswerable",
                               "not known where"};
// Shrunk to 64 tokens most print cannot be read.
const char* const kShrunk = "bench --suite documents --limit 8 --policies resize --budgets 64 ";

std::vector<json> lines_of(const std::string& path) {
  std::vector<json> out;
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) out.push_back(json::parse(line));
  return out;
}

void write_lines(const std::string& path, const std::vector<json>& lines) {
  std::ofstream out(path);
  for (const json& line : lines) out << line.dump() << "\n";
}

json run_json(const std::string& arguments) {
  const Outcome o = run_arrcoc(arguments + " --json");
  EXPECT_EQ(o.code, 0) << arguments << "\n" << o.err;
  return json::parse(o.out, nullptr, false);
}

void expect_one_line_error(const std::string& arguments, const std::string& part) {
  const Outcome o = run_arrcoc(arguments);
  EXPECT_TRUE(o.code == 1 || o.code == 2) << arguments;
  EXPECT_EQ(std::count(o.err.begin(), o.err.end(), '\n'), 1) << o.err;
  EXPECT_NE(o.err.find(part), std::string::npos) << o.err;
}

size_t count(const std::string& text, const std::string& part) {
  size_t out = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++out;
  return out;
}

TEST(Gallery, ShowsTheMostConfidentWrongAnswersOfEveryCause) {
  Folder folder;
  const json j = run_json(kShrunk + std::string("--gallery 1 --out ") + folder / "out");
  const json& all = j["causes"]["all"];
  EXPECT_EQ(j["causes"]["policy"], "resize");
  EXPECT_EQ(all["answered"], 8);
  int wrong = 0;
  size_t shown = 0;
  for (const char* cause : kCauses) {
    wrong += all[cause].get<int>();
    shown += all[cause] > 0 ? 1 : 0;
  }
  EXPECT_GT(wrong, 0);
  EXPECT_EQ(all["wrong"], wrong);
  EXPECT_EQ(j["causes"]["suites"]["documents"]["wrong"], wrong);
  EXPECT_NEAR(j["cells"][0]["exact_match"].get<double>(), 1 - wrong / 8.0, 1e-3);
  ASSERT_EQ(j["failures"].size(), shown);
  double most = 0;  // confidence of the first one's cause
  for (const json& line : lines_of(folder / "out/records.jsonl"))
    if (line.value("cause", "") == j["failures"][0]["cause"])
      most = std::max(most, line["confidence"].get<double>());
  EXPECT_NEAR(j["failures"][0]["confidence"].get<double>(), most, 1e-4);
  EXPECT_GE(j["failures"][0]["accepted"].size(), 1U);
  EXPECT_EQ(count(slurp(folder / "out/report.html"), "data:image/png"), 2 * shown);
  EXPECT_NE(slurp(folder / "out/report.md").find("Wrong answers by cause (resize at 64)"),
            std::string::npos);
  // Another number of them is drawn from the same records.
  const std::string records = slurp(folder / "out/records.jsonl");
  EXPECT_FALSE(
      run_json(kShrunk + std::string("--gallery 0 --out ") + folder / "out").contains("failures"));
  EXPECT_EQ(slurp(folder / "out/records.jsonl"), records);
}

TEST(Gallery, TellsWhatWasGainedAndLostSinceAnEarlierRun) {
  Folder folder;
  const std::string again = kShrunk + std::string("--gallery 0 --out ") + folder / "out";
  ASSERT_EQ(run_arrcoc(again).code, 0);
  // An earlier run from before causes were kept, with one answer more right and one more wrong.
  std::vector<json> lines = lines_of(folder / "out/records.jsonl");
  std::string gained, lost;
  for (json& line : lines) {
    line.erase("cause");
    std::string& changed = line["right"] ? gained : lost;
    if (!changed.empty()) continue;
    changed = line["question"];
    line["right"] = !line["right"].get<bool>();
  }
  ASSERT_FALSE(lost.empty());
  std::filesystem::create_directories(folder / "before");
  write_lines(folder / "before/records.jsonl", lines);
  const json change = run_json(again + " --before " + folder / "before")["change"];
  EXPECT_EQ(change["paired"], 8);
  ASSERT_EQ(change["lost"].size(), 1U);
  EXPECT_EQ(change["lost"][0]["question"], lost);
  ASSERT_EQ(change["gained"].size(), gained.empty() ? 0U : 1U);
  if (!gained.empty()) EXPECT_EQ(change["gained"][0]["question"], gained);
  int before = 0, after = 0;
  for (const char* cause : kCauses) {
    before += change["causes"][cause][0].get<int>();
    after += change["causes"][cause][1].get<int>();
  }
  EXPECT_EQ(after - before, gained.empty() ? 1 : 0);
  EXPECT_NE(slurp(folder / "out/report.md").find("lost 1."), std::string::npos);
  EXPECT_EQ(lines_of(folder / "before/records.jsonl"), lines);  // it was only read
  expect_one_line_error(again + " --before " + folder / "nowhere", "nowhere");
  for (json& line : lines) line["budget"] = "100";
  write_lines(folder / "before/records.jsonl", lines);
  expect_one_line_error(again + " --before " + folder / "before", "no answer of resize at 64");
}

TEST(Reliability, IsATableAndAPictureOfTheSameBins) {
  Folder folder;
  const json j = run_json(kShrunk + std::string("--gallery 0 --reliability ") + folder / "r.png" +
                          " --out " + folder / "out");
  ASSERT_EQ(j["reliability"].size(), 1U);
  const json& set = j["reliability"][0];
  EXPECT_EQ(set["set"], "generated");
  EXPECT_EQ(set["ece"], j["cells"][0]["calibration_error"]);
  EXPECT_EQ(set["auroc"], j["cells"][0]["auroc"]);
  ASSERT_EQ(set["bins"].size(), 10U);
  int all = 0;
  for (const json& bin : set["bins"]) all += bin["count"].get<int>();
  EXPECT_EQ(all, 8);
  const cv::Mat picture = cv::imread(folder / "r.png");
  EXPECT_EQ(picture.size(), cv::Size(400, 420));
  expect_one_line_error(
      kShrunk + std::string("--reliability ") + folder / "no/r.png" + " --out " + folder / "other",
      "no/r.png");
  expect_one_line_error("eval --pairs --reliability " + folder / "r.png", "--reliability");
}

TEST(Predictions, OfARunThatGoesOnAreWhole) {
  Folder folder;
  const auto said = [&](const std::string& out, const std::string& more) {
    EXPECT_EQ(run_arrcoc(kShrunk + std::string("--gallery 0 --out ") + folder / out + more).code,
              0);
    if (more.empty()) return std::vector<std::string>{};
    std::vector<std::string> answers;
    for (const json& line : lines_of(folder / "said.jsonl"))
      answers.push_back(line["row"].get<std::string>() + " " + line["image"].get<std::string>() +
                        " " + line["id"].get<std::string>() + " " +
                        line["answer"]["answer"].get<std::string>());
    return answers;
  };
  const std::string wanted = " --predictions " + folder / "said.jsonl";
  const auto whole = said("a", wanted);
  ASSERT_EQ(whole.size(), 8U);
  // Cut off in the second picture: after its lines were predicted, before it was recorded.
  const std::string records = slurp(folder / "a/records.jsonl");
  const json first = json::parse(records.substr(0, records.find('\n')));
  size_t cut = 0;
  for (size_t i = 0; i < first["of"].get<size_t>(); ++i) cut = records.find('\n', cut) + 1;
  std::ofstream(folder / "a/records.jsonl", std::ios::binary) << records.substr(0, cut);
  const std::string journal = slurp(folder / "a/predictions.jsonl");
  std::ofstream(folder / "a/predictions.jsonl", std::ios::binary)
      << journal.substr(0, journal.size() - 9);
  EXPECT_EQ(said("a", wanted), whole);
  // Asked for when the run is over.
  said("b", "");
  const std::string over = slurp(folder / "b/records.jsonl");
  EXPECT_EQ(said("b", wanted), whole);
  EXPECT_EQ(slurp(folder / "b/records.jsonl"), over);
}

TEST(EvalGaze, HoldsMapsAgainstWherePeopleLooked) {
  Folder folder;
  cv::Mat page(120, 160, CV_8UC3, cv::Scalar(230, 230, 230));
  cv::rectangle(page, {20, 20}, {50, 50}, {20, 20, 220}, cv::FILLED);
  ASSERT_TRUE(cv::imwrite(folder / "a.png", page));
  const std::string start = R"({"image": "a.png", "width": 160, "height": 120, )";
  std::ofstream(folder / "items.jsonl") << start << R"("fixations": [[80, 60], [82, 61]]})"
                                        << "\n";
  const std::string gaze = "eval --metric gaze --policy saliency --data " + folder.path();
  const json j = run_json(gaze)["data"][folder.path()];
  ASSERT_EQ(j.size(), 2U);
  EXPECT_GT(j["centred Gaussian"]["auc_judd"].get<double>(), 0.99);
  EXPECT_GT(j["centred Gaussian"]["nss"].get<double>(), 1);
  EXPECT_FALSE(j["saliency"].contains("cc"));
  // With a question and boxes: correlation instead of AUC.
  std::ofstream(folder / "items.jsonl")
      << start << R"("question": "where?", "gaze_boxes": [[15,15,55,55]], "gaze_scores": [1]})"
      << "\n";
  const json boxes = run_json(gaze)["data"][folder.path()];
  EXPECT_FALSE(boxes["saliency"].contains("auc_judd"));
  EXPECT_GT(boxes["saliency"]["cc"].get<double>(), boxes["centred Gaussian"]["cc"].get<double>());
  EXPECT_EQ(boxes["saliency"]["items"], 1);
  expect_one_line_error("eval --metric gazing --data " + folder.path(), "gazing");
  expect_one_line_error("eval --metric gaze --suite charts", "--data");
  std::ofstream(folder / "items.jsonl") << start << R"("question": "where?"})"
                                        << "\n";
  expect_one_line_error(gaze, "where people looked");
}

}  // namespace
