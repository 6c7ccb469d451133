// One road: ask, eval, bench, watch on one frame and the library say the same of one picture, one
// question and one set of options. (tests/serve/road_test.cpp has the server.)
#include <gtest/gtest.h>

#include <filesystem>

#include "arrcoc/ask.h"
#include "arrcoc/json.h"
#include "arrcoc/media.h"
#include "cli/process.h"

using namespace arrcoc::test;
using arrcoc::Answer;
using arrcoc::Asker;
using arrcoc::AskOptions;
using nlohmann::json;

namespace {

std::string example(const std::string& name) {
  return std::string(ARRCOC_SOURCE_DIR) + "/examples/pictures/" + name;
}

const Asker& asker() {
  static const Asker one(arrcoc::load_bundle(std::string(ARRCOC_SOURCE_DIR) + "/models/tiny"));
  return one;
}

json of_library(const std::vector<std::string>& names, const std::string& question,
                const AskOptions& options, bool details = true) {
  std::vector<arrcoc::Picture> pictures;
  for (const std::string& name : names) pictures.push_back(arrcoc::media::load(example(name)));
  const Answer answer = pictures.size() == 1 ? asker().ask(pictures[0], question, options)
                                             : asker().ask(pictures, question, options);
  return arrcoc::to_json(answer, {details});
}

// Without what no two runs share.
json timeless(json said) {
  said.erase("milliseconds");
  return said;
}

void expect_same(const json& wanted, const json& said) {
  for (const char* key : {"answer", "tokens", "confidence", "box", "stopped", "passes", "weights"})
    ASSERT_TRUE(wanted.contains(key)) << key;
  EXPECT_EQ(json::diff(timeless(wanted), timeless(said)), json::array());
}

json run_json(const std::string& arguments) {
  const Outcome o = run_arrcoc(arguments);
  EXPECT_EQ(o.code, 0) << arguments << "\n" << o.err;
  return json::parse(o.out, nullptr, false);
}

// A folder with one picture and one question, as eval and bench read it.
struct Questions : Folder {
  Questions(const std::string& name, const std::string& question) {
    std::filesystem::create_directories(*this / "images");
    std::filesystem::copy_file(example(name), *this / ("images/" + name));
    const arrcoc::Picture picture = arrcoc::media::load(example(name));
    const json item = {{"id", "one"},
                       {"image", "images/" + name},
                       {"width", picture.width()},
                       {"height", picture.height()},
                       {"question", question},
                       {"answer", "something"}};
    std::ofstream(*this / "items.jsonl") << item.dump() << "\n";
  }
};

// The answer of that row among the predictions.
json predicted(const std::string& file, const std::string& row) {
  std::ifstream in(file);
  for (std::string text; std::getline(in, text);)
    if (const json line = json::parse(text); line["row"] == row) return line["answer"];
  ADD_FAILURE() << "no row " << row << " in " << file;
  return {};
}

struct Case {
  std::string flags;  // of the command line
  AskOptions options;
};

AskOptions with(const std::string& budget, int passes = 1, const std::string& policy = "realized",
                int canvas = 0) {
  AskOptions out = arrcoc::policy(policy);
  out.budget = budget;
  if (passes > 1) out.passes.passes = passes;
  out.canvas = canvas;
  return out;
}

const std::vector<Case>& cases() {
  static const std::vector<Case> all = {
      {"--budget auto", with("auto")},
      {"--budget 100", with("100")},
      {"--budget fast --policy lexical", with("fast", 1, "lexical")},
      {"--budget auto --passes 3", with("auto", 3)},
      {"--budget 90 --policy passes", with("90", 1, "passes")},
      {"--budget 150 --canvas 1024", with("150", 1, "realized", 1024)}};
  return all;
}

constexpr const char* kQuestion =
    "What is the price of the first item?";  // unsure: passes look again

}  // namespace

TEST(OneRoad, AskIsTheLibrary) {
  for (const Case& one : cases()) {
    SCOPED_TRACE(one.flags);
    expect_same(of_library({"receipt.jpg"}, kQuestion, one.options),
                run_json("ask " + example("receipt.jpg") + " '" + kQuestion +
                         "' --json --details " + one.flags));
  }
}

