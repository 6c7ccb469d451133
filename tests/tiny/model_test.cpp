// The bundled model as users meet it: weight files, the realizer as a scorer, answers.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

#include "arrcoc/bundle.h"
#include "arrcoc/error.h"
#include "arrcoc/weights.h"
#include "folder.h"
#include "models/tiny/files.h"
#include "models/tiny/tiny.h"

namespace arrcoc::tiny {
namespace {

namespace fs = std::filesystem;

Shape small_shape() {
  return shape_from_json(
      R"({"width":64,"heads":2,"encoder_layers":2,"decoder_layers":2,"mlp":128,"stem":8,"cell":32,
          "page":32,"page_layers":1,"ask":32,"ask_layers":1,"question_layers":1})");
}

NetworkWeights random_bundle(const Shape& shape = small_shape()) {
  return {shape, RealizerNet(shape).layout().initial(1), Answerer(shape).layout().initial(2)};
}

// A fresh folder with random weights as int8.
std::string int8_folder(const std::string& name, const Shape& shape = small_shape()) {
  const fs::path base = test::fresh_folder(name);
  save_networks((base / "bf16").string(), random_bundle(shape), "t");
  export_int8((base / "bf16").string(), (base / "int8").string());
  return (base / "int8").string();
}

fs::path first_shard(const std::string& folder) {
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.path().extension() == ".safetensors") found.push_back(entry.path());
  std::sort(found.begin(), found.end());
  return found.at(0);
}

// The message of the Error{bad_weights} that loading gives.
std::string refusal(const std::string& folder) {
  try {
    TinyModel::load(folder);
  } catch (const Error& problem) {
    EXPECT_EQ(problem.code(), ErrorCode::bad_weights) << problem.what();
    return problem.what();
  }
  ADD_FAILURE() << folder << " was accepted";
  return "";
}

Picture noise(int width, int height, int64_t seed) {
  at::manual_seed(seed);
  return make_picture(at::randint(0, 255, {3, height, width}, at::kByte), "noise");
}

// Looking without keeping the page.
Opinion looked(const TinyModel& model, const Picture& picture, const std::string& question) {
  return model.look(*model.see(picture, frame_of(picture)), {question}).front();
}

struct Tokens {
  TokenSequence tokens;
  Geometry geometry;
};
// Even detail, so many tokens at most.
Tokens tokens_of(const Picture& picture, int budget) {
  const Pyramid pyramid(picture);
  Relevance even;
  even.map = {1, 1, static_cast<float>(picture.width()), static_cast<float>(picture.height()), {0}};
  const Allocation allocation =
      allocating::allocate(even, pyramid.geometry(), {budget, "", ""}, "breadth-first");
  return {cutting::cut(pyramid, allocation), pyramid.geometry()};
}

TEST(TinyInt8, ComesBackWithinHalfAStepOfEachRow) {
  const std::string folder = int8_folder("round");
  const NetworkWeights before = load_networks(folder + "/../bf16"), after = load_networks(folder);
  const RealizerNet realizer(before.shape);
  const Answerer answerer(before.shape);
  for (const auto& [a, b, layout] :
       {std::tuple(&before.realizer, &after.realizer, &realizer.layout()),
        std::tuple(&before.answerer, &after.answerer, &answerer.layout())})
    for (size_t i = 0; i < a->size(); ++i) {
      const Tensor &w = a->at(i), &back = b->at(i);
      ASSERT_EQ(w.sizes(), back.sizes());
      if (layout->specs()[i].name.rfind("glyph.", 0) == 0) {  // only training needs them
        EXPECT_EQ(back.abs().max().item<float>(), 0);
        continue;
      }
      if (w.dim() < 2) {
        EXPECT_TRUE(w.equal(back));
        continue;
      }
      const Tensor step = w.flatten(1).abs().amax(1, true) / 127;
      const Tensor error = (w - back).abs().flatten(1);
      EXPECT_TRUE(error.le(step * 0.507).all().item<bool>());
      EXPECT_GT(error.max().item<double>(), 0);
    }
  const auto report = export_int8(folder + "/../bf16", folder);
  EXPECT_GT(report.largest_error, 0.003);
  EXPECT_LT(report.largest_error, 0.00400);  // 0.5 / 127 and rounding, scales rounded up
  EXPECT_LT(report.relative_error, 0.02);
  EXPECT_LT(report.bytes, 2 * report.parameters);
}

