// arrcoc watch: every frame has its line, what is broken is said, nothing is lost.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>

#include "cli/process.h"
#include "cli/small_model.h"

using namespace arrcoc::test;
using nlohmann::json;

namespace {

// A striped ground and a dark thing at `at`.
void draw(const std::string& path, int at, int width = 320, int height = 180) {
  cv::Mat frame(height, width, CV_8UC3);
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x)
      frame.at<cv::Vec3b>(y, x) = {static_cast<uint8_t>(90 + x * 7 % 60),
                                   static_cast<uint8_t>(80 + y * 5 % 70), 120};
  cv::rectangle(frame, {at, height / 3}, {at + 40, height / 2}, {10, 10, 10}, cv::FILLED);
  ASSERT_TRUE(cv::imwrite(path, frame));
}

void write_text(const std::string& path) { std::ofstream(path) << "this is no picture"; }

Outcome watch(const std::string& source, const std::string& more = "") {
  return run_arrcoc("--threads 1 watch " + source +
                    " 'the dark thing' --policy saliency --answer none " + more);
}

std::vector<json> lines_of(const Outcome& o) {
  std::vector<json> out;
  std::istringstream text(o.out);
  for (std::string line; std::getline(text, line);) out.push_back(json::parse(line));
  return out;
}

void expect_one_line_error(const Outcome& o, const std::string& part) {
  EXPECT_NE(o.code, 0);
  EXPECT_EQ(std::count(o.err.begin(), o.err.end(), '\n'), 1) << o.err;
  EXPECT_NE(o.err.find(part), std::string::npos) << o.err;
}

}  // namespace

TEST(Watch, EveryFrameHasItsLineAndABrokenOneSpendsNothing) {
  Folder folder;
  for (int i = 0; i < 6; ++i) draw(folder / ("f" + std::to_string(i) + ".png"), 20 + 12 * i);
  write_text(folder / "f3.png");
  const Outcome o = watch(folder.path(), "--json --budget 48");
  ASSERT_EQ(o.code, 0) << o.err;
  const auto lines = lines_of(o);
  ASSERT_EQ(lines.size(), 6U);
  for (size_t i = 0; i < lines.size(); ++i) {
    EXPECT_EQ(lines[i]["frame"], i);
    EXPECT_LE(lines[i]["tokens"].get<int>(), 48);
    EXPECT_EQ(lines[i]["coherence"].is_null(), i == 0);
    EXPECT_FALSE(lines[i]["cut"].get<bool>());
    EXPECT_FALSE(lines[i]["leaves"].empty());
  }
  EXPECT_EQ(lines[3]["tokens"], 0);
  EXPECT_EQ(lines[3]["leaves"], lines[2]["leaves"]);
  EXPECT_NE(lines[3]["notes"].dump().find("f3.png"), std::string::npos);
  EXPECT_EQ(lines_of(watch(folder.path(), "--json --max-frames 2")).size(), 2U);
  // The same again, bit by bit.
  EXPECT_EQ(watch(folder.path(), "--json --budget 48").out, o.out);
}

TEST(Watch, OneFrameAndAChangeOfSizeAreFilmsToo) {
  Folder folder;
  draw(folder / "f0.png", 30);
  const auto one = lines_of(watch(folder / "f0.png", "--json"));
  ASSERT_EQ(one.size(), 1U);
  EXPECT_GT(one[0]["tokens"], 0);
  draw(folder / "f1.png", 40);
  draw(folder / "f2.png", 40, 200, 200);
  const auto lines = lines_of(watch(folder.path(), "--json"));
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_NE(lines[2]["notes"].dump().find("size changed"), std::string::npos);
  EXPECT_GT(lines[2]["tokens"], 0);
}

TEST(Watch, TheClipBudgetIsNeverPassedAndThePicturesAreWritten) {
  Folder folder;
  for (int i = 0; i < 8; ++i) draw(folder / ("f" + std::to_string(i) + ".png"), 20 + 20 * i);
  const Outcome o =
      watch(folder.path(), "--json --clip-budget 120 --timeline " + folder / "time.png" +
                               " --video " + folder / "seen.avi");
  ASSERT_EQ(o.code, 0) << o.err;
  int spent = 0;
  for (const json& line : lines_of(o)) spent += line["tokens"].get<int>();
  EXPECT_GT(spent, 0);
  EXPECT_LE(spent, 120);
  EXPECT_GT(std::filesystem::file_size(folder / "time.png"), 500U);
  EXPECT_GT(std::filesystem::file_size(folder / "seen.avi"), 1000U);
  EXPECT_FALSE(cv::imread(folder / "time.png").empty());
}

