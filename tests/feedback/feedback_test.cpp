// Learning from feedback: a generated log, the tier head, and the guard.
#include "lab/train/feedback.h"
#include "arrcoc/ask.h"
#include "arrcoc/error.h"
#include "arrcoc/media.h"
#include "models/tiny/tiny.h"
#include "serve/engine.h"
#include "serve/support.h"

namespace arrcoc::serving::test {
namespace {

using training::Feedback;
using training::FeedbackOptions;
using training::GuardScore;

const char* const kHard[] = {"What is the total of the bill?", "What is the total to pay?",
                             "How much is the total?", "What total was paid?"};
const char* const kEasy[] = {"What colour is the sky?", "Which colour is the car?",
                             "What colour is the wall?", "Name the colour of the door."};

Picture small(const std::string& name) {
  const Picture whole = media::load(source("examples/pictures/" + name));
  return resize(whole, 128, 128 * whole.height() / whole.width());
}

// People are content with few tokens for colours and want more than 200 for totals.
std::vector<Feedback> lessons(int each) {
  limit_math_threads();  // small products: threads would only wait for each other
  const Picture pictures[] = {small("receipt.jpg"), small("street.jpg"), small("chart.jpg")};
  std::vector<Feedback> out;
  for (int i = 0; i < each; ++i) {
    out.push_back({pictures[i % 3], kHard[i % 4], 200 + i, 1624, false});
    out.push_back({pictures[i % 3], kEasy[i % 4], 40 + i, 1624, true});
  }
  return out;
}

FeedbackOptions options(const Folder& folder, int right_after) {
  FeedbackOptions out;
  out.weights = source("models/tiny");
  out.out = folder / "weights";
  out.guard = [right_after, first = true](const std::string&) mutable {
    GuardScore score{10, first ? 5 : right_after, 150};
    first = false;
    return score;
  };
  return out;
}

double tokens_for(const std::string& folder, const std::string& question) {
  const Picture picture = small("receipt.jpg");
  const auto model = tiny::TinyModel::load(folder);
  const auto opinions = model->look(*model->see(picture, frame_of(picture)), {question});
  return allocating::expected_budget(opinions.front().tier).tokens;
}

TEST(Learning, TellsQuestionsThatNeedMoreTokensFromThoseThatDoNot) {
  Folder folder;
  const auto report = training::learn_from(lessons(24), options(folder, 5));
  EXPECT_TRUE(report.kept) << report.why;
  EXPECT_EQ(report.good, 24);
  EXPECT_EQ(report.bad, 24);
  EXPECT_EQ(report.held_out, 9);
  EXPECT_LT(report.loss_after, 0.7 * report.loss_before);
  const std::string after = folder / "weights", before = source("models/tiny");
  EXPECT_GT(tokens_for(after, kHard[0]) - tokens_for(after, kEasy[0]),
            tokens_for(before, kHard[0]) - tokens_for(before, kEasy[0]) + 20);
  // Only the head was touched: answers stay, and the calibration goes along.
  Options serve = usual_options();
  serve.tiny = after;
  Running server(serve), old;
  EXPECT_EQ(server.ask(question())["choices"][0]["message"]["content"],
            old.ask(question())["choices"][0]["message"]["content"]);
  EXPECT_TRUE(std::filesystem::exists(after + "/calibration.json"));
  EXPECT_FALSE(std::filesystem::exists(after + ".new-" + std::to_string(::getpid())));
}

TEST(Learning, ReplacesAFolderAsAWhole) {
  Folder folder;
  FeedbackOptions in_place = options(folder, 6);
  std::filesystem::copy(source("models/tiny"), folder / "weights");
  std::ofstream(folder / "weights/left-over") << "old";
  in_place.weights = in_place.out;
  EXPECT_TRUE(training::learn_from(lessons(12), in_place).kept);
  EXPECT_FALSE(std::filesystem::exists(folder / "weights/left-over"));
  for (const char* name : {"policies.json", "film.json", "README.md", "calibration.json"})
    EXPECT_TRUE(std::filesystem::exists(folder / ("weights/" + std::string(name)))) << name;
  EXPECT_NO_THROW(tiny::TinyModel::load(folder / "weights"));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder / ""), {}), 1);
}