TEST(TinyInt8, OtherWeightsNeverTakeTheNamesOfThoseThatAreThere) {
  const std::string folder = test::fresh_folder("again");
  const Shape shape = small_shape();
  const auto shards = [&] {
    std::set<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder))
      if (entry.path().extension() == ".safetensors") names.insert(entry.path().filename());
    return names;
  };
  save_networks_int8(folder, random_bundle());
  const auto before = shards();
  save_networks_int8(folder, random_bundle());
  EXPECT_EQ(shards(), before) << "the same weights";
  save_networks_int8(
      folder, {shape, RealizerNet(shape).layout().initial(7), Answerer(shape).layout().initial(8)});
  const auto after = shards();
  EXPECT_EQ(after.size(), before.size()) << "those before are gone";
  for (const std::string& name : after) EXPECT_EQ(before.count(name), 0U) << name;
  EXPECT_NO_THROW(load_networks(folder));
}

TEST(TinyInt8, TheBundledShapeFitsInTwentyMegabytesOfSmallShards) {
  const Shape shape;
  const fs::path folder = test::fresh_folder("full");
  save_networks_int8(folder.string(), {shape, RealizerNet(shape).layout().initial(1),
                                       Answerer(shape).layout().initial(2)});
  uintmax_t all = 0;
  for (const auto& entry : fs::directory_iterator(folder)) {
    EXPECT_LE(entry.file_size(), 8'000'000U) << entry.path();
    all += entry.file_size();
  }
  EXPECT_LE(all, 20'000'000U);
  EXPECT_GT(all, 15'000'000U);
  fs::remove_all(folder);
}

TEST(TinyLoad, RefusesAnotherShapeAndNamesTheTensor) {
  const std::string folder = int8_folder("shape");
  Shape other = small_shape();
  other.mlp = 192;
  std::ofstream(folder + "/config.json")
      << R"({"architecture":"arrcoc-tiny-1","shape":)" << shape_to_json(other) << "}";
  const std::string message = refusal(folder);
  EXPECT_NE(message.find("mlp"), std::string::npos) << message;
  EXPECT_NE(message.find(".safetensors"), std::string::npos) << message;
}

TEST(TinyLoad, RefusesAMissingTensorAndNamesIt) {
  const std::string folder = int8_folder("missing");
  Shape other = small_shape();
  other.encoder_layers = 3;
  std::ofstream(folder + "/config.json")
      << R"({"architecture":"arrcoc-tiny-1","shape":)" << shape_to_json(other) << "}";
  EXPECT_NE(refusal(folder).find("answerer.encoder.2"), std::string::npos);
}

TEST(TinyLoad, RefusesATruncatedFileAndNamesIt) {
  const std::string folder = int8_folder("cut");
  const fs::path shard = first_shard(folder);
  fs::resize_file(shard, fs::file_size(shard) / 2);
  EXPECT_NE(refusal(folder).find(shard.filename().string()), std::string::npos);
}

TEST(TinyLoad, NothingButTheGlyphHeadsMayBeMissing) {
  const std::string folder = int8_folder("missing");
  const WeightFile weights = WeightFile::open(folder);
  EXPECT_FALSE(weights.has("answerer.glyph.weight"));
  EXPECT_FALSE(weights.has("realizer.glyph.weight"));
  EXPECT_NO_THROW(TinyModel::load(folder));
  std::map<std::string, Tensor> rest;
  for (const auto& [name, info] : weights.tensors())
    if (name.rfind("answerer.out.", 0) != 0) rest[name] = weights.view(name).clone();
  const fs::path other = fs::path(folder).parent_path() / "cut";
  fs::create_directories(other);
  fs::copy_file(folder + "/config.json", other / "config.json");
  write_safetensors((other / "model.safetensors").string(), rest);
  EXPECT_NE(refusal(other.string()).find("answerer.out.weight"), std::string::npos);
}

