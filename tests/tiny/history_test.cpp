// What earlier passes leave behind, and what the realizer makes of it.
#include "models/tiny/history.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>

#include "arrcoc/allocate.h"
#include "arrcoc/error.h"
#include "arrcoc/tokens.h"
#include "arrcoc/weights.h"
#include "folder.h"
#include "models/tiny/files.h"
#include "models/tiny/page.h"
#include "places.h"

namespace arrcoc::tiny {
namespace {

namespace fs = std::filesystem;

Shape small_shape() {
  return shape_from_json(
      R"({"width":64,"heads":2,"encoder_layers":2,"decoder_layers":2,"mlp":128,"stem":8,"cell":32,
          "page":32,"page_layers":1,"ask":32,"ask_layers":2,"question_layers":1})");
}

// Weights whose history says something.
Tensors taught(const Shape& shape) {
  Tensors out = HistoryNet(shape).layout().initial(5);
  at::manual_seed(2);
  for (Tensor& t : out) t.add_(at::randn(t.sizes()), 0.2);
  return out;
}

History a_history(int rows, int cols) {
  History out;
  const Map nothing{rows, cols, 16, 16, std::vector<float>(static_cast<size_t>(rows) * cols, 0)};
  out.detail = out.attention_previous = out.attention_accumulated = nothing;
  out.detail.at(1, 2) = 1;
  out.attention_previous.at(1, 3) = 0.5F;
  out.attention_accumulated.at(0, 1) = 0.25F;
  out.passes = 1;
  out.uncertainty = 0.75;
  out.answer = "12.50";
  return out;
}

Picture picture() {
  return make_picture(
      at::arange(3 * 256 * 384, at::kLong).remainder(251).to(at::kByte).view({3, 256, 384}));
}

std::vector<float> map_of(const TinyModel& model, const History* past) {
  const auto page = model.see(picture(), frame_of(picture(), 384));
  return model.look(*page, {"What is the total?"}, past).front().relevance.values;
}

TEST(Past, LiesWhereTheMapsSayAndIsCutOffAtTheCanvas) {
  const Past past = past_of({a_history(9, 9), a_history(2, 4)}, 3, 2);
  EXPECT_EQ(past.cells.sizes(), at::IntArrayRef({2, 3, 2, kPastCell}));
  for (int64_t q = 0; q < 2; ++q) {
    EXPECT_EQ(past.cells[q][1][1][0].item<float>(), 1);      // left half, detail
    EXPECT_EQ(past.cells[q][1][1][4].item<float>(), 0.5F);   // right half, last attention
    EXPECT_EQ(past.cells[q][0][0][5].item<float>(), 0.25F);  // right half, all attention
    EXPECT_EQ(past.cells[q][2][0][6].item<float>(), 0.75F);  // everywhere
    EXPECT_NEAR(past.cells[q].sum().item<float>(), 1.75 + 6 * 0.75, 1e-6);
  }
  EXPECT_EQ(past.said.size(1), 7);  // and two pads
  EXPECT_EQ(decode({past.said[0].data_ptr<int64_t>(), past.said[0].data_ptr<int64_t>() + 5}),
            "12.50");
}

// The bundle that is shipped, with a module that was never trained: not one bit of a map changes.
TEST(HistoryNet, ChangesNothingBeforeItIsTrained) {
  const at::NoGradGuard no_grad;
  const NetworkWeights bundle = load_networks(places::sources() + "/models/tiny");
  const RealizerNet net(bundle.shape);
  const HistoryNet history(bundle.shape);
  const Tensors zero = history.layout().initial(3);
  const PageFeatures page =
      net.read(bundle.realizer, page_of_frame(frame_of(picture(), 384)), at::kFloat);
  const Tensor question = at::full({1, 9}, 40, at::kLong);
  const Past past = past_of({a_history(16, 24)}, page.words.size(1), page.words.size(2));
  const Recalled recalled{history, zero, past};
  const Judgement with = net.judge(bundle.realizer, page, question, Tensor(), 1, &recalled),
                  without = net.judge(bundle.realizer, page, question, Tensor(), 1);
  EXPECT_TRUE(at::equal(with.relevance, without.relevance));
  EXPECT_TRUE(at::equal(with.tier, without.tier));
}

TEST(HistoryNet, IsStoredBesideTheWeightsInBothForms) {
  const Shape shape = small_shape();
  const std::string base = test::fresh_folder("history_files");
  NetworkWeights bundle{shape, RealizerNet(shape).layout().initial(1),
                        Answerer(shape).layout().initial(2)};
  const std::string plain = base + "/plain", full = base + "/full", small = base + "/int8";
  save_networks(plain, bundle, "t");
  EXPECT_TRUE(load_networks(plain).history.empty());
  bundle.history = taught(shape);
  save_networks(full, bundle, "t");
  export_int8(full, small);
  for (const std::string& folder : {full, small}) {
    const Tensors back = load_networks(folder).history;
    ASSERT_EQ(back.size(), bundle.history.size());
    for (size_t i = 0; i < back.size(); ++i) {
      const double size = bundle.history[i].abs().max().item<double>();
      EXPECT_LT((back[i] - bundle.history[i]).abs().max().item<double>(), 0.01 * size + 1e-6);
    }
  }
  EXPECT_EQ(WeightFile::open(small + "/history.safetensors").info("in.weight").dtype, at::kChar);
  // Weights without one do not inherit that of the weights before.
  bundle.history.clear();
  save_networks(full, bundle, "u");
  EXPECT_FALSE(fs::exists(full + "/history.safetensors"));
  // And one of another shape is refused.
  Shape wider = shape;
  wider.ask = 64;
  save_history(plain, wider, HistoryNet(wider).layout().initial(1), false);
  EXPECT_THROW(load_networks(plain), Error);
  // So is one that would make maps of no numbers.
  Tensors broken = HistoryNet(shape).layout().initial(1);
  broken.back().view(-1)[0] = std::nanf("");
  save_history(plain, shape, broken, false);
  EXPECT_THROW(load_networks(plain), Error);
}

// Nothing said is nothing to look at, however many pads there are for graphs.
TEST(HistoryNet, AnAnswerWithoutCharactersIsTheSameAtEveryLength) {
  const Shape shape = small_shape();
  const std::string folder = test::fresh_folder("history_silent");
  NetworkWeights bundle{shape, RealizerNet(shape).layout().initial(1),
                        Answerer(shape).layout().initial(2)};
  bundle.history = taught(shape);
  save_networks(folder, bundle, "t");
  History past = a_history(16, 24);
  past.answer.clear();
  const auto model = TinyModel::load(folder, Kernels::reference);
  const std::vector<float> plain = map_of(*model, &past);
  ::setenv("ARRCOC_GRAPHS", "first", 1);
  const std::vector<float> padded = map_of(*model, &past);
  ::unsetenv("ARRCOC_GRAPHS");
  ASSERT_EQ(padded.size(), plain.size());
  for (size_t i = 0; i < plain.size(); ++i) ASSERT_NEAR(padded[i], plain[i], 1e-5) << i;
}

TEST(HistoryNet, FastKernelsComputeTheNextMapAsTheReferenceDoes) {
  const Shape shape = small_shape();
  const std::string folder = test::fresh_folder("history_kernels");
  NetworkWeights bundle{shape, RealizerNet(shape).layout().initial(1),
                        Answerer(shape).layout().initial(2)};
  bundle.history = taught(shape);
  save_networks(folder, bundle, "t");
  const auto reference = TinyModel::load(folder, Kernels::reference);
  EXPECT_TRUE(reference->recalls());
  const History past = a_history(16, 24);
  const std::vector<float> first = map_of(*reference, nullptr), next = map_of(*reference, &past);
  const auto apart = [](const std::vector<float>& a, const std::vector<float>& b) {
    double most = 0;
    for (size_t i = 0; i < a.size(); ++i) most = std::max<double>(most, std::abs(a[i] - b[i]));
    return most;
  };
  EXPECT_GT(apart(first, next), 0.05);  // it says something
  {
    const auto watched = TinyModel::load_watched(folder);
    map_of(*watched, &past);
    const Pyramid pyramid(picture());
    Relevance even;
    even.map = {1, 1, 384, 256, {0.5F}};
    const auto tokens = cutting::cut(
        pyramid, allocating::allocate(even, pyramid.geometry(), {64, "", "given"}, "quadtree"));
    watched->answer(tokens, pyramid.geometry(), "What is the total?");
    watched->save_ranges(1);
  }
  const auto fast = TinyModel::load(folder);
  if (fast->kernels().rfind("fast", 0) != 0) GTEST_SKIP() << fast->kernels();
  EXPECT_LT(apart(map_of(*fast, &past), next), 0.05);
  EXPECT_EQ(map_of(*fast, &past), map_of(*fast, &past));
}

}  // namespace
}  // namespace arrcoc::tiny
