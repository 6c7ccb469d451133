#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "arrcoc/error.h"
#include "arrcoc/weights.h"
#include "folder.h"
#include "lab/train/evaluate.h"
#include "lab/train/train.h"
#include "models/tiny/files.h"
#include "train/digits.h"

namespace arrcoc::training {
namespace {

namespace fs = std::filesystem;

const SceneSource kDigits = [](uint64_t seed, bool) { return digits_scene(seed, 64); };
const auto kQuiet = [](const std::string&) {};

std::string bytes_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

bool same_weights(const std::string& a, const std::string& b) {
  const tiny::NetworkWeights x = tiny::load_networks(a), y = tiny::load_networks(b);
  for (size_t i = 0; i < x.realizer.size(); ++i)
    if (!x.realizer[i].equal(y.realizer[i])) return false;
  for (size_t i = 0; i < x.answerer.size(); ++i)
    if (!x.answerer[i].equal(y.answerer[i])) return false;
  return true;
}

// Mean of a loss over the reports [first, last) of a run that reported after every step.
double mean_loss(const Options& o, const char* name, size_t first, size_t last) {
  std::ifstream in(o.out + "/metrics.jsonl");
  double sum = 0;
  size_t at = 0, found = 0;
  for (std::string line; std::getline(in, line);) {
    const auto report = nlohmann::json::parse(line);
    if (!report.contains(name)) continue;
    if (at >= first && at < last) sum += report[name].get<double>(), ++found;
    ++at;
  }
  EXPECT_EQ(found, last - first) << name;
  return sum / static_cast<double>(std::max<size_t>(1, found));
}

TEST(Training, LearnsToReadAndToLook) {
  Options o = tiny_options("learns");
  o.steps = 90;
  o.reading = 1;
  o.dense = 0;
  o.rate = o.realizer_rate = 3e-3F;
  o.report_seconds = 0;  // every step
  const Report report = train(o, kDigits, kQuiet);
  EXPECT_EQ(report.steps, 90);
  EXPECT_EQ(report.questions, 90 * 16);
  for (const char* name : {"answer_reading", "glyph", "page_glyph", "relevance"}) {
    const double before = mean_loss(o, name, 0, 3), after = mean_loss(o, name, 80, 90);
    EXPECT_LT(after, 0.6 * before) << name;
    RecordProperty(std::string(name) + "_after", std::to_string(after));
  }
}

TEST(Training, TheSameSeedGivesTheSameWeights) {
  const Options a = tiny_options("seed_a"), b = tiny_options("seed_b");
  train(a, kDigits, kQuiet);
  train(b, kDigits, kQuiet);
  EXPECT_TRUE(same_weights(a.out + "/weights", b.out + "/weights"));
  Options c = tiny_options("seed_c");
  c.seed = 2;
  train(c, kDigits, kQuiet);
  EXPECT_FALSE(same_weights(a.out + "/weights", c.out + "/weights"));
}

TEST(Training, AResumedRunEndsExactlyWhereAnUnbrokenOneDoes) {
  const Options whole = tiny_options("whole");
  train(whole, kDigits, kQuiet);

  // The broken run stops inside step 5 and leaves only what was on disk after step 4.
  struct Killed {};
  Options broken = tiny_options("broken");
  broken.evaluate_steps = 4;
  int evaluations = 0;
  const auto kill = [&](const std::string& line) {
    if (line.rfind("held out", 0) == 0 && ++evaluations == 1) throw Killed();
  };
  EXPECT_THROW(train(broken, kDigits, kill), Killed);
  // What a kill has undone, and other runs, are not told in the log.
  const std::string log = broken.out + "/metrics.jsonl";
  std::ofstream(log, std::ios::app) << R"({"step":4,"kept":1})"
                                    << "\n"
                                    << R"({"step":5,"undone":1})"
                                    << "\n"
                                    << R"({"step":5,"und)";
  broken.resume = true;
  EXPECT_EQ(train(broken, kDigits, kQuiet).steps, 6);
  EXPECT_NE(bytes_of(log).find("kept"), std::string::npos);
  EXPECT_EQ(bytes_of(log).find("und"), std::string::npos);
  EXPECT_TRUE(same_weights(whole.out + "/weights", broken.out + "/weights"));
  EXPECT_EQ(bytes_of(whole.out + "/weights/model-s6-00001-of-00001.safetensors"),
            bytes_of(broken.out + "/weights/model-s6-00001-of-00001.safetensors"));
  broken.resume = false;
  train(broken, kDigits, kQuiet);
  EXPECT_EQ(bytes_of(log).find("kept"), std::string::npos);
}

TEST(Training, AWarmStartContinuesFromGivenWeights) {
  Options first = tiny_options("first");
  train(first, kDigits, kQuiet);
  Options second = tiny_options("second");
  second.init = first.out + "/weights";
  second.shape = tiny::Shape();  // the weights' own shape counts
  second.rate = second.realizer_rate = 0;
  train(second, kDigits, kQuiet);
  EXPECT_TRUE(same_weights(first.out + "/weights", second.out + "/weights"));
}

TEST(Training, GroupsOfLikeLengthGiveTheGradientOfTheWholeBatch) {
  double norms[2];
  for (int groups : {1, 3}) {
    Options o = tiny_options("groups" + std::to_string(groups));
    o.steps = 1;
    o.reading = 0;
    o.groups = groups;
    o.glyph_weight = 0;
    o.report_seconds = 0;
    train(o, kDigits, kQuiet);
    norms[groups / 3] = mean_loss(o, "answer_norm", 0, 1);
  }
  EXPECT_GT(norms[0], 0);
  EXPECT_NEAR(norms[0], norms[1], 1e-3 * norms[0]);
}

TEST(Training, QuestionsThatDoNotTeachTheRealizerStillGetItsMaps) {
  double answers[2], looks[2];
  for (int taught : {0, 1}) {
    Options o = tiny_options("taught" + std::to_string(taught));
    o.steps = 1;
    o.reading = 0;
    o.own_maps = o.own_maps_start = 1;
    o.taught = taught;
    o.words = 0.5F;  // else both questions of a picture are the same
    o.report_seconds = 0;
    train(o, kDigits, kQuiet);
    answers[taught] = mean_loss(o, "answer_norm", 0, 1);
    looks[taught] = mean_loss(o, "look_norm", 0, 1);
  }
  EXPECT_NEAR(answers[0], answers[1], 1e-3 * answers[0]);  // the same tokens were chosen
  EXPECT_GT(std::abs(looks[0] - looks[1]), 1e-3 * looks[0]);
}

TEST(Training, RecomputedLayersGiveTheSameGradients) {
  double looks[2], answers[2];
  for (int anew : {0, 1}) {
    Options o = tiny_options("anew" + std::to_string(anew));
    o.steps = 1;
    o.reading = 0;
    o.recompute = anew == 1;
    o.report_seconds = 0;
    train(o, kDigits, kQuiet);
    looks[anew] = mean_loss(o, "look_norm", 0, 1);
    answers[anew] = mean_loss(o, "answer_norm", 0, 1);
  }
  EXPECT_GT(looks[0], 0);
  EXPECT_NEAR(looks[0], looks[1], 1e-4 * looks[0]);
  EXPECT_NEAR(answers[0], answers[1], 1e-4 * answers[0]);
}

TEST(Training, FrozenTensorsStayAndTheOthersLearn) {
  Options first = tiny_options("thaw");
  first.steps = 1;
  train(first, kDigits, kQuiet);
  Options o = tiny_options("frozen");
  o.init = first.out + "/weights";
  o.freeze = {"realizer.stem", "answerer.encoder.0"};
  train(o, kDigits, kQuiet);
  const WeightFile before = WeightFile::open(o.init), after = WeightFile::open(o.out + "/weights");
  int stayed = 0, learned = 0;
  for (const auto& [name, info] : before.tensors()) {
    const bool same =
        before.get(name, at::kFloat, info.shape).equal(after.get(name, at::kFloat, info.shape));
    const bool frozen =
        name.rfind("realizer.stem", 0) == 0 || name.rfind("answerer.encoder.0", 0) == 0;
    if (frozen) EXPECT_TRUE(same) << name;
    (same ? stayed : learned) += 1;
  }
  EXPECT_GT(stayed, 10);
  EXPECT_GT(learned, 30);
  o.freeze = {"realizer.nothing"};
  EXPECT_THROW(train(o, kDigits, kQuiet), Error);
}

TEST(Training, NetworksThatAlternateLearnInTurn) {
  Options o = tiny_options("alternate");
  o.steps = 4;
  o.alternate = 2;
  o.dense = 0;
  o.report_seconds = 0;
  train(o, kDigits, kQuiet);
  std::ifstream in(o.out + "/metrics.jsonl");
  std::vector<std::pair<bool, bool>> learned;  // realizer, answerer
  for (std::string line; std::getline(in, line);) {
    const auto report = nlohmann::json::parse(line);
    if (report.contains("questions_per_second"))
      learned.emplace_back(report.contains("look_norm"), report.contains("answer_norm"));
  }
  ASSERT_GE(learned.size(), 4U);
  for (size_t i = 0; i < 4; ++i) EXPECT_EQ(learned[i], std::pair(i < 2, i >= 2)) << i;
}

TEST(Collapse, IsSeenInTiersAndMaps) {
  Evaluation e;
  e.all.questions = 100;
  e.distinct = 0.5;
  e.tier_share = {0.5, 0.2, 0.3, 0, 0};
  e.tokens_by_complexity = {70, 120, 250};
  EXPECT_TRUE(collapses(e).empty());
  e.distinct = 0.001;
  EXPECT_EQ(collapses(e).size(), 1U);
  e.tier_share = {0, 0, 0, 0, 1};
  e.tokens_by_complexity = {400, 400, 400};
  EXPECT_EQ(collapses(e).size(), 3U);
}

TEST(TrainingOptions, SurviveJsonAndRefuseUnknownKeys) {
  Options o = tiny_options("json");
  o.own_maps = 0.25F;
  const Options back = options_from_json(to_json(o));
  EXPECT_EQ(to_json(back), to_json(o));
  EXPECT_THROW(options_from_json(R"({"minuts": 3})"), Error);
  EXPECT_THROW(options_from_json(R"({"minutes": "long"})"), Error);
  EXPECT_THROW(options_from_json(R"({"canvas": 100})"), Error);
  EXPECT_THROW(options_from_json(R"({"pictures": 2.9})"), Error);
  EXPECT_THROW(options_from_json(R"({"pictures": 4294967297})"), Error);
  EXPECT_THROW(options_from_json(R"({"workers": -1})"), Error);
  EXPECT_THROW(options_from_json(R"({"slots": 2000000000})"), Error);
  EXPECT_THROW(options_from_json(R"({"questions": 4, "taught": 5})"), Error);
  EXPECT_THROW(options_from_json(R"({"groups": 0})"), Error);
  EXPECT_THROW(options_from_json(R"({"mix": {"unicorns": 1}})"), Error);
  EXPECT_THROW(options_from_json(R"({"mix": {"charts": 0}})"), Error);
  EXPECT_EQ(options_from_json(R"({"mix": {"charts": 2}})").mix.at("charts"), 2);
}

}  // namespace
}  // namespace arrcoc::training