TEST(OneRoad, DefaultsAreTheLibrarysDefaults) {
  expect_same(of_library({"receipt.jpg"}, kQuestion, {}),
              run_json("ask " + example("receipt.jpg") + " '" + kQuestion + "' --json --details"));
}

TEST(OneRoad, TwoPictures) {
  for (const Case& one : {Case{"", {}}, Case{"--budget 300", with("300")},
                          Case{"--budget 200 --passes 2", with("200", 2)}}) {
    SCOPED_TRACE(one.flags);
    expect_same(of_library({"street.jpg", "receipt.jpg"}, kQuestion, one.options),
                run_json("ask " + example("street.jpg") + " " + example("receipt.jpg") + " '" +
                         kQuestion + "' --json --details " + one.flags));
  }
}

TEST(OneRoad, EvalIsAsk) {
  const Questions folder("receipt.jpg", kQuestion);
  for (const Case& one : cases()) {
    SCOPED_TRACE(one.flags);
    const Outcome o = run_arrcoc("eval --data " + folder.path() + " --predictions " +
                                 folder / "said.jsonl" + " --details " + one.flags +
                                 (one.options.policy == "realized" ? " --policy realized" : ""));
    ASSERT_EQ(o.code, 0) << o.err;
    expect_same(of_library({"receipt.jpg"}, kQuestion, one.options),
                predicted(folder / "said.jsonl", one.options.policy));
  }
}

// bench keeps all passes within the budget: a single look is that much smaller.
TEST(OneRoad, BenchIsAsk) {
  const Questions folder("receipt.jpg", kQuestion);
  const Outcome o = run_arrcoc(
      "bench --data " + folder.path() + " --policies realized,passes,lexical --budgets auto,160" +
      " --out " + folder / "report" + " --predictions " + folder / "said.jsonl" + " --details");
  ASSERT_EQ(o.code, 0) << o.err;
  for (const char* budget : {"auto", "160"})
    for (const char* policy : {"realized", "lexical"})
      expect_same(of_library({"receipt.jpg"}, kQuestion, with(budget, 1, policy)),
                  predicted(folder / "said.jsonl", std::string(policy) + "@" + budget));
  AskOptions passes = with("106", 1, "passes");
  passes.passes.total_budget = 160;
  expect_same(of_library({"receipt.jpg"}, kQuestion, passes),
              predicted(folder / "said.jsonl", "passes@160"));
}

TEST(OneRoad, WatchOnOneFrameIsAsk) {
  for (const Case& one : {Case{"", {}}, Case{"--budget 100", with("100")},
                          Case{"--policy passes", arrcoc::policy("passes")}}) {
    SCOPED_TRACE(one.flags);
    const Outcome o =
        run_arrcoc("watch " + example("receipt.jpg") + " '" + kQuestion + "' --json " + one.flags);
    ASSERT_EQ(o.code, 0) << o.err;
    json said = json::parse(o.err, nullptr, false)["answer"];
    EXPECT_EQ(said["frame"], 0);
    said.erase("frame");
    expect_same(of_library({"receipt.jpg"}, kQuestion, one.options, false), said);
  }
}

// Two models beside each other in one process: each answers with its own calibration.
TEST(OneRoad, BundlesAreApart) {
  const auto first = arrcoc::load_bundle(std::string(ARRCOC_SOURCE_DIR) + "/models/tiny");
  arrcoc::Calibration other = first->calibration;
  other.offset -= 3;
  const auto second = arrcoc::make_bundle(first->networks, other);
  const arrcoc::Picture picture = arrcoc::media::load(example("receipt.jpg"));
  AskOptions options = with("150");
  options.allocator = "quadtree";
  const Asker one(first), two(second);
  const Answer a = one.ask(picture, kQuestion, options), b = two.ask(picture, kQuestion, options),
               again = one.ask(picture, kQuestion, options);
  EXPECT_EQ(a.text, b.text);
  EXPECT_EQ(a.likelihood, b.likelihood);
  EXPECT_GT(a.confidence, b.confidence);
  EXPECT_EQ(a.confidence, again.confidence);
}
