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

#include "arrcoc/error.h"
#include "arrcoc/film.h"
#include "arrcoc/realize.h"
#include "models/tiny/tiny.h"
#include "arrcoc/weights.h"
#include "folder.h"
#include "models/tiny/files.h"

namespace arrcoc::tiny {
namespace {

namespace fs = std::filesystem;

Shape small_shape() {
  return shape_from_json(
      R"({"width":64,"heads":2,"encoder_layers":2,"decoder_layers":2,"mlp":128,"stem":8,"cell":32,
          "page":32,"page_layers":1,"ask":32,"ask_layers":1,"question_layers":1})");
}

Bundle random_bundle(const Shape& shape = small_shape()) {
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

TEST(TinyInt8, ComesBackWithinHalfAStepOfEachRow) {
  const std::string folder = int8_folder("round");
  const Bundle before = load_networks(folder + "/../bf16"), after = load_networks(folder);
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
  EXPECT_GT(model->look(picture, frame_of(picture), "what?").relevance.values.size(), 0U);
}

TEST(TinyLoad, RefusesAStrangersConfig) {
  const std::string folder = int8_folder("stranger");
  std::ofstream(folder + "/config.json") << R"({"architecture":"llama","shape":{}})";
  EXPECT_NE(refusal(folder).find("config.json"), std::string::npos);
  EXPECT_THROW(TinyModel::load(folder + "/nowhere"), Error);
}

TEST(TinyLook, TheMapHasTheShapeOfTheSightAndFollowsTheQuestion) {
  install(int8_folder("look"));
  Options options = policy("realizer");
  options.budget = "64";
  for (const auto& [width, height] : {std::pair(200, 120), std::pair(97, 33), std::pair(16, 300)}) {
    const Picture picture = noise(width, height, 3);
    const Realization a = realize(picture, "What is the total?", options);
    const Realization b = realize(picture, "Who signed the letter?", options);
    EXPECT_EQ(a.knowledge.coupling.rows, (height + 15) / 16);
    EXPECT_EQ(a.knowledge.coupling.cols, (width + 15) / 16);
    EXPECT_EQ(a.knowledge.coupling.values.size(), a.knowledge.information.values.size());
    EXPECT_NE(a.knowledge.coupling.values, b.knowledge.coupling.values);
  }
  options.cell = 8;  // another grid than the network's own
  const Picture picture = noise(200, 120, 3);
  EXPECT_EQ(realize(picture, "What is the total?", options).knowledge.coupling.cols, 25);
}

TEST(TinyLook, APageFromMemoryGivesTheSameOpinion) {
  const std::string folder = int8_folder("memory");
  const auto model = TinyModel::load(folder);
  const Picture picture = noise(160, 96, 4);
  const at::Tensor frame = frame_of(picture);
  const Opinion first = model->look(picture, frame, "which number?");
  EXPECT_EQ(model->look(picture, frame, "which number?"), first);
  // Others push the page out of the memory; it is computed again.
  for (int64_t seed = 10; seed < 20; ++seed) {
    const Picture other = noise(160, 96, seed);
    EXPECT_NE(model->look(other, frame_of(other), "which number?"), first);
  }
  EXPECT_EQ(model->look(picture, frame, "which number?"), first);
  EXPECT_EQ(TinyModel::load(folder)->look(picture, frame, "which number?"), first);
}

TEST(TinyLook, ThreadsShareOneModel) {
  const auto model = TinyModel::load(int8_folder("threads"));
  std::vector<Picture> pictures;
  std::vector<Opinion> alone;
  for (int64_t i = 0; i < 6; ++i) {
    pictures.push_back(noise(96, 64, i));
    alone.push_back(model->look(pictures.back(), frame_of(pictures.back()), "what?"));
  }
  std::vector<std::vector<Opinion>> together(3, std::vector<Opinion>(6));
  std::vector<std::thread> threads;
  for (size_t t = 0; t < together.size(); ++t)
    threads.emplace_back([&, t] {
      for (size_t i = 0; i < 6; ++i) {
        const Picture& picture = pictures[(i + t) % 6];
        together[t][(i + t) % 6] = model->look(picture, frame_of(picture), "what?");
      }
    });
  for (std::thread& thread : threads) thread.join();
  for (const auto& opinions : together)
    for (size_t i = 0; i < 6; ++i)
      EXPECT_LT(cosine_distance(opinions[i].relevance, alone[i].relevance), 1e-5F) << i;
}

TEST(TinyText, TheProviderFillsTheTextMask) {
  install(int8_folder("mask"));
  Options options;
  options.channels = "full";
  options.providers = {"realizer-text"};
  const Realization r = realize(noise(128, 64, 1), "what?", options);
  EXPECT_TRUE(r.texture.fallbacks.empty());
  const at::Tensor mask = r.texture.of(Channel::text_mask);
  EXPECT_GT(mask.max().item<float>(), 0);
  EXPECT_LE(mask.max().item<float>(), 1);
}

TEST(TinyLook, ManyQuestionsTogetherAreTheSameAsOneByOne) {
  const auto model = TinyModel::load(int8_folder("together"));
  const Picture picture = noise(160, 96, 4);
  const at::Tensor frame = frame_of(picture);
  const std::vector<std::string> questions = {"which number?", "who?", "what is the total amount?"};
  const std::vector<Opinion> all = model->look(picture, frame, questions);
  for (size_t i = 0; i < questions.size(); ++i) {
    const Opinion alone = model->look(picture, frame, questions[i]);
    EXPECT_LT(cosine_distance(all[i].relevance, alone.relevance), 1e-5F);
    for (size_t k = 0; k < alone.tier.size(); ++k) EXPECT_NEAR(all[i].tier[k], alone.tier[k], 1e-3);
  }
}

TEST(TinyAnswer, FocusIsAShareOfTheAttentionOnEachToken) {
  const auto model = TinyModel::load(int8_folder("focus"));
  Options options;
  options.budget = "64";
  const Realization seen = realize(noise(200, 120, 7), "what?", options);
  const Answer a = model->answer(seen.tokens, seen.allocation.geometry, "what is it?");
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
  const Picture picture = noise(200, 120, 7);
  Options options;
  options.budget = "64";
  const Realization seen = realize(picture, "what?", options);
  const Answer a = model->answer(seen.tokens, seen.allocation.geometry, "what is it?");
  const Answer b = model->answer(seen.tokens, seen.allocation.geometry, "what is it?");
  EXPECT_EQ(a, b);
  double product = 1;
  for (float p : a.probabilities) {
    EXPECT_GT(p, 0);
    EXPECT_LE(p, 1);
    product *= p;
  }
  EXPECT_FLOAT_EQ(a.confidence, static_cast<float>(product));
  EXPECT_FALSE(a.shortened);
  EXPECT_TRUE(
      model->answer(seen.tokens, seen.allocation.geometry, std::string(300, 'a')).shortened);
  EXPECT_THROW(model->answer(seen.tokens, seen.allocation.geometry, ""), Error);
}

TEST(TinyLook, APageThatTheCallerKeepsGivesTheSameOpinion) {
  const auto model = TinyModel::load(int8_folder("kept"));
  const Picture picture = noise(120, 90, 3);
  const at::Tensor frame = frame_of(picture);
  const auto page = model->see(picture, frame);
  EXPECT_EQ(model->look(*page, "what?"), model->look(picture, frame, "what?"));
  // 6 rows of 4 word cells on a canvas of 128x96: words, keys and values; text; masks.
  const int64_t rows = 6, cols = 4, ask = 32;
  EXPECT_EQ(TinyModel::bytes(*page), static_cast<int64_t>(sizeof(float)) *
                                         (3 * rows * cols * ask + rows * cols * 2 + rows + cols));
  EXPECT_THROW(model->look(*page, ""), Error);
}

TEST(TinyAnswer, ABatchSaysWhatEachWouldSayAlone) {
  const auto model = TinyModel::load(int8_folder("batch"));
  const std::vector<std::string> questions = {"what is it?", "where?",
                                              "how many of them are there?"};
  std::vector<Realization> seen;
  for (int64_t i = 0; i < 3; ++i) {
    Options options;
    options.budget = std::to_string(64 + 20 * i);
    seen.push_back(realize(noise(200, 120, i), questions[i], options));
  }
  std::vector<Reading> readings;
  for (size_t i = 0; i < 3; ++i)
    readings.push_back({&seen[i].tokens, seen[i].allocation.geometry, questions[i]});
  std::vector<std::string> heard(3);
  const auto answers =
      model->answer(readings, [&](size_t i, const std::string& text) { heard[i] += text; });
  for (size_t i = 0; i < 3; ++i) {
    const Answer alone = model->answer(seen[i].tokens, seen[i].allocation.geometry, questions[i]);
    EXPECT_EQ(answers[i].text, alone.text);
    EXPECT_NEAR(answers[i].confidence, alone.confidence, 1e-4F);
    EXPECT_NEAR(answers[i].quality, alone.quality, 1e-4F);
    EXPECT_EQ(heard[i], answers[i].text);
    EXPECT_FALSE(answers[i].adapter_bypassed);
  }
}

TEST(TinyAnswer, ABrokenAdapterIsBypassed) {
  Bundle bundle = random_bundle();
  const Answerer network(bundle.shape);
  const auto& specs = network.layout().specs();
  for (size_t i = 0; i < specs.size(); ++i)
    if (specs[i].name.rfind("adapter.gate", 0) == 0)
      bundle.answerer[i].fill_(std::numeric_limits<float>::quiet_NaN());
  const fs::path folder = test::fresh_folder("adapter");
  save_networks(folder.string(), bundle, "t");
  const auto model = TinyModel::load(folder.string());
  const Realization seen = realize(noise(64, 64, 1), "what?");
  const Answer answer = model->answer(seen.tokens, seen.allocation.geometry, "what?");
  EXPECT_TRUE(answer.adapter_bypassed);
  ASSERT_FALSE(answer.probabilities.empty());
  for (float p : answer.probabilities) EXPECT_GT(p, 0) << "NaN compares false";
}

TEST(Install, TakesWhatWasFittedForFilmsFromTheModelsFolder) {
  const std::string folder = int8_folder("film");
  std::ofstream(fs::path(folder) / "film.json") << R"({"decay": 0.3})";
  install(folder);
  EXPECT_FLOAT_EQ(filming::defaults().tuning.decay, 0.3F);
  std::ofstream(fs::path(folder) / "film.json") << R"({"decoy": 0.3})";
  try {
    install(folder);
    FAIL() << "an unknown key was taken";
  } catch (const Error& problem) {
    EXPECT_NE(std::string(problem.what()).find("film.json"), std::string::npos) << problem.what();
  }
  filming::install_constants("");
}

TEST(TinyModel, PagesAreRememberedByTheirBytes) {
  Shape shape = small_shape();
  shape.ask = 192;  // what is remembered of a page is this wide
  const auto model = TinyModel::load(int8_folder("remembered", shape));
  const auto page = [](int number, int64_t side) {
    return make_picture(at::full({3, side, side}, number, at::kByte));
  };
  // True when the page had to be read.
  const auto read = [&](const Picture& p) { return model->read(p, frame_of(p, p.width())); };
  const Picture first = page(0, 2048);
  const int64_t bytes = TinyModel::bytes(*model->see(first, frame_of(first, 2048)));
  const auto fit = static_cast<int>(TinyModel::kRememberedBytes / bytes);
  ASSERT_GE(fit, 2);
  ASSERT_LE(fit, 8);
  for (int i = 0; i < fit; ++i) EXPECT_TRUE(read(page(i, 2048)));
  EXPECT_FALSE(read(first)) << "all fit, and the first is now the one used last";
  EXPECT_TRUE(read(page(fit, 2048)));
  EXPECT_FALSE(read(first));
  EXPECT_TRUE(read(page(1, 2048))) << "the one not used for longest had to go";
  const Picture large = page(0, 4096);
  EXPECT_TRUE(read(large));
  EXPECT_FALSE(read(large)) << "the latest stays, however large";
  EXPECT_TRUE(read(first));
}

}  // namespace
}  // namespace arrcoc::tiny
