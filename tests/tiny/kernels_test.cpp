// Products in 8 bits against those of libtorch, and the choice between them.
#include "models/tiny/kernels.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <thread>

#include "arrcoc/bundle.h"
#include "arrcoc/error.h"
#include "arrcoc/tokens.h"
#include "folder.h"
#include "models/kernels/kernels_dnnl.h"
#include "models/tiny/files.h"
#include "models/tiny/ranges.h"
#include "models/tiny/row_kernels.h"

namespace arrcoc::tiny {
namespace {

namespace fs = std::filesystem;

class FastKernels : public testing::Test {
 protected:
  void SetUp() override {
    // No AVX2 here, or built so on purpose (-DARRCOC_ONEDNN=OFF): there is nothing to compare. That
    // the bundle falls back then is tested in tests/ask/kernels_test.cpp.
    if (!no_fast_kernels().empty()) GTEST_SKIP() << no_fast_kernels();
    at::manual_seed(1);
  }
  at::NoGradGuard no_grad_;
};
using Products = FastKernels;
using Chosen = FastKernels;

double apart(const Tensor& a, const Tensor& b) {
  return ((a - b).norm() / b.norm().clamp_min(1e-9)).item<double>();
}

Tensor bytes_of(const Tensor& x, const Scale& scale) {
  return x.div(scale.step).round().add(scale.zero).clamp(0, scale.top).to(at::kByte);
}
Tensor floats_of(const Tensor& bytes, const Scale& scale) {
  return (bytes.to(at::kFloat) - scale.zero) * scale.step;
}

// y = finish(x W^T + b) with room, from bytes.
Tensor run(const Dense& dense, const Tensor& bytes, const Tensor& onto, const Finish& finish) {
  const int64_t rows = bytes.size(0);
  const Tensor x = room_for(rows, dense.inputs(), at::kByte),
               y = room_for(rows, dense.outputs(), finish.bytes ? at::kByte : at::kFloat);
  x.copy_(bytes);
  if (onto.defined()) y.copy_(onto);
  dense.run(x.data_ptr(), rows, y.data_ptr(), finish);
  return y.clone();
}

TEST_F(Products, OfMatricesAreThoseOfLibtorch) {
  const Tensor w = at::randn({936, 320}) / 18, b = at::randn({936});
  const Scale scale = scale_of({-4, 3});
  const Dense dense({w, b, {}}, &scale);
  for (const int64_t rows : {1, 4, 9, 17, 200, 512, 513, 1100}) {
    const Tensor bytes = bytes_of(at::randn({rows, 320}), scale), x = floats_of(bytes, scale);
    const Tensor wanted = at::linear(x, w, b), onto = at::randn({rows, 936});
    EXPECT_LT(apart(run(dense, bytes, {}, {}), wanted), 0.01) << rows;
    EXPECT_LT(apart(run(dense, bytes, onto, {true, false, nullptr}), wanted + onto), 0.01);
    EXPECT_LT(apart(run(dense, bytes, {}, {false, true, nullptr}), at::gelu(wanted)), 0.01);
    const Scale next = scale_of({-0.17F, 4});
    const Tensor small = run(dense, bytes, {}, {false, true, &next});
    EXPECT_LT((floats_of(small, next) - at::gelu(wanted).clamp(-0.17, 4)).abs().max().item<float>(),
              0.08F + next.step / 2);
  }
}

TEST_F(Products, OfStoredWeightsAreExact) {
  // q * scale as files hold it: the whole numbers must come back, whatever the largest is.
  const Tensor q = at::randint(-125, 126, {48, 64}, at::kFloat);
  q.select(1, 0).fill_(126);
  const Tensor scale = at::rand({48, 1}) * 0.01 + 0.001, w = q * scale, b = at::zeros({48});
  const Scale in = scale_of({0, 1});
  const Tensor bytes = at::randint(0, in.top + 1, {16, 64}, at::kLong).to(at::kByte);
  const Tensor wanted = at::linear(floats_of(bytes, in), w, b);
  EXPECT_LT(apart(run(Dense({w, b, {}}, &in), bytes, {}, {}), wanted), 1e-5);
}

TEST_F(Products, OfFloatsAreThoseOfLibtorch) {
  const Tensor w = at::randn({200, 320}), b = at::randn({200}), x = room_for(30, 320, at::kFloat);
  x.copy_(at::randn({30, 320}));
  const Tensor y = room_for(30, 200, at::kFloat);
  Dense({w, b, {}}, nullptr).run(x.data_ptr(), 30, y.data_ptr());
  EXPECT_LT(apart(y, at::linear(x, w, b)), 1e-5);
}

TEST_F(Products, OfKernelsAreThoseOfLibtorch) {
  struct Case {
    std::vector<int64_t> kernel, stride;
  };
  for (const Case& c : {Case{{3, 3}, {1, 1}}, Case{{3, 3}, {2, 2}}, Case{{3, 3}, {2, 1}},
                        Case{{1, 11}, {1, 4}}, Case{{1, 1}, {1, 1}}}) {
    const std::vector<int64_t> padding = {c.kernel[0] / 2, c.kernel[1] / 2};
    const Tensor w = at::randn({96, 48, c.kernel[0], c.kernel[1]}) / 20, b = at::randn({96});
    const Scale scale = scale_of({-0.17F, 3});  // padding is 0, not the lowest byte
    const Tensor bytes = bytes_of(at::rand({2, 20, 24, 48}) * 3, scale);
    const Tensor wanted =
        at::conv2d(floats_of(bytes, scale).permute({0, 3, 1, 2}), w, b, c.stride, padding)
            .permute({0, 2, 3, 1})
            .contiguous();
    const Convolution convolution({w, b, {}}, c.stride, padding, scale);
    ASSERT_EQ(convolution.rows_after(20), wanted.size(1));
    ASSERT_EQ(convolution.cols_after(24), wanted.size(2));
    const Tensor y = at::ones_like(wanted);
    convolution.run(bytes.data_ptr<uint8_t>(), 2, 20, 24, y.data_ptr(), {true, false, nullptr});
    EXPECT_LT(apart(y, wanted + 1), 0.01) << c.kernel[1] << " " << c.stride[0];
  }
}

TEST_F(Products, AreTheSameOnOneThreadAndManyAloneAndTogether) {
  const Tensor w = at::randn({320, 936}) / 30, b = at::randn({320});
  const Scale scale = scale_of({-1, 3});
  const Dense dense({w, b, {}}, &scale);
  const Tensor bytes = bytes_of(at::randn({700, 936}), scale);
  const int threads = at::get_num_threads();
  at::set_num_threads(2);
  const Tensor two = run(dense, bytes, {}, {});
  at::set_num_threads(1);
  EXPECT_TRUE(at::equal(run(dense, bytes, {}, {}), two));
  EXPECT_TRUE(at::equal(run(dense, bytes.narrow(0, 100, 7), {}, {}), two.narrow(0, 100, 7)));
  at::set_num_threads(threads);
}

TEST_F(Products, AreMadeByManyThreadsAtOnce) {
  const Tensor w = at::randn({64, 96}), b = at::randn({64});
  const Scale scale = scale_of({-2, 2});
  const Dense dense({w, b, {}}, &scale);
  const Tensor bytes = bytes_of(at::randn({400, 96}), scale);
  const Tensor wanted = run(dense, bytes, {}, {});
  std::vector<std::thread> threads;
  std::vector<int> wrong(4, 0);
  for (size_t t = 0; t < wrong.size(); ++t)
    threads.emplace_back([&, t] {
      at::NoGradGuard no_grad;
      // More shapes than are kept: some are made anew while others use theirs.
      for (int64_t rows = 16; rows <= 400; rows += 16)
        wrong[t] +=
            !at::equal(run(dense, bytes.narrow(0, 0, rows), {}, {}), wanted.narrow(0, 0, rows));
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, std::vector<int>(4, 0));
}

TEST_F(Products, RowsAreNormalisedAsByLibtorch) {
  const Tensor x = at::randn({37, 96}) * 3 + 1, weight = at::randn({96}), bias = at::randn({96});
  const Tensor wanted = at::layer_norm(x, {96}, weight, bias);
  const Tensor floats = at::empty_like(x), bytes = at::empty({37, 96}, at::kByte);
  RowWork work;
  work.weight = weight.data_ptr<float>();
  work.bias = bias.data_ptr<float>();
  work.gelu = true;
  work.floats = floats.data_ptr<float>();
  work.bytes = bytes.data_ptr<uint8_t>();
  work.scale = scale_of({-0.17F, 12});
  work_rows(x.data_ptr<float>(), 37, 96, work);
  EXPECT_LT((floats - wanted).abs().max().item<float>(), 1e-4);
  const float off =
      (floats_of(bytes, work.scale) - at::gelu(wanted).clamp(-0.17, 12)).abs().max().item<float>();
  EXPECT_LT(off, work.scale.step * 0.51F);
}

TEST_F(Products, AnInstructionThatIsMissingEndsTheAttemptOnly) {
#ifdef __x86_64__
  const std::string problem = tried([] {
    asm volatile("ud2");
    return true;
  });
  EXPECT_NE(problem.find("illegal instruction"), std::string::npos) << problem;
#endif
  EXPECT_EQ(tried([] { return true; }), "");
  EXPECT_NE(tried([] { return false; }), "");
}

Shape small_shape() {
  return shape_from_json(
      R"({"width":64,"heads":2,"encoder_layers":2,"decoder_layers":2,"mlp":128,"stem":8,"cell":32,
          "page":32,"page_layers":1,"ask":32,"ask_layers":2,"question_layers":1})");
}

std::string fresh_weights(const std::string& name, uint64_t seed = 1) {
  const Shape shape = small_shape();
  const std::string folder = test::fresh_folder(name);
  save_networks(folder,
                {shape, RealizerNet(shape).layout().initial(seed),
                 Answerer(shape).layout().initial(seed + 1)},
                "t");
  return folder;
}

struct Asked {
  Map map;
  ReadAnswer answer;
};

Asked ask(const TinyModel& model) {
  const Picture picture = make_picture(
      at::arange(3 * 256 * 384, at::kLong).remainder(251).to(at::kByte).view({3, 256, 384}));
  const auto page = model.see(picture, frame_of(picture, 384));
  Relevance relevance;
  relevance.map = model.look(*page, {"What is the total?"}).front().relevance;
  const Pyramid pyramid(picture);
  const auto tokens = cutting::cut(
      pyramid, allocating::allocate(relevance, pyramid.geometry(), {64, "", "given"}, "quadtree"));
  return {relevance.map, model.answer(tokens, pyramid.geometry(), "What is the total?")};
}

// Weights whose ranges have been fitted.
std::string fitted_weights(const std::string& name) {
  const std::string folder = fresh_weights(name);
  const auto watched = TinyModel::load_watched(folder);
  ask(*watched);
  watched->save_ranges(1);
  return folder;
}

TEST_F(Chosen, FastOnesLookAndAnswerAsTheReference) {
  const std::string folder = fitted_weights("alike");
  const auto fast = TinyModel::load(folder),
             reference = TinyModel::load(folder, Kernels::reference);
  EXPECT_EQ(fast->kernels().rfind("fast (", 0), 0U) << fast->kernels();
  EXPECT_EQ(reference->kernels(), "reference (chosen)");
  const Asked a = ask(*fast), b = ask(*reference);
  ASSERT_EQ(a.map.values.size(), b.map.values.size());
  double most = 0;
  for (size_t i = 0; i < a.map.values.size(); ++i)
    most = std::max<double>(most, std::abs(a.map.values[i] - b.map.values[i]));
  EXPECT_LT(most, 0.05);
  EXPECT_GT(most, 0);  // or they were the same kernels
  EXPECT_NEAR(a.answer.quality, b.answer.quality, 0.05);
  EXPECT_EQ(ask(*fast).answer, a.answer);  // and the same again
}

TEST_F(Chosen, WeightsOfProductsInEightBitsAreKeptAsWholeNumbersOnly) {
  const Answerer net(small_shape());
  Tensors tensors = net.layout().initial(3);
  const Tensors before = tensors;
  Ranges ranges;
  for (const ProductSpec& product : net.layout().products()) ranges[product.weight] = {-3, 3};
  int glyph = -1, inner = -1, last = -1;
  for (size_t i = 0; i < before.size(); ++i) {
    const std::string& name = net.layout().specs()[i].name;
    if (name == "glyph.weight") glyph = static_cast<int>(i);
    if (name == "encoder.0.attention.memory.weight") inner = static_cast<int>(i);
    if (name == "out.weight") last = static_cast<int>(i);
  }
  ranges.erase(glyph);
  const Prepared prepared(net.layout(), tensors, ranges);
  const Tensor x = at::rand({5, 64}) * 4 - 2;
  for (const int weight : {glyph, inner, last}) {
    const auto at = static_cast<size_t>(weight);
    EXPECT_EQ(tensors[at].defined(), weight != inner);  // has the last word, or no range
    EXPECT_LT(apart(prepared.linear(weight, x), at::linear(x, before[at], before[at + 1])), 0.02);
  }
}

TEST_F(Chosen, RangesCutOffWhatIsFarOutAndNothingElse) {
  RangesSeen seen;
  const Tensor bell = at::randn({1 << 20}), flat = at::linspace(-1, 2, 3000);
  for (const Tensor& half : bell.chunk(2)) seen.add(0, half);
  seen.add(1, flat);
  const Ranges ranges = seen.ranges();
  EXPECT_LT(ranges.at(0).high, bell.max().item<float>());
  EXPECT_GT(ranges.at(0).high, 3);  // one value in 700 lies beyond
  EXPECT_GT(ranges.at(0).low, bell.min().item<float>());
  EXPECT_LT(ranges.at(0).low, -3);
  EXPECT_NEAR(ranges.at(1).low, -1, 0.05);
  EXPECT_NEAR(ranges.at(1).high, 2, 0.05);
}

TEST_F(Chosen, WithoutRangesOrWithThoseOfOtherWeightsItIsTheReference) {
  const std::string folder = fresh_weights("none");
  EXPECT_NE(TinyModel::load(folder)->kernels().find("no ranges.json"), std::string::npos);
  EXPECT_THROW(TinyModel::load(folder, Kernels::fast), Error);
  fs::copy_file(fitted_weights("others") + "/ranges.json", folder + "/ranges.json");
  EXPECT_EQ(TinyModel::load(folder)->kernels().rfind("fast (", 0), 0U);  // the same weights
  save_networks(folder,
                {small_shape(), RealizerNet(small_shape()).layout().initial(7),
                 Answerer(small_shape()).layout().initial(2)},
                "u");
  EXPECT_NE(TinyModel::load(folder)->kernels().find("other weights"), std::string::npos);
}

TEST_F(Chosen, TheEnvironmentDecidesWhereNobodyElseDoes) {
  const std::string folder = fitted_weights("environment");
  ASSERT_EQ(::setenv("ARRCOC_KERNELS", "reference", 1), 0);
  EXPECT_EQ(TinyModel::load(folder)->kernels(), "reference (chosen)");
  EXPECT_EQ(TinyModel::load(folder, Kernels::fast)->kernels().rfind("fast (", 0), 0U);
  ASSERT_EQ(::setenv("ARRCOC_KERNELS", "quick", 1), 0);
  EXPECT_THROW(TinyModel::load(folder), Error);
  ::unsetenv("ARRCOC_KERNELS");
}

TEST_F(Chosen, BrokenRangesAreRefusedByName) {
  const std::string folder = fresh_weights("broken");
  std::ofstream(folder + "/ranges.json") << R"({"weights":1,"realizer":{"stem9":[0,1]}})";
  EXPECT_NE(TinyModel::load(folder)->kernels().find("belongs to other weights"), std::string::npos);
  const std::string own =
      R"({"weights":)" + std::to_string(digest_of(load_networks(folder))) + R"(,"realizer":)";
  for (const std::string& text : {std::string("[]"), own + R"({"stem9":[0,1]},"answerer":{}})",
                                  own + R"({"stem1":[2,1]},"answerer":{}})"}) {
    std::ofstream(folder + "/ranges.json") << text;
    try {
      TinyModel::load(folder);
      ADD_FAILURE() << text;
    } catch (const Error& problem) {
      EXPECT_NE(std::string(problem.what()).find("ranges.json"), std::string::npos);
    }
  }
}

}  // namespace
}  // namespace arrcoc::tiny