// Weights from before there were lookups do not name them, and look nothing up.
TEST(TinyLoad, TakesOlderWeightsWithoutLookups) {
  Shape shape = small_shape();
  shape.lookups = 0;
  const fs::path folder = int8_folder("older", shape);
  auto config = nlohmann::json::parse(std::ifstream(folder / "config.json"));
  ASSERT_EQ(config["shape"]["lookups"], 0);
  config["shape"].erase("lookups");
  std::ofstream(folder / "config.json") << config.dump();
  const auto model = TinyModel::load(folder.string());
  EXPECT_EQ(model->shape().lookups, 0);
  const Picture picture = noise(120, 90, 3);
  EXPECT_GT(looked(*model, picture, "what?").relevance.values.size(), 0U);
}

TEST(TinyLoad, TheBundleSaysHowManyCandidatesAnAnswerHas) {
  const fs::path folder = int8_folder("beam");
  auto config = nlohmann::json::parse(std::ifstream(folder / "config.json"));
  EXPECT_EQ(load_networks(folder.string()).beam, 1);
  const auto with = [&](const nlohmann::json& beam) {
    config["beam"] = beam;
    std::ofstream(folder / "config.json") << config.dump();
    return folder.string();
  };
  const NetworkWeights four = load_networks(with(4));
  EXPECT_EQ(four.beam, 4);
  const std::string again = (folder.parent_path() / "again").string();
  save_networks_int8(again, four);
  EXPECT_EQ(load_networks(again).beam, 4);
  for (const nlohmann::json& wrong : {nlohmann::json(0), nlohmann::json(17), nlohmann::json("4")})
    EXPECT_NE(refusal(with(wrong)).find("'beam' must be a number"), std::string::npos);
}

TEST(TinyLoad, RefusesAStrangersConfig) {
  const std::string folder = int8_folder("stranger");
  std::ofstream(folder + "/config.json") << R"({"architecture":"llama","shape":{}})";
  EXPECT_NE(refusal(folder).find("config.json"), std::string::npos);
  EXPECT_THROW(TinyModel::load(folder + "/nowhere"), Error);
}

TEST(TinyLook, TheMapHasTheShapeOfTheSightAndFollowsTheQuestion) {
  const auto bundle = load_bundle(int8_folder("look"));
  const std::vector<Query> two = {parse_query("What is the total?"),
                                  parse_query("Who signed the letter?")};
  const auto maps = [&](const Looker& looker, const Picture& picture) {
    return looker.look(*looker.see(picture), two);
  };
  for (const auto& [width, height] : {std::pair(200, 120), std::pair(97, 33), std::pair(16, 300)}) {
    const auto looks = maps(*bundle->looker, noise(width, height, 3));
    EXPECT_EQ(looks[0].relevance.map.rows, (height + 15) / 16);
    EXPECT_EQ(looks[0].relevance.map.cols, (width + 15) / 16);
    EXPECT_NE(looks[0].relevance.map.values, looks[1].relevance.map.values);
    ASSERT_TRUE(looks[0].need);
    EXPECT_GE(*looks[0].need, 0);
    EXPECT_LE(*looks[0].need, 1);
  }
  LookOptions options;
  options.cell = 8;  // another grid than the network's own
  const auto finer = make_looker(options, bundle->looker);
  EXPECT_EQ(maps(*finer, noise(200, 120, 3))[0].relevance.map.cols, 25);
  options.frame = 100;  // another frame: the network sees that one too
  options.cell = 16;
  const auto smaller = make_looker(options, bundle->looker);
  EXPECT_EQ(maps(*smaller, noise(200, 120, 3))[0].relevance.map.cols, 7);
}