TEST(Learning, IsUndoneWhenTheGuardGetsWorse) {
  Folder folder;
  const auto fewer = training::learn_from(lessons(12), options(folder, 4));
  EXPECT_FALSE(fewer.kept);
  EXPECT_NE(fewer.why.find("5 of 10 right before, 4 after"), std::string::npos) << fewer.why;
  FeedbackOptions dearer = options(folder, 5);
  dearer.guard = [first = true](const std::string&) mutable {
    const double tokens = first ? 150 : 200;
    first = false;
    return GuardScore{10, 5, tokens};
  };
  EXPECT_FALSE(training::learn_from(lessons(12), dearer).kept);
  // What was learnt does not hold for the examples that were held out.
  std::vector<Feedback> noise = lessons(12);
  for (size_t i = 0; i < noise.size(); ++i) {
    noise[i].question = kHard[0];
    noise[i].picture = noise[0].picture;
    noise[i].good = i % 5 == 4;  // the held-out fifth says the opposite: 70 tokens were enough
    noise[i].tokens = noise[i].good ? 70 : 350;
  }
  EXPECT_FALSE(training::learn_from(noise, options(folder, 9)).kept);
  EXPECT_TRUE(std::filesystem::is_empty(folder / ""));
}

TEST(Learning, NeedsExamplesThatTeachSomething) {
  Folder folder;
  std::vector<Feedback> useless = lessons(12);
  for (Feedback& one : useless) {
    one.tokens = one.native = 1000;  // everything was seen, and all tiers are below
    one.good = false;
  }
  EXPECT_THROW(training::learn_from(useless, options(folder, 5)), Error);
  EXPECT_THROW(training::learn_from({}, options(folder, 5)), Error);
}

std::string said_by(const std::string& arguments, int& code) {
  FILE* out = ::popen(
      (std::string("OMP_NUM_THREADS=1 ") + ARRCOC_BINARY + " " + arguments + " 2>&1").c_str(), "r");
  std::string text;
  for (int c; (c = std::fgetc(out)) != EOF;) text += static_cast<char>(c);
  code = WEXITSTATUS(::pclose(out));
  return text;
}

TEST(TrainCommand, LearnsFromALogWithTheSuitesAsGuard) {
  Folder folder;
  {
    ExampleLog log(folder / "log.db");
    int number = 0;
    for (const Feedback& one : lessons(11)) {
      Example e;
      e.id = "chatcmpl-" + std::to_string(number);
      e.model = "arrcoc-tiny";
      e.question = one.question;
      e.kept = one.tokens;
      e.native = one.native;
      e.allocation = "[]";
      e.picture = media::encode_png(one.picture.rgb);
      log.add(e);
      log.rate(e.id, one.good ? Rating::up : Rating::down, "", "01");
      if (++number % 4 != 0) continue;
      e.id += "-poison";
      log.add(e);
      log.rate(e.id, Rating::up, "", "02");
      e.id += "-other";
      e.model = "qwen";
      log.add(e);
      log.rate(e.id, Rating::up, "", "01");
    }
  }
  int code = 0;
  const std::string said = said_by(
      "train --from-log " + (folder / "log.db") + " --init " + source("models/tiny") + " --out " +
          (folder / "new") + " --guard-questions 2 --json --model arrcoc-tiny --not-rater 02",
      code);
  ASSERT_EQ(code, 0) << said;
  const json report = json::parse(said);
  EXPECT_EQ(report["up"], 11);
  EXPECT_EQ(report["down"], 11);
  EXPECT_LT(report["loss"][1], report["loss"][0]);
  EXPECT_EQ(report["guard"][0]["questions"], report["guard"][1]["questions"]);
  EXPECT_GE(report["guard"][0]["questions"], 4);
  EXPECT_EQ(std::filesystem::exists(folder / "new"), report["kept"].get<bool>());
  EXPECT_NE(said_by("train --from-log " + (folder / "log.db") + " --out x --rater 02", code)
                .find("20 are needed"),
            std::string::npos)
      << "this rater rated 5";
  EXPECT_NE(said_by("train --from-log " + (folder / "none.db") + " --out x", code).find("no file"),
            std::string::npos);
  EXPECT_NE(code, 0);
}

}  // namespace
}  // namespace arrcoc::serving::test
