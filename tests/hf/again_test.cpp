// Looking again with Hugging Face models: how sure an answer is, where it was read, and what the
// next look makes of that. Weights are random: mechanics, not skill.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

#include "arrcoc/ask.h"
#include "arrcoc/error.h"
#include "arrcoc/json.h"
#include "arrcoc/weights.h"
#include "hf/small_models.h"
#include "models/hf/generate.h"
#include "models/hf/vlm.h"

namespace arrcoc {
namespace {

using testing_support::data;
using testing_support::folder_of;
using testing_support::picture;
using testing_support::Scratch;

struct Continued {
  hf::Prompt prompt;
  hf::Generation made;
};

// A golden checkpoint with its own prompt, continued.
Continued continued(const hf::Vlm& model, const std::string& family,
                    const std::vector<int64_t>& layers) {
  const WeightFile golden = WeightFile::open(data("goldens/" + family + "/golden.safetensors"));
  const at::Tensor grid =
      golden.has("image_grid_thw") ? golden.get("image_grid_thw", at::kLong) : at::Tensor();
  hf::Prompt prompt = hf::prepare(model, golden.get("input_ids", at::kLong), grid,
                                  model.encode(golden.get("pixel_values", at::kFloat), grid));
  hf::GenerationSettings settings;
  settings.max_new_tokens = 6;
  settings.attention_layers = layers;
  hf::Generation made = hf::generate(model, prompt, settings);
  return {std::move(prompt), std::move(made)};
}

class Golden : public ::testing::TestWithParam<const char*> {};

// All tokens in one go, without the cache that answers grow by.
TEST_P(Golden, ProbabilitiesAndAttentionAreThoseOfADirectComputation) {
  const std::string folder = data(std::string("goldens/") + GetParam());
  const hf::ModelConfig config = hf::read_config(folder);
  hf::FileSource source(WeightFile::open(folder), hf::spellings_of(config), at::kFloat, at::kCPU);
  const auto model = hf::make_vlm(config, source);
  const hf::Decoder& decoder = model->decoder();
  const std::vector<int64_t> layers = {0, decoder.config().layers - 1};
  const auto [prompt, made] = continued(*model, GetParam(), layers);
  ASSERT_EQ(made.ids.size(), 6U);
  const auto steps = static_cast<int64_t>(made.ids.size());
  const at::Tensor written = at::tensor(made.ids, at::kLong).narrow(0, 0, steps - 1).unsqueeze(0);
  const at::Tensor embeds = at::cat({prompt.embeds, decoder.embed(written)}, 1);
  const at::Tensor next = at::arange(prompt.next_position, prompt.next_position + steps - 1)
                              .expand({prompt.positions.size(0), 1, steps - 1});
  hf::AttentionProbe probe;
  probe.layers = layers;
  probe.queries = steps;
  const at::Tensor hidden = decoder.forward(embeds, at::cat({prompt.positions, next}, 2), nullptr,
                                            &prompt.deepstack, &probe);
  const at::Tensor shares =
      at::softmax(decoder.logits(hidden[0].narrow(0, prompt.length() - 1, steps)), -1);
  for (int64_t t = 0; t < steps; ++t)
    EXPECT_NEAR(shares[t][made.ids[static_cast<size_t>(t)]].item<float>(),
                made.probability[static_cast<size_t>(t)], 1e-5);
  ASSERT_EQ(probe.maps.size(), 2U);
  const at::Tensor mean = ((probe.maps[0] + probe.maps[1]) / 2)[0].mean(0);
  ASSERT_EQ(made.attention.size(), prompt.visual_places.size());
  for (size_t i = 0; i < made.attention.size(); ++i)
    EXPECT_NEAR(made.attention[i], mean[prompt.visual_places[i]].item<float>(), 1e-5);
}

INSTANTIATE_TEST_SUITE_P(Families, Golden,
                         ::testing::Values("llava", "qwen2_vl", "qwen2_5_vl", "qwen3_vl"));

AskOptions again(const std::string& budget, int passes = 2) {
  AskOptions out = policy("saliency");
  out.budget = budget;
  out.generate.max_new_tokens = 4;
  out.passes.passes = passes;
  out.passes.gathered = 0;     // random weights look everywhere
  out.passes.confident = 1.1;  // and are never sure enough
  return out;
}

class AgainWith : public ::testing::TestWithParam<std::pair<const char*, ReadMode>> {
 protected:
  std::shared_ptr<const Model> open() const { return open_model(folder, {GetParam().second}); }
  Scratch scratch;
  std::string folder = folder_of(GetParam().first, scratch);
};

TEST_P(AgainWith, TheAnswersAttentionSumsToOneOverThePictures) {
  const auto model = open();
  const std::vector<Picture> two = {picture(256, 256), picture(200, 300)};
  const Answer one = Asker(nullptr, model).ask(two[0], "Where?", again("20", 1));
  const Reply& reply = one.from().answer().reply;
  EXPECT_NEAR(std::accumulate(reply.focus.begin(), reply.focus.end(), 0.0F), 1, 1e-4);
  EXPECT_EQ(reply.focus.size(), static_cast<size_t>(one.tokens));
  ASSERT_EQ(reply.places.size(), reply.focus.size());
  for (const Box& place : reply.places) EXPECT_GT(place.area(), 0);
  const Answer both = Asker(nullptr, model).ask(two, "Where?", again("30", 1));
  double sum = 0;
  for (const PictureAnswer& part : both.pictures) {
    const Reply& own = part.answer().reply;
    EXPECT_EQ(own.focus.size(), static_cast<size_t>(part.tokens));
    EXPECT_EQ(own.places.size(), own.focus.size());
    sum += std::accumulate(own.focus.begin(), own.focus.end(), 0.0);
  }
  EXPECT_NEAR(sum, 1, 1e-4);
}

TEST_P(AgainWith, ASecondLookComesCloserOrGoesElsewhere) {
  const auto model = open();
  const Asker asker(nullptr, model);
  for (const double lost : {1.0, 0.0}) {  // never lost, always lost
    AskOptions options = again("40");
    options.passes.lost = lost;
    const Answer answer = asker.ask(picture(512, 640), "Where is the red car?", options);
    const auto& passes = answer.from().passes;
    ASSERT_EQ(passes.size(), 2U) << to_string(answer.stop);
    EXPECT_EQ(passes[1].manner, lost > 0 ? Manner::closer : Manner::elsewhere);
    EXPECT_EQ(answer.stop, Stop::passes);
    EXPECT_EQ(maximum(passes[0].attention), 1);  // what the history holds for the second
    EXPECT_NE(passes[1].relevance, passes[0].relevance);
    EXPECT_TRUE(passes[1].allocation.leaves != passes[0].allocation.leaves ||
                passes[1].allocation.crops != passes[0].allocation.crops);
    EXPECT_GT(passes[0].gathered, 0);
    EXPECT_LE(passes[0].tokens, 36);
    EXPECT_LE(passes[1].tokens, 32);
    const double mean = std::pow(passes[1].reply.likelihood, 1.0 / 4);
    EXPECT_NEAR(passes[1].uncertainty, 1 - mean, 1e-5);
    EXPECT_NEAR(passes[1].confidence, mean, 1e-5);
    EXPECT_FALSE(answer.calibrated);
    EXPECT_TRUE(answer.box());
    const Answer twice = asker.ask(picture(512, 640), "Where is the red car?", options);
    EXPECT_EQ(twice.text, answer.text);
  }
}

TEST_P(AgainWith, EqualTotalsHold) {
  AskOptions options = again("80", 4);
  options.passes.total_budget = 80;
  options.passes.first = options.passes.later = 0.5;
  const Answer looks = Asker(nullptr, open()).ask(picture(512, 640), "Where?", options);
  EXPECT_LE(looks.tokens, 80);
  EXPECT_GE(looks.from().passes.size(), 2U) << to_string(looks.stop);
  const Answer single = Asker(nullptr, open()).ask(picture(512, 640), "Where?", again("80", 1));
  EXPECT_LE(single.tokens, 80);
  EXPECT_EQ(single.from().passes.size(), 1U);
}

INSTANTIATE_TEST_SUITE_P(Families, AgainWith,
                         ::testing::Values(std::pair{"llava", ReadMode::prune},
                                           std::pair{"llava", ReadMode::patches},
                                           std::pair{"qwen2_vl", ReadMode::zoom},
                                           std::pair{"qwen2_5_vl", ReadMode::prune},
                                           std::pair{"qwen3_vl", ReadMode::zoom},
                                           std::pair{"qwen3_vl", ReadMode::patches},
                                           std::pair{"ovis2", ReadMode::prune},
                                           std::pair{"smolvlm", ReadMode::prune}),
                         [](const auto& one) {
                           return std::string(one.param.first) + "_" + to_string(one.param.second);
                         });

TEST(Again, ModeNativeHasNothingMoreToShow) {
  Scratch scratch;
  const auto model = open_model(folder_of("qwen3_vl", scratch), {ReadMode::native});
  EXPECT_THROW(Asker(nullptr, model).ask(picture(256, 256), "Where?", again("40")), Error);
}

// DeepSeek-OCR-2 has no view of fewer tokens than its smallest.
TEST(Again, AFurtherLookIsNeverSmallerThanTheSmallestView) {
  Scratch scratch;
  const auto model = open_model(folder_of("deepseek_ocr2", scratch), {});
  const int least = model->capabilities().least_tokens;
  EXPECT_GT(least, 1);
  AskOptions options = again(std::to_string(2 * least));
  options.passes.later = 0.1;
  const Answer answer = Asker(nullptr, model).ask(picture(900, 1400), "Where?", options);
  EXPECT_LE(answer.from().passes.back().tokens, 2 * least);
  options.passes.total_budget = 2 * least;
  const Answer within = Asker(nullptr, model).ask(picture(900, 1400), "Where?", options);
  EXPECT_LE(within.tokens, 2 * least);
}

}  // namespace
}  // namespace arrcoc