TEST(TinyLook, NeedFollowsTheTierHeadAndTheCalibration) {
  const auto networks = TinyModel::load(int8_folder("need"));
  const std::vector<Query> one = {parse_query("total?")};
  const Picture picture = noise(160, 96, 4);
  const auto need = [&](double scale, double power) {
    Calibration c;
    c.scale = scale;
    c.power = power;
    const auto bundle = make_bundle(networks, c);
    return *bundle->looker->look(*bundle->looker->see(picture), one).front().need;
  };
  const double expected =
      (allocating::expected_budget(looked(*networks, picture, "total?").tier).tokens - 64) / 336.0;
  EXPECT_NEAR(need(1, 1), expected, 1e-6);
  EXPECT_NEAR(need(0.5, 1), expected / 2, 1e-6);
  EXPECT_NEAR(need(1, 2), expected * expected, 1e-6);
  EXPECT_EQ(need(100, 1), 1);
}

TEST(TinyLook, ThreadsShareOneModel) {
  const auto model = TinyModel::load(int8_folder("threads"));
  std::vector<Picture> pictures;
  std::vector<Opinion> alone;
  for (int64_t i = 0; i < 6; ++i) {
    pictures.push_back(noise(96, 64, i));
    alone.push_back(looked(*model, pictures.back(), "what?"));
  }
  std::vector<std::vector<Opinion>> together(3, std::vector<Opinion>(6));
  std::vector<std::thread> threads;
  for (size_t t = 0; t < together.size(); ++t)
    threads.emplace_back([&, t] {
      for (size_t i = 0; i < 6; ++i) {
        const Picture& picture = pictures[(i + t) % 6];
        together[t][(i + t) % 6] = looked(*model, picture, "what?");
      }
    });
  for (std::thread& thread : threads) thread.join();
  for (const auto& opinions : together)
    for (size_t i = 0; i < 6; ++i)
      EXPECT_LT(cosine_distance(opinions[i].relevance, alone[i].relevance), 1e-5F) << i;
}

TEST(TinyText, TheProviderFillsTheTextMask) {
  const auto bundle = load_bundle(int8_folder("mask"));
  const Picture picture = noise(128, 64, 1);
  texture::Options options;
  options.channels = ChannelSet::full;
  options.providers = {bundle->looker->provider()};
  const Texture sensed = texture::sense(picture, options);
  EXPECT_TRUE(sensed.fallbacks.empty());
  const at::Tensor mask = sensed.of(Channel::text_mask);
  EXPECT_GT(mask.max().item<float>(), 0);
  EXPECT_LE(mask.max().item<float>(), 1);
  LookOptions by_name;
  by_name.coupling = "lexical";
  by_name.providers = {"network-print"};
  EXPECT_NO_THROW(make_looker(by_name, bundle->looker));
  EXPECT_THROW(make_looker(by_name), Error);  // nobody has one
}

TEST(TinyLook, ManyQuestionsTogetherAreTheSameAsOneByOne) {
  const auto model = TinyModel::load(int8_folder("together"));
  const Picture picture = noise(160, 96, 4);
  const at::Tensor frame = frame_of(picture);
  const std::vector<std::string> questions = {"which number?", "who?", "what is the total amount?"};
  const auto page = model->see(picture, frame);
  const std::vector<Opinion> all = model->look(*page, questions);
  for (size_t i = 0; i < questions.size(); ++i) {
    const Opinion alone = model->look(*page, {questions[i]}).front();
    EXPECT_LT(cosine_distance(all[i].relevance, alone.relevance), 1e-5F);
    for (size_t k = 0; k < alone.tier.size(); ++k) EXPECT_NEAR(all[i].tier[k], alone.tier[k], 1e-3);
  }
}

TEST(TinyAnswer, FocusIsAShareOfTheAttentionOnEachToken) {
  const auto model = TinyModel::load(int8_folder("focus"));
  const Tokens seen = tokens_of(noise(200, 120, 7), 64);
  const ReadAnswer a = model->answer(seen.tokens, seen.geometry, "what is it?");
  ASSERT_EQ(a.focus.size(), static_cast<size_t>(seen.tokens.size()));
  float sum = 0;
  for (float f : a.focus) {
    EXPECT_GE(f, 0);
    sum += f;
  }
  EXPECT_GT(sum, 0);
  EXPECT_LE(sum, 1.0001F);  // the rest looked at the question
}

