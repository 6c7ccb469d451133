// The Q-Former baseline: what its queries see, what learns and what does not, what is refused.
#include "lab/train/qformer.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "arrcoc/error.h"
#include "arrcoc/picture.h"
#include "arrcoc/tokens.h"
#include "folder.h"
#include "lab/measure/measure.h"
#include "models/tiny/files.h"
#include "models/tiny/query_former.h"
#include "models/tiny/tiny.h"
#include "train/digits.h"

namespace arrcoc::training {
namespace {

namespace fs = std::filesystem;

const SceneSource kDigits = [](uint64_t seed, bool) { return digits_scene(seed, 64); };
const auto kQuiet = [](const std::string&) {};

tiny::Shape small_shape(int width = 64) {
  return tiny::shape_from_json(
      R"({"width":)" + std::to_string(width) +
      R"(,"heads":2,"encoder_layers":2,"decoder_layers":1,"mlp":128,"stem":8,"cell":32,
          "page":32,"page_layers":1,"ask":32,"ask_layers":1,"question_layers":1})");
}

tiny::NetworkWeights bundle_of(const tiny::Shape& shape, uint64_t seed) {
  return {shape, tiny::RealizerNet(shape).layout().initial(seed),
          tiny::Answerer(shape).layout().initial(seed + 1)};
}

// A fresh folder with a model in FOLDER/tiny.
fs::path folder_with_model(const std::string& name, const tiny::NetworkWeights& bundle) {
  const fs::path folder = test::fresh_folder(name);
  tiny::save_networks_int8((folder / "tiny").string(), bundle);
  return folder;
}

Options quick(const fs::path& folder) {
  at::set_num_threads(1);  // these tensors are too small to share
  Options o = query_defaults();
  o.init = (folder / "tiny").string();
  o.out = tiny::queries_folder(o.init);
  o.device = "cpu";
  o.canvas = 64;
  o.slots = 32;
  o.workers = 2;
  o.fresh = 4;
  o.pictures = 8;
  o.questions = 1;
  o.held_out = 4;
  o.steps = 3;
  o.report_seconds = 1e9;
  return o;
}

std::string bytes_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

template <class Call>
std::string refusal(const Call& call, ErrorCode code) {
  try {
    call();
  } catch (const Error& problem) {
    EXPECT_EQ(problem.code(), code) << problem.what();
    return problem.what();
  }
  ADD_FAILURE() << "nothing was refused";
  return "";
}

TEST(QueryFormer, GivesAsManyTokensWhateverThePictureAndInWhateverOrder) {
  const at::NoGradGuard no_grad;
  at::manual_seed(4);
  const tiny::QueryFormer net(small_shape());
  const tiny::Tensors w = net.layout().initial(1);
  for (int64_t n : {1, 7, 300}) {
    const at::Tensor tokens = at::randn({1, n, 64}), open = at::zeros({1, 1, 1, n});
    const at::Tensor seen = net(w, tokens, open);
    EXPECT_EQ(seen.sizes(), at::IntArrayRef({1, tiny::kQueries, 64}));
    EXPECT_TRUE(at::allclose(net(w, tokens.flip({1}), open), seen, 1e-4, 1e-5)) << n;
    // What is masked is not there.
    const at::Tensor more = at::cat({tokens, at::randn({1, 5, 64})}, 1);
    const at::Tensor mask = at::cat({open, at::full({1, 1, 1, 5}, -30000.0)}, 3);
    EXPECT_TRUE(at::allclose(net(w, more, mask), seen, 1e-4, 1e-5)) << n;
    if (n > 1) EXPECT_FALSE(at::allclose(net(w, tokens.square(), open), seen, 1e-2, 1e-2));
  }
}

TEST(QueryFormer, IsTheOnlyWayFromThePictureToTheWriterAndDoesNotSeeTheQuestion) {
  const at::NoGradGuard no_grad;
  at::manual_seed(5);
  const tiny::Shape shape = small_shape();
  const tiny::Answerer answerer(shape);
  const tiny::Tensors w = answerer.layout().initial(2);
  tiny::AnswererInput look;
  look.patches = at::randint(0, 256, {1, 12, 1728}, at::kByte);
  look.centre = at::rand({1, 12, 2}) * 64;
  look.scale = look.relevance = at::zeros({1, 12});
  look.extent = at::full({1, 2}, 64.0F);
  look.real = at::ones({1, 12}, at::kBool);
  at::Tensor mask, states[2];
  for (int i : {0, 1}) {  // the question is not looked at
    look.question = at::randint(3, 100, {1, 5 + i}, at::kLong);
    states[i] = answerer.encode_picture(w, look, at::kFloat, mask);
  }
  EXPECT_TRUE(at::equal(states[0], states[1]));
  // With the same query outputs the memory is the same, whatever the picture was.
  const at::Tensor given = at::randn({1, tiny::kQueries, 64});
  const tiny::Memory memory = answerer.encode_given(w, given, look.question);
  EXPECT_EQ(memory.states.size(1), tiny::kQueries + look.question.size(1));
  EXPECT_EQ(memory.quality.size(1), tiny::kQueries);
}

TEST(QueryTraining, LossFallsAndTheModelStaysAsItIs) {
  const fs::path folder = folder_with_model("learns", bundle_of(small_shape(), 1));
  Options o = quick(folder);
  o.steps = 60;
  o.rate = 3e-3F;
  o.report_seconds = 0;  // every step is a window
  const std::string index = o.init + "/model.safetensors.index.json";
  std::string shard;
  for (const auto& entry : fs::directory_iterator(o.init))
    if (entry.path().extension() == ".safetensors") shard = entry.path().string();
  const std::string before = bytes_of(index) + bytes_of(shard);
  const QueryReport report = train_queries(o, kDigits, kQuiet);
  EXPECT_EQ(report.steps, 60);
  EXPECT_EQ(report.questions, 60 * 8);
  EXPECT_LT(report.loss, 0.93 * report.first_loss);  // against a writer that knows nothing
  EXPECT_GT(before.size(), 1000u);
  EXPECT_EQ(before, bytes_of(index) + bytes_of(shard));
  EXPECT_EQ(
      tiny::load_queries(o.out, small_shape()).answerer,
      tiny::answerer_tag(tiny::Answerer(small_shape()), tiny::load_networks(o.init).answerer));
}

TEST(QueryTraining, TheSameSeedGivesTheSameQueriesAndTheyComeBackAsTheyWereSaved) {
  const fs::path folder = folder_with_model("same", bundle_of(small_shape(), 1));
  Options o = quick(folder);
  train_queries(o, kDigits, kQuiet);
  const std::string first = bytes_of(fs::path(o.out) / "model.safetensors");
  train_queries(o, kDigits, kQuiet);
  EXPECT_EQ(first, bytes_of(fs::path(o.out) / "model.safetensors"));
  const auto read = tiny::load_queries(o.out, small_shape());
  tiny::save_queries((folder / "again").string(), small_shape(), read, {});
  const auto again = tiny::load_queries((folder / "again").string(), small_shape());
  ASSERT_EQ(read.tensors.size(), again.tensors.size());
  for (size_t i = 0; i < read.tensors.size(); ++i)
    EXPECT_TRUE(at::allclose(read.tensors[i], again.tensors[i], 2e-2, 1e-3)) << i;
  EXPECT_EQ(read.answerer, again.answerer);
  o.seed = 2;
  train_queries(o, kDigits, kQuiet);
  EXPECT_NE(first, bytes_of(fs::path(o.out) / "model.safetensors"));
}

TokenSequence tokens_of(const Pyramid& pyramid) {
  Allocation all;
  all.geometry = pyramid.geometry();
  all.geometry.finest = 0;
  const Grid grid = all.geometry.grid(0);
  for (int r = 0; r < grid.rows; ++r)
    for (int c = 0; c < grid.cols; ++c) all.leaves.push_back({0, r, c, 0});
  return cutting::cut(pyramid, all);
}

Pyramid page(uint64_t seed, int side) {
  const Picture picture = measuring::picture_of(digits_scene(seed, side).images.front(), "digits");
  return Pyramid(picture);
}

TEST(QueryModel, AnswersFromTheQueriesAloneAndRefusesWhatDoesNotFit) {
  const tiny::NetworkWeights bundle = bundle_of(small_shape(), 1);
  const fs::path folder = folder_with_model("model", bundle);
  const Options o = quick(folder);
  const Pyramid large = page(1, 96), small = page(2, 64);
  const TokenSequence many = tokens_of(large), few = tokens_of(small);
  const auto reading = [&](const TokenSequence& tokens, const Pyramid& of, const char* question) {
    return tiny::TokenReading{&tokens, of.geometry(), question, nullptr, 0, true};
  };
  const auto missing =
      refusal([&] { tiny::TinyModel::load(o.init)->answer({reading(few, small, "which?")}); },
              ErrorCode::not_found);
  EXPECT_NE(missing.find("arrcoc_train --qformer"), std::string::npos) << missing;
  EXPECT_EQ(missing.find('\n'), std::string::npos);

  train_queries(o, kDigits, kQuiet);
  const auto model = tiny::TinyModel::load(o.init);
  const auto together =
      model->answer({reading(many, large, "which number?"), reading(many, large, "how many?"),
                     reading(few, small, "which?")});
  for (const tiny::ReadAnswer& answer : together)
    EXPECT_EQ(answer.focus.size(), static_cast<size_t>(tiny::kQueries));
  const auto alone = model->answer({reading(many, large, "how many?")}).front();
  EXPECT_EQ(alone.text, together[1].text);
  EXPECT_NEAR(alone.confidence, together[1].confidence, 1e-4);

  // Another answerer of the same shape, then another shape.
  tiny::save_networks_int8(o.init, bundle_of(small_shape(), 9));
  const auto other =
      refusal([&] { tiny::TinyModel::load(o.init)->need_queries(); }, ErrorCode::bad_weights);
  EXPECT_NE(other.find("other weights"), std::string::npos) << other;
  tiny::save_networks_int8(o.init, bundle_of(small_shape(128), 1));
  refusal([&] { tiny::TinyModel::load(o.init)->need_queries(); }, ErrorCode::bad_weights);
  fs::resize_file(fs::path(o.out) / "model.safetensors", 1000);
  refusal([&] { tiny::load_queries(o.out, small_shape()); }, ErrorCode::bad_weights);
}

}  // namespace
}  // namespace arrcoc::training
