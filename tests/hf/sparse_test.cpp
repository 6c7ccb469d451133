// Selection: true positions, merged tokens, patches before the encoder.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "arrcoc/error.h"
#include "arrcoc/weights.h"
#include "hf/support.h"
#include "models/hf/generate.h"
#include "models/hf/vlm.h"

namespace arrcoc::hf {
namespace {

using testing_support::data;

std::unique_ptr<Vlm> load(const std::string& family, at::ScalarType dtype = at::kFloat) {
  std::string folder = data("goldens/" + family);
  ModelConfig config = read_config(folder);
  FileSource source(WeightFile::open(folder), spellings_of(config), dtype, at::kCPU);
  return make_vlm(config, source);
}

struct Inputs {
  at::Tensor values, grid, ids;
};

Inputs inputs_of(const std::string& family) {
  WeightFile golden = WeightFile::open(data("goldens/" + family + "/golden.safetensors"));
  Inputs in{golden.get("pixel_values", at::kFloat), {}, golden.get("input_ids", at::kLong)};
  if (in.values.dim() == 5) in.values = in.values.flatten(0, 1);
  if (golden.has("pixel_attention_mask"))
    in.grid = golden.get("pixel_attention_mask", at::kLong).flatten(0, 1);
  if (golden.has("image_grid_thw")) in.grid = golden.get("image_grid_thw", at::kLong);
  return in;
}

std::vector<int64_t> all(int64_t count) {
  std::vector<int64_t> out;
  for (int64_t i = 0; i < count; ++i) out.push_back(i);
  return out;
}

std::vector<std::vector<int64_t>> singles(const std::vector<int64_t>& rows) {
  std::vector<std::vector<int64_t>> out;
  for (int64_t row : rows) out.push_back({row});
  return out;
}

double distance(const at::Tensor& a, const at::Tensor& b) {
  return (a - b).abs().max().item<double>();
}

at::Tensor logits(const Vlm& model, const Prompt& prompt) {
  return model.decoder().logits(
      model.decoder().forward(prompt.embeds, prompt.positions, nullptr, &prompt.deepstack));
}

class EachVlm : public ::testing::TestWithParam<const char*> {};

TEST_P(EachVlm, KeepingEverythingIsTheNativeRun) {
  auto model = load(GetParam());
  Inputs in = inputs_of(GetParam());
  Visual native = model->encode(in.values, in.grid);
  Visual patches = model->encode(in.values, in.grid, all(native.size()));
  EXPECT_LT(distance(native.rows, patches.rows), 1e-5);
  for (size_t i = 0; i < native.deepstack.size(); ++i) {
    EXPECT_LT(distance(native.deepstack[i], patches.deepstack[i]), 1e-5);
  }
  Prompt whole = prepare(*model, in.ids, in.grid, native);
  Prompt kept = prepare(*model, in.ids, in.grid, native, singles(all(native.size())));
  EXPECT_LT(distance(logits(*model, whole), logits(*model, kept)), 1e-5);
}

TEST_P(EachVlm, DroppedTokensLeaveThePositionsOfOthersAlone) {
  auto model = load(GetParam());
  Inputs in = inputs_of(GetParam());
  Visual native = model->encode(in.values, in.grid);
  std::vector<int64_t> keep = {1, 4, 6, native.size() - 1};
  Prompt whole = prepare(*model, in.ids, in.grid, native);
  Prompt few = prepare(*model, in.ids, in.grid, pick(native, keep), singles(keep));
  EXPECT_EQ(few.length(), whole.length() - native.size() + 4);
  EXPECT_EQ(few.next_position, whole.next_position);
  for (size_t i = 0; i < keep.size(); ++i) {
    int64_t before = whole.visual_places[static_cast<size_t>(keep[i])];
    int64_t after = few.visual_places[i];
    EXPECT_TRUE(at::equal(whole.positions.select(2, before), few.positions.select(2, after)));
    EXPECT_TRUE(at::equal(whole.embeds.select(1, before), few.embeds.select(1, after)));
  }
  Visual encoded = model->encode(in.values, in.grid, keep);
  EXPECT_EQ(encoded.size(), 4);
  EXPECT_TRUE(at::isfinite(encoded.rows).all().item<bool>());
}

TEST_P(EachVlm, MismatchedPlaceholdersAreAnErrorNotACrash) {
  auto model = load(GetParam());
  Inputs in = inputs_of(GetParam());
  Visual native = model->encode(in.values, in.grid);
  at::Tensor shorter = in.ids.narrow(1, 0, 12);
  EXPECT_THROW(prepare(*model, shorter, in.grid, native), Error);
  EXPECT_THROW(prepare(*model, in.ids, in.grid, pick(native, {0, 1})), Error);
  EXPECT_THROW(prepare(*model, in.ids, in.grid, pick(native, {0, 1}), {{0}}), Error);
  EXPECT_THROW(prepare(*model, in.ids, in.grid, pick(native, {0, 1}), {{0}, {0}}), Error);
  EXPECT_THROW(prepare(*model, in.ids, in.grid, pick(native, {0, 1}), {{0}, {99999}}), Error);
  EXPECT_THROW(prepare(*model, in.ids.to(at::kInt), in.grid, native), Error);
  EXPECT_THROW(prepare(*model, in.ids + 100000, in.grid, {}), Error);
  EXPECT_THROW(pick(native, {native.size()}), Error);
  EXPECT_THROW(model->encode(in.values, in.grid, {native.size()}), Error);
  EXPECT_THROW(model->encode(in.values.narrow(-1, 0, 7), in.grid), Error);
}

TEST_P(EachVlm, CachedGenerationMatchesReadingEverythingAgain) {
  auto model = load(GetParam());
  Inputs in = inputs_of(GetParam());
  Visual native = model->encode(in.values, in.grid);
  GenerationSettings options;
  options.max_new_tokens = 6;
  Generation made = generate(*model, prepare(*model, in.ids, in.grid, native), options);
  ASSERT_EQ(made.ids.size(), 6U);
  at::Tensor ids = in.ids;
  for (int64_t id : made.ids) {
    at::Tensor last =
        logits(*model, prepare(*model, ids, in.grid, native)).select(1, ids.size(1) - 1);
    EXPECT_EQ(last.argmax().item<int64_t>(), id);
    ids = at::cat({ids, at::full({1, 1}, id, at::kLong)}, 1);
  }
  for (float p : made.probability) EXPECT_TRUE(p > 0 && p <= 1);
}

TEST_P(EachVlm, BfloatAgreesWhereTheChoiceIsClear) {
  auto exact = load(GetParam());
  auto coarse = load(GetParam(), at::kBFloat16);
  Inputs in = inputs_of(GetParam());
  auto run = [&](const Vlm& model) {
    Visual visual = model.encode(in.values, in.grid);
    return logits(model, prepare(model, in.ids, in.grid, visual))[0];
  };
  at::Tensor a = run(*exact);
  at::Tensor b = run(*coarse);
  double off = distance(a, b);
  EXPECT_LT(off, 0.1 * a.abs().max().item<double>());
  at::Tensor top = std::get<0>(a.topk(2));
  at::Tensor clear = (top.select(1, 0) - top.select(1, 1)) > 2 * off;
  EXPECT_TRUE((a.argmax(1).eq(b.argmax(1)) | ~clear).all().item<bool>());
}

INSTANTIATE_TEST_SUITE_P(Families, EachVlm,
                         ::testing::Values("llava", "qwen2_vl", "qwen2_5_vl", "qwen3_vl", "ovis2",
                                           "smolvlm"));

TEST(Merging, AGroupIsTheMeanOfItsRowsAtTheMedianPosition) {
  auto model = load("qwen3_vl");
  Inputs in = inputs_of("qwen3_vl");  // 4 x 6 tokens, the picture starts at position 5
  Visual native = model->encode(in.values, in.grid);
  std::vector<std::vector<int64_t>> groups = {{0, 1, 6, 7, 12}, {20}};
  Visual merged = merge(native, groups);
  at::Tensor mean = pick(native, groups[0]).rows.mean(0);
  EXPECT_LT(distance(merged.rows[0], mean), 1e-6);
  EXPECT_LT(distance(merged.deepstack[1][1], native.deepstack[1][20]), 1e-7);
  Prompt prompt = prepare(*model, in.ids, in.grid, merged, groups);
  at::Tensor where = prompt.positions.select(1, 0).select(1, prompt.visual_places[0]);
  // Rows 0,0,1,1,2 and columns 0,1,0,1,0: the medians are row 1, column 0.
  EXPECT_TRUE(at::equal(where, at::tensor({int64_t{5}, int64_t{6}, int64_t{5}})));
  EXPECT_EQ(prompt.visual_places.size(), 2U);
}

TEST(Positions, SeveralPicturesAndFramesFollowEachOther) {
  auto model = load("qwen2_vl");
  int64_t image = model->config().image_token;
  // text, 2x3 tokens, text, two frames of 1x2, text
  std::vector<int64_t> ids = {7};
  ids.insert(ids.end(), 6, image);
  ids.push_back(8);
  ids.insert(ids.end(), 4, image);
  ids.push_back(9);
  at::Tensor grids =
      at::tensor({int64_t{1}, int64_t{4}, int64_t{6}, int64_t{2}, int64_t{2}, int64_t{4}})
          .reshape({2, 3});
  at::Tensor p = model->positions(at::tensor(ids, at::kLong).unsqueeze(0), grids).select(1, 0);
  std::vector<int64_t> t = {0, 1, 1, 1, 1, 1, 1, 4, 5, 5, 6, 6, 7};
  std::vector<int64_t> h = {0, 1, 1, 1, 2, 2, 2, 4, 5, 5, 5, 5, 7};
  std::vector<int64_t> w = {0, 1, 2, 3, 1, 2, 3, 4, 5, 6, 5, 6, 7};
  EXPECT_TRUE(at::equal(p[0], at::tensor(t)));
  EXPECT_TRUE(at::equal(p[1], at::tensor(h)));
  EXPECT_TRUE(at::equal(p[2], at::tensor(w)));
}

TEST(Encoding, SeveralPicturesAtOnceEqualOneByOne) {
  for (const char* family : {"qwen2_vl", "qwen2_5_vl", "qwen3_vl"}) {
    auto model = load(family);
    Inputs in = inputs_of(family);
    int64_t m = model->config().qwen.merge;
    at::Tensor small = in.values.narrow(0, 0, 6 * m * m);  // any 2 x 3 tokens
    at::Tensor grid = at::tensor({int64_t{1}, 2 * m, 3 * m}).unsqueeze(0);
    Visual one = model->encode(in.values, in.grid);
    Visual two = model->encode(small, grid);
    Visual both = model->encode(at::cat({in.values, small}), at::cat({in.grid, grid}));
    EXPECT_LT(distance(both.rows, at::cat({one.rows, two.rows})), 1e-5) << family;
  }
}

TEST(Generation, SamplingIsSeededAndRespectsItsLimits) {
  auto model = load("llava");
  Inputs in = inputs_of("llava");
  Prompt prompt = prepare(*model, in.ids, in.grid, model->encode(in.values, in.grid));
  GenerationSettings options;
  options.max_new_tokens = 16;
  options.temperature = 1.5;
  options.seed = 3;
  Generation a = generate(*model, prompt, options);
  EXPECT_EQ(a.ids, generate(*model, prompt, options).ids);
  options.seed = 4;
  EXPECT_NE(a.ids, generate(*model, prompt, options).ids);
  options.top_k = 1;
  GenerationSettings greedy;
  greedy.max_new_tokens = 16;
  EXPECT_EQ(generate(*model, prompt, options).ids, generate(*model, prompt, greedy).ids);

  at::Tensor logits = at::tensor(std::vector<float>{0, 1, 2, 3});  // shares .03 .09 .24 .64
  GenerationSettings top;
  top.temperature = 1;
  top.top_p = 0.7;
  for (double u : {0.0, 0.5, 0.72, 0.99}) EXPECT_GE(draw(logits, top, u), 2) << u;
  EXPECT_EQ(draw(logits, top, 0.99), 2);
  top.top_p = 0.6;
  EXPECT_EQ(draw(logits, top, 0.99), 3);
  options.top_p = 0;
  EXPECT_THROW(generate(*model, prompt, options), Error);
}

TEST(Generation, StopsAtStopTokensAndWhenToldTo) {
  auto model = load("qwen3_vl");
  Inputs in = inputs_of("qwen3_vl");
  Prompt prompt = prepare(*model, in.ids, in.grid, model->encode(in.values, in.grid));
  GenerationSettings options;
  options.max_new_tokens = 12;
  std::vector<int64_t> free = generate(*model, prompt, options).ids;
  options.stop = {free[4]};
  Generation stopped = generate(*model, prompt, options);
  EXPECT_TRUE(stopped.stopped);
  EXPECT_EQ(stopped.ids.back(), free[4]);
  EXPECT_LE(stopped.ids.size(), 5U);
  options.stop.clear();
  int seen = 0;
  options.on_token = [&](size_t, int64_t) { return ++seen < 3; };
  EXPECT_EQ(generate(*model, prompt, options).ids.size(), 3U);
}

TEST(Attention, WatchedLayersSayWhereTheQuestionLooked) {
  auto model = load("qwen2_5_vl");
  Inputs in = inputs_of("qwen2_5_vl");
  Prompt prompt = prepare(*model, in.ids, in.grid, model->encode(in.values, in.grid));
  GenerationSettings options;
  options.max_new_tokens = 1;
  options.attention_layers = {0, -1};
  Generation made = generate(*model, prompt, options);
  ASSERT_EQ(made.attention.size(), 24U);
  float sum = 0;
  for (float share : made.attention) {
    EXPECT_GT(share, 0);
    sum += share;
  }
  EXPECT_LT(sum, 1);
  options.attention_layers = {99};
  EXPECT_THROW(generate(*model, prompt, options), Error);
}

}  // namespace
}  // namespace arrcoc::hf