// Random weights: which tokens of which frames are read, not what is said.
TEST(Watch, AQwenModelReadsTheFilmAtItsEndInOneSequence) {
  Folder folder;
  std::filesystem::create_directory(folder / "film");
  for (int i = 0; i < 4; ++i) draw(folder / ("film/f" + std::to_string(i) + ".png"), 20 + 60 * i);
  for (const char* family : {"qwen2_5_vl", "qwen3_vl"}) {
    const std::string more =
        "--max-new-tokens 3 --clip-budget 96 --budget 32 --model " + make_model(folder, family);
    const auto watched = [&](const std::string& flags) {
      return run_arrcoc("--threads 1 watch " + (folder / "film") +
                        " 'the dark thing' --policy saliency " + flags + more);
    };
    const Outcome o = watched("--json ");
    ASSERT_EQ(o.code, 0) << o.err;
    int spent = 0;
    for (const json& line : lines_of(o)) spent += line["tokens"].get<int>();
    const json film = json::parse(o.err)["answer"];
    EXPECT_GE(film["frames"].size(), 1U);
    EXPECT_LE(film["tokens"], spent);
    EXPECT_LE(spent, 96);
    EXPECT_EQ(film["completion_tokens"], 3);
    EXPECT_GT(film["prompt_tokens"], film["tokens"]);
    EXPECT_GT(film["confidence"], 0);
    EXPECT_EQ(json::parse(watched("--json ").err)["answer"], film);
    EXPECT_NE(watched("").out.find("\nanswer "), std::string::npos);
  }
  expect_one_line_error(watch(folder / "film", "--model " + make_model(folder, "llava")), "Qwen");
  expect_one_line_error(run_arrcoc("ask " + (folder / "film") + " 'What came first?'"),
                        "arrcoc watch");
}

// A generated film of two shots, the bundled model.
TEST(Watch, QuestionsOverTimeAreAnsweredFromMoments) {
  Folder folder;
  const Outcome made = run_arrcoc("synth --kind time --seed 5406 --count 1 --out " + folder.path());
  ASSERT_EQ(made.code, 0) << made.err;
  const auto watched = [&](const std::string& question, const std::string& flags) {
    const Outcome o = run_arrcoc("--threads 1 watch " + (folder / "images") + " '" + question +
                                 "' --fps 4 " + flags);
    EXPECT_EQ(o.code, 0) << o.err;
    return o;
  };
  const Outcome o =
      watched("What does the caption say before the cut?", "--json --moments-budget 300");
  const json answer = json::parse(o.err)["answer"];
  EXPECT_EQ(answer["asks"], "part");
  EXPECT_EQ(answer["shots"], 2);
  EXPECT_LE(answer["tokens"], 300);
  int64_t tokens = 0;
  ASSERT_FALSE(answer["moments"].empty());
  for (const json& moment : answer["moments"]) {
    EXPECT_EQ(moment["shot"], 0);
    EXPECT_EQ(moment["question"], "What does the caption say?");
    EXPECT_EQ(moment["seconds"], moment["frame"].get<double>() / 4);
    tokens += moment["tokens"].get<int64_t>();
  }
  EXPECT_EQ(answer["tokens"], tokens);
  const Outcome text = watched("How many shots are there?", "");
  EXPECT_NE(text.out.find("\nanswer     2  (shots, 0 looks at moments"), std::string::npos)
      << text.out;
  // The road of one frame.
  const Outcome frame = watched("How many shots are there?", "--answer frame --json");
  EXPECT_FALSE(json::parse(frame.err)["answer"].contains("moments"));
}

TEST(Watch, NothingToWatchIsOneLine) {
  Folder folder;
  expect_one_line_error(watch(folder.path()), "no pictures");
  expect_one_line_error(watch(folder / "nothing.mp4"), "there is no file");
  write_text(folder / "text.mp4");
  expect_one_line_error(watch(folder / "text.mp4"), "not a film");
  std::filesystem::remove(folder / "text.mp4");
  write_text(folder / "only.png");
  EXPECT_NE(watch(folder.path()).code, 0);
  EXPECT_NE(watch(folder.path()).err.find("no frame of"), std::string::npos);
}
