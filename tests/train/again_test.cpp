// Steps that teach the map of a second pass.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "arrcoc/error.h"
#include "lab/train/train.h"
#include "models/tiny/files.h"
#include "train/digits.h"

namespace arrcoc::training {
namespace {

const SceneSource kDigits = [](uint64_t seed, bool) { return digits_scene(seed, 64); };
const auto kQuiet = [](const std::string&) {};

std::vector<double> reported(const Options& o, const char* name) {
  std::ifstream in(o.out + "/metrics.jsonl");
  std::vector<double> out;
  for (std::string line; std::getline(in, line);) {
    const auto report = nlohmann::json::parse(line);
    if (report.contains(name)) out.push_back(report[name].get<double>());
  }
  return out;
}

double mean_of_last(const std::vector<double>& values, size_t count) {
  double sum = 0;
  for (size_t i = values.size() - count; i < values.size(); ++i) sum += values[i];
  return sum / static_cast<double>(count);
}

// Networks that have seen a little, and options that teach their history alone.
Options after_a_start(const std::string& name) {
  Options first = tiny_options(name + "_start");
  first.steps = 40;
  first.reading = 1;
  first.rate = first.realizer_rate = 3e-3F;
  train(first, kDigits, kQuiet);
  Options o = tiny_options(name);
  o.init = first.out + "/weights";
  o.freeze_realizer = o.freeze_answerer = true;
  o.history = 1;
  o.history_low = 4;
  o.history_high = 10;
  o.reading = 0;
  o.realizer_rate = 5e-3F;
  o.report_seconds = 0;
  return o;
}

TEST(Again, TheSecondMapBecomesBetterThanTheFirstAndNothingElseChanges) {
  Options o = after_a_start("again");
  o.steps = 60;
  train(o, kDigits, kQuiet);
  const std::vector<double> once = reported(o, "once"), again = reported(o, "again");
  ASSERT_EQ(again.size(), 60U);
  EXPECT_DOUBLE_EQ(once[0], again[0]);  // before it is trained
  EXPECT_LT(mean_of_last(again, 15), 0.95 * mean_of_last(once, 15));
  const tiny::NetworkWeights before = tiny::load_networks(o.init),
                             after = tiny::load_networks(o.out + "/weights");
  EXPECT_TRUE(before.history.empty());
  EXPECT_FALSE(after.history.empty());
  for (size_t i = 0; i < before.realizer.size(); ++i)
    EXPECT_TRUE(before.realizer[i].equal(after.realizer[i]));
  for (size_t i = 0; i < before.answerer.size(); ++i)
    EXPECT_TRUE(before.answerer[i].equal(after.answerer[i]));
  // Another run goes on from it, and keeps it where it is not asked to teach it.
  Options next = tiny_options("again_next");
  next.init = o.out + "/weights";
  next.steps = 1;
  train(next, kDigits, kQuiet);
  const tiny::NetworkWeights kept = tiny::load_networks(next.out + "/weights");
  ASSERT_EQ(kept.history.size(), after.history.size());
  for (size_t i = 0; i < kept.history.size(); ++i)
    EXPECT_TRUE(kept.history[i].equal(after.history[i]));
}

TEST(Again, SplitsMayBeCreditedWithWhatIsReadFromThem) {
  Options o = after_a_start("again_outcome");
  o.steps = 3;
  o.questions = 4;
  o.taught = 2;
  o.history_outcome = 0.1F;
  train(o, kDigits, kQuiet);
  for (const char* name : {"again", "again_reward", "past_norm"}) {
    const std::vector<double> values = reported(o, name);
    ASSERT_EQ(values.size(), 3U) << name;
    for (const double value : values) EXPECT_TRUE(std::isfinite(value)) << name;
  }
  o.history_outcome = 0;
  o.history = 0.5F;  // half of the steps are ordinary ones
  o.freeze_realizer = o.freeze_answerer = false;
  o.steps = 8;
  train(o, kDigits, kQuiet);
  EXPECT_FALSE(reported(o, "again").empty());
  EXPECT_FALSE(reported(o, "answer").empty());
}

TEST(Again, OptionsThatMakeNoSenseAreRefused) {
  for (const char* bad :
       {R"({"history": 2})", R"({"history_low": 1})", R"({"history_low": 90, "history_high": 40})",
        R"({"history_wrong": -1})", R"({"history_outcome": 1})",
        R"({"history": 1, "history_outcome": 1, "questions": 8, "taught": 4, "data": "x"})"})
    EXPECT_THROW(options_from_json(bad), Error) << bad;
}

}  // namespace
}  // namespace arrcoc::training