TEST(TinyAnswer, IsTheSameEveryTimeAndItsConfidenceIsTheProduct) {
  const auto model = TinyModel::load(int8_folder("answer"));
  const Tokens seen = tokens_of(noise(200, 120, 7), 64);
  const ReadAnswer a = model->answer(seen.tokens, seen.geometry, "what is it?");
  const ReadAnswer b = model->answer(seen.tokens, seen.geometry, "what is it?");
  EXPECT_EQ(a, b);
  double product = 1;
  for (float p : a.probabilities) {
    EXPECT_GT(p, 0);
    EXPECT_LE(p, 1);
    product *= p;
  }
  EXPECT_FLOAT_EQ(a.confidence, static_cast<float>(product));
  EXPECT_FALSE(a.shortened);
  EXPECT_TRUE(model->answer(seen.tokens, seen.geometry, std::string(300, 'a')).shortened);
  EXPECT_THROW(model->answer(seen.tokens, seen.geometry, ""), Error);
}

TEST(TinyLook, APageThatTheCallerKeepsGivesTheSameOpinion) {
  const auto model = TinyModel::load(int8_folder("kept"));
  const Picture picture = noise(120, 90, 3);
  const at::Tensor frame = frame_of(picture);
  const auto page = model->see(picture, frame);
  EXPECT_EQ(model->look(*page, {"what?"}).front(), looked(*model, picture, "what?"));
  // 6 rows of 4 word cells on a canvas of 128x96: words, keys and values; text; masks.
  const int64_t rows = 6, cols = 4, ask = 32;
  EXPECT_EQ(TinyModel::bytes(*page), static_cast<int64_t>(sizeof(float)) *
                                         (3 * rows * cols * ask + rows * cols * 2 + rows + cols));
  EXPECT_THROW(model->look(*page, {""}), Error);
}

TEST(TinyAnswer, ABatchSaysWhatEachWouldSayAlone) {
  const auto model = TinyModel::load(int8_folder("batch"));
  const std::vector<std::string> questions = {"what is it?", "where?",
                                              "how many of them are there?"};
  std::vector<Tokens> seen;
  for (int i = 0; i < 3; ++i) seen.push_back(tokens_of(noise(200, 120, i), 64 + 20 * i));
  std::vector<TokenReading> readings;
  for (size_t i = 0; i < 3; ++i)
    readings.push_back({&seen[i].tokens, seen[i].geometry, questions[i]});
  std::vector<std::string> heard(3);
  const auto answers =
      model->answer(readings, [&](size_t i, const std::string& text) { heard[i] += text; });
  for (size_t i = 0; i < 3; ++i) {
    const ReadAnswer alone = model->answer(seen[i].tokens, seen[i].geometry, questions[i]);
    EXPECT_EQ(answers[i].text, alone.text);
    EXPECT_NEAR(answers[i].confidence, alone.confidence, 1e-4F);
    EXPECT_NEAR(answers[i].quality, alone.quality, 1e-4F);
    EXPECT_EQ(heard[i], answers[i].text);
    EXPECT_FALSE(answers[i].adapter_bypassed);
  }
}

TEST(TinyAnswer, ABrokenAdapterIsBypassed) {
  NetworkWeights bundle = random_bundle();
  const Answerer network(bundle.shape);
  const auto& specs = network.layout().specs();
  for (size_t i = 0; i < specs.size(); ++i)
    if (specs[i].name.rfind("adapter.gate", 0) == 0)
      bundle.answerer[i].fill_(std::numeric_limits<float>::quiet_NaN());
  const fs::path folder = test::fresh_folder("adapter");
  save_networks(folder.string(), bundle, "t");
  const auto model = TinyModel::load(folder.string());
  const Tokens seen = tokens_of(noise(64, 64, 1), 16);
  const ReadAnswer answer = model->answer(seen.tokens, seen.geometry, "what?");
  EXPECT_TRUE(answer.adapter_bypassed);
  ASSERT_FALSE(answer.probabilities.empty());
  for (float p : answer.probabilities) EXPECT_GT(p, 0) << "NaN compares false";
}

}  // namespace
}  // namespace arrcoc::tiny
