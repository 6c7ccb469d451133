#include "models/tiny/tiny.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "arrcoc/error.h"
#include "folder.h"
#include "models/tiny/answerer.h"
#include "models/tiny/files.h"
#include "models/tiny/page.h"
#include "models/tiny/realizer.h"

namespace arrcoc::tiny {
namespace {

namespace fs = std::filesystem;

Shape small_shape() {
  return shape_from_json(
      R"({"width":64,"heads":2,"encoder_layers":2,"decoder_layers":2,"mlp":128,"stem":8,"cell":32,
          "page":32,"page_layers":1,"ask":32,"ask_layers":1,"question_layers":1})");
}

PageFeatures read_page(const RealizerNet& net, const Tensors& w, const Tensor& canvas,
                       const Tensor& extent) {
  return net.read(w, {page_pixels(canvas), page_texture(canvas, extent), extent}, at::kFloat);
}

TEST(Page, OfAFrameIsThatOfItsCanvas) {
  at::manual_seed(2);
  Tensor almost = at::randint(0, 256, {3, 96, 128}, at::kLong).to(at::kByte).to(at::kFloat) / 255;
  const Tensor whole = almost.clone();
  almost[2][95][127] = 0.3F;  // no byte
  for (const Tensor& frame : {at::rand({3, 70, 101}), whole, almost}) {
    const int64_t h = frame.size(1), w = frame.size(2);
    const Tensor bytes = (frame * 255 + 0.5).clamp(0, 255).to(at::kByte).to(at::kFloat);
    const Tensor canvas = at::replication_pad2d(bytes.unsqueeze(0), {0, 128 - w, 0, 96 - h})
                              .permute({0, 2, 3, 1})
                              .to(at::kByte)
                              .contiguous();
    const Page page = page_of_frame(frame);
    EXPECT_TRUE(at::equal(page.extent, at::tensor({w, h}).to(at::kFloat).view({1, 2})));
    EXPECT_TRUE(at::equal(page.pixels, page_pixels(canvas)));
    EXPECT_TRUE(at::equal(page.texture, page_texture(canvas, page.extent)));
  }
}

AnswererInput some_look(int64_t tokens, int64_t padding) {
  at::manual_seed(5);
  AnswererInput look;
  const int64_t n = tokens + padding;
  look.patches = at::randint(0, 255, {1, n, 24 * 24 * 3}, at::kByte);
  look.centre = at::rand({1, n, 2}) * 500;
  look.scale = at::rand({1, n}) * 4 - 1;
  look.relevance = at::rand({1, n});
  look.extent = at::full({1, 2}, 512.0F);
  look.real = at::ones({1, n}, at::kBool);
  if (padding > 0) look.real.narrow(1, tokens, padding).fill_(false);
  look.question = at::randint(3, 190, {1, 16}, at::kLong);
  return look;
}

TEST(TinyText, EveryLatinCharacterAndTheEuroSurvive) {
  std::string all;
  for (int symbol = 3; symbol <= 194; ++symbol) all += decode({static_cast<uint8_t>(symbol)});
  EXPECT_EQ(decode(encode(all)), all);
  EXPECT_EQ(encode("caf\xC3\xA9 5\xE2\x82\xAC").size(), 7U);
  EXPECT_EQ(decode(encode("caf\xC3\xA9 5\xE2\x82\xAC")), "caf\xC3\xA9 5\xE2\x82\xAC");
  EXPECT_EQ(encode("\xFF\xC3")[0], kUnknown);
  EXPECT_LT(symbol_of(0x20AC), kSymbols);
}

TEST(TinyText, LongQuestionsKeepHeadAndTailAndSaySo) {
  const std::string question = std::string(150, 'a') + std::string(150, 'b');
  bool shortened = false;
  const auto symbols = encode_question(question, &shortened);
  EXPECT_TRUE(shortened);
  ASSERT_EQ(symbols.size(), static_cast<size_t>(kMaxQuestion));
  EXPECT_EQ(decode(symbols), std::string(128, 'a') + std::string(64, 'b'));
  encode_question("short", &shortened);
  EXPECT_FALSE(shortened);
}

TEST(TinyShape, TheBundledModelStaysUnderTwentyMillion) {
  const Shape shape;
  EXPECT_LE(RealizerNet(shape).layout().count() + Answerer(shape).layout().count(), 20'000'000);
}

TEST(Answerer, PaddingChangesNothing) {
  at::NoGradGuard no_grad;
  const Answerer net(small_shape());
  const Tensors w = net.layout().initial(1);
  AnswererInput padded = some_look(20, 12);
  AnswererInput plain = padded;
  for (Tensor* t : {&plain.patches, &plain.centre, &plain.scale, &plain.relevance, &plain.real})
    *t = t->narrow(1, 0, 20);
  const Tensor a = net.encode(w, padded, at::kFloat).states;
  const Tensor b = net.encode(w, plain, at::kFloat).states;
  EXPECT_TRUE(at::allclose(a.narrow(1, 0, 20), b.narrow(1, 0, 20), 1e-4, 1e-4));
  EXPECT_TRUE(at::allclose(a.narrow(1, 32, 16), b.narrow(1, 20, 16), 1e-4, 1e-4));
}

TEST(Answerer, CachedDecodingFollowsTeacherForcing) {
  at::NoGradGuard no_grad;
  const Answerer net(small_shape());
  const Tensors w = net.layout().initial(3);
  const Memory memory = net.encode(w, some_look(20, 0), at::kFloat);
  const auto written = net.write_greedy(w, memory, 12);
  std::vector<int64_t> previous = {kEnd};
  for (uint8_t symbol : written.symbols[0]) previous.push_back(symbol);
  const Tensor logits =
      net.write(w, memory, at::tensor(previous, at::kLong).view({1, -1})).select(0, 0);
  const Tensor best = logits.argmax(1);
  for (size_t i = 0; i < written.symbols[0].size(); ++i)
    EXPECT_EQ(best[static_cast<int64_t>(i)].item<int64_t>(), written.symbols[0][i]);
  const double p = at::softmax(logits, 1).amax(1)[0].item<double>();
  EXPECT_NEAR(written.probabilities[0][0], p, 1e-4);
}

TEST(Answerer, ABeamOfOneIsGreedyAndAWiderOneIsNoLessLikely) {
  at::NoGradGuard no_grad;
  const Answerer net(small_shape());
  const auto likelihood = [](const Answerer::Written& written, size_t i) {
    double sum = 0;
    for (float p : written.probabilities[i]) sum += std::log(p);
    return sum;
  };
  for (const uint64_t seed : {3, 4, 5}) {
    const Tensors w = net.layout().initial(seed);
    const Memory memory = net.encode(w, some_look(20, 0), at::kFloat);
    const auto greedy = net.write_greedy(w, memory, 8, 20),
               one = net.write_beam(w, memory, 1, 8, 20);
    EXPECT_EQ(greedy.symbols, one.symbols);
    ASSERT_EQ(greedy.focus[0].size(), one.focus[0].size());
    for (size_t i = 0; i < greedy.focus[0].size(); ++i)
      EXPECT_NEAR(greedy.focus[0][i], one.focus[0][i], 1e-5);
    std::vector<uint8_t> heard;
    const auto wide = net.write_beam(w, memory, 4, 8, 0, [&](int64_t which, uint8_t symbol) {
      if (which == 0) heard.push_back(symbol);
    });
    EXPECT_GE(likelihood(wide, 0), likelihood(greedy, 0) - 1e-4);
    EXPECT_EQ(heard, wide.symbols[0]);
  }
}

TEST(Realizer, WhatLiesOutsideThePictureChangesNothingFarFromTheEdge) {
  at::NoGradGuard no_grad;
  const RealizerNet net(small_shape());
  const Tensors w = net.layout().initial(2);
  at::manual_seed(3);
  // 128x128 of picture on a canvas of 128 and of 256: row 0..3 of cells lie 64 pixels from the
  // edge.
  const Tensor small = at::randint(0, 255, {1, 128, 128, 3}, at::kByte);
  Tensor large = at::zeros({1, 256, 256, 3}, at::kByte);
  large.narrow(1, 0, 128).narrow(2, 0, 128).copy_(small);
  const Tensor extent = at::full({1, 2}, 128.0F);
  const auto texture = [&](int64_t side) { return at::zeros({1, side / 4, side / 4, 13}); };
  const PageFeatures a = net.read(w, {page_pixels(small), texture(128), extent}, at::kFloat);
  const PageFeatures b = net.read(w, {page_pixels(large), texture(256), extent}, at::kFloat);
  EXPECT_TRUE(at::allclose(a.cells.narrow(1, 0, 4).narrow(2, 0, 8),
                           b.cells.narrow(1, 0, 4).narrow(2, 0, 8), 1e-3, 1e-3));
  EXPECT_EQ(b.row_mask.narrow(3, 0, 4).abs().sum().item<double>(), 0);
  EXPECT_LT(b.row_mask.narrow(3, 4, 4).amax().item<double>(), -1000);
}

TEST(Realizer, RegularBatchesEqualIndexedOnes) {
  at::NoGradGuard no_grad;
  const RealizerNet net(small_shape());
  const Tensors w = net.layout().initial(2);
  const Tensor canvas = at::randint(0, 255, {2, 64, 64, 3}, at::kByte);
  const Tensor extent = at::full({2, 2}, 64.0F);
  const PageFeatures page = read_page(net, w, canvas, extent);
  const Tensor question = at::randint(3, 190, {4, 16}, at::kLong);
  const Tensor of = at::tensor({0, 0, 1, 1}, at::kLong);
  const Judgement a = net.judge(w, page, question, of), b = net.judge(w, page, question, of, 2);
  EXPECT_TRUE(at::allclose(a.relevance, b.relevance, 1e-5, 1e-5));
  EXPECT_FALSE(at::allclose(a.relevance[0], a.relevance[1], 1e-5, 1e-5));  // the question counts
}

TEST(Realizer, QuestionsLookTheirWordsUpInTheirOwnPage) {
  at::NoGradGuard no_grad;
  Shape without = small_shape();
  without.lookups = 0;
  const RealizerNet net(small_shape()), plain(without);
  EXPECT_GT(net.layout().count(), plain.layout().count());
  const Tensors w = net.layout().initial(3);
  at::manual_seed(5);
  const Tensor canvas = at::randint(0, 255, {2, 64, 96, 3}, at::kByte);
  const Tensor extent = at::tensor({64.0F, 64.0F, 96.0F, 64.0F}).view({2, 2});
  PageFeatures page = read_page(net, w, canvas, extent);
  const Tensor question = at::randint(3, 190, {2, 16}, at::kLong);
  const Judgement before = net.judge(w, page, question, {}, 1);
  EXPECT_FALSE(before.looked_up.defined());  // only training asks for it
  // What one page has to be found changes its own question alone.
  page.index.values = page.index.values.clone();
  page.index.values[0].mul_(-3);
  const Judgement after = net.judge(w, page, question, {}, 1);
  EXPECT_FALSE(at::allclose(before.relevance[0], after.relevance[0], 1e-5, 1e-6));
  EXPECT_TRUE(at::allclose(before.relevance[1], after.relevance[1], 1e-5, 1e-6));
  {
    const at::AutoGradMode with_gradients(true);
    const Tensor found = at::softmax(net.judge(w, page, question, {}, 1).looked_up, 2);
    ASSERT_EQ(found.sizes(), (std::vector<int64_t>{2, 16, 4 * 3}));
    // The third column of cells lies beyond the first picture.
    const Tensor columns = found.view({2, 16, 4, 3}).sum({1, 2});
    EXPECT_EQ(columns[0][2].item<float>(), 0.0F);
    EXPECT_GT(columns[1][2].item<float>(), 0.0F);
  }
}

TEST(Realizer, WhatLiesBeyondThePictureIsNotFound) {
  at::NoGradGuard no_grad;
  const RealizerNet net(small_shape());
  const Tensors w = net.layout().initial(3);
  at::manual_seed(6);
  const Tensor canvas = at::randint(0, 255, {1, 96, 96, 3}, at::kByte);
  const Tensor extent = at::tensor({64.0F, 48.0F}).view({1, 2});  // of 96x96
  PageFeatures page = read_page(net, w, canvas, extent);
  const Tensor question = at::randint(3, 190, {1, 16}, at::kLong);
  const Tensor before = net.judge(w, page, question, {}, 1).relevance;
  const auto changed = [&](int64_t row, int64_t column) {
    PageFeatures other = page;
    other.index.values = page.index.values.clone();
    const int64_t heads = other.index.values.size(1);
    other.index.values.view({1, heads, 6, 3, -1}).select(2, row).select(2, column).fill_(50);
    return !at::allclose(before, net.judge(w, other, question, {}, 1).relevance, 1e-5, 1e-6);
  };
  EXPECT_TRUE(changed(2, 1));   // the last cell inside
  EXPECT_FALSE(changed(3, 1));  // below it
  EXPECT_FALSE(changed(2, 2));  // to the right
}

TEST(Shapes, LookupsAreZeroOrOne) {
  EXPECT_EQ(shape_from_json(R"({"lookups":0})").lookups, 0);
  for (const char* bad : {R"({"lookups":2})", R"({"lookups":-1})", R"({"lookups":true})"})
    EXPECT_THROW(shape_from_json(bad), Error) << bad;
  EXPECT_EQ(rows_kept(64, 1), 24);
  EXPECT_EQ(rows_kept(64, 0), 32);
  EXPECT_EQ(rows_kept(256, 1), 96);
  EXPECT_EQ(rows_kept(20, 1), 20);
}

TEST(Realizer, OnlyTheLikeliestRowsOfALargePageGoOn) {
  at::NoGradGuard no_grad;
  Shape shape = small_shape();
  shape.ask_layers = 3;
  const RealizerNet net(shape);
  const Tensors w = net.layout().initial(2);
  at::manual_seed(4);
  const auto judged = [&](int64_t height, float inside) {
    const Tensor canvas = at::randint(0, 255, {1, height, 64, 3}, at::kByte);
    const Tensor extent = at::tensor({64.0F, inside}).view({1, 2});
    const PageFeatures page = read_page(net, w, canvas, extent);
    return net.judge(w, page, at::randint(3, 190, {2, 16}, at::kLong), {}, 2);
  };
  EXPECT_FALSE(judged(384, 384).first.defined());  // 24 rows: all of them
  const Judgement all = judged(1024, 1024);
  ASSERT_EQ(all.relevance.sizes(), all.first.sizes());
  const Tensor stayed = all.relevance.eq(all.first).all(2);  // [2,64]
  EXPECT_TRUE(stayed.sum(1).eq(64 - rows_kept(64, 1)).all().item<bool>());
  // What went on had the stronger cells.
  const Tensor peaks = all.first.amax(2);
  for (int64_t q = 0; q < 2; ++q) {
    const Tensor left = peaks[q].masked_select(stayed[q]),
                 taken = peaks[q].masked_select(stayed[q].logical_not());
    EXPECT_LE(left.max().item<float>(), taken.min().item<float>());
  }
  // Rows beyond the picture never go on before those of the picture: 40 of 64 hold some of it.
  const Judgement part = judged(1024, 640);
  EXPECT_TRUE(part.relevance.eq(part.first).all(2).narrow(1, 40, 24).all().item<bool>());
}

TEST(PagePixels, PatchesAndCanvasesGiveTheSame) {
  const Tensor canvas = at::randint(0, 255, {2, 64, 96, 3}, at::kByte);
  EXPECT_TRUE(page_pixels(canvas).equal(page_pixels_of_patches(patches_of(canvas), 4, 6)));
}

TEST(PagePixels, APatchesMarginIsItsNeighboursPixels) {
  const Tensor canvas = at::randint(0, 255, {1, 64, 96, 3}, at::kByte);
  const Tensor patches = patches_of(canvas).view({4, 6, 24, 24, 3});
  const Tensor inner = canvas[0].narrow(0, 12, 24).narrow(1, 28, 24);
  EXPECT_TRUE(patches[1][2].equal(inner));
  EXPECT_TRUE(patches[0][0][0][0].equal(canvas[0][0][0]));  // the border is repeated
  EXPECT_TRUE(patches[3][5][23][23].equal(canvas[0][63][95]));
}

TEST(RelevanceOf, KeepsTheOrderWhereASigmoidWouldSaturate) {
  const Tensor logits = at::tensor({-3.0F, 9.0F, 6.0F, 8.0F}).view({1, 2, 2});
  const Tensor map = relevance_of(logits).view({4});
  EXPECT_NEAR(map[1].item<float>(), 1, 1e-3);
  EXPECT_NEAR(map[3].item<float>(), std::exp(-0.6F), 1e-3);
  EXPECT_LT(map[0].item<float>(), 1e-2);
  const Tensor faint = at::full({1, 2, 2}, -6.0F);
  EXPECT_NEAR(relevance_of(faint).max().item<float>(), 1 / (1 + std::exp(6.0F)), 1e-6);
}

TEST(TinyFiles, WeightsComeBackAndOthersAreRefused) {
  const Shape shape = small_shape();
  const std::string folder = test::fresh_folder("files");
  NetworkWeights bundle{shape, RealizerNet(shape).layout().initial(1),
                        Answerer(shape).layout().initial(2)};
  save_networks(folder, bundle, "a");
  save_networks(folder, bundle, "b");
  const NetworkWeights back = load_networks(folder);
  EXPECT_EQ(back.shape, shape);
  EXPECT_TRUE(back.answerer[0].equal(bundle.answerer[0].to(at::kBFloat16).to(at::kFloat)));
  for (const auto& entry : fs::directory_iterator(folder))
    EXPECT_EQ(entry.path().filename().string().find("model-a"), std::string::npos);
  Shape other = shape;
  other.mlp = 192;
  std::ofstream(fs::path(folder) / "config.json")
      << R"({"architecture":"arrcoc-tiny-1","shape":)" << shape_to_json(other) << "}";
  EXPECT_THROW(load_networks(folder), Error);
  EXPECT_THROW(load_networks(folder + "/nowhere"), Error);
}

}  // namespace
}  // namespace arrcoc::tiny
