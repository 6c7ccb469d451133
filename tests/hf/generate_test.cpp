// Prompts continued together, early attention, and the settings of generation.
#include "models/hf/generate.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "arrcoc/error.h"
#include "hf/small_models.h"
#include "models/compat.h"

namespace arrcoc::hf {
namespace {

using testing_support::allocation;
using testing_support::answer;
using testing_support::data;
using testing_support::model_of;
using testing_support::picture;
using testing_support::Scratch;
using testing_support::short_answer;

class Families : public ::testing::TestWithParam<const char*> {
 protected:
  std::vector<std::vector<int64_t>> prompts_of(const std::vector<std::string>& questions,
                                               const Features& features) const {
    std::vector<std::vector<int64_t>> out;
    for (const std::string& question : questions)
      out.push_back(model->prompt_ids({{Role::user, question, 1}}, {features}));
    return out;
  }
  Scratch scratch;
  std::shared_ptr<const HfModel> model = model_of(GetParam(), scratch);
};

TEST_P(Families, QuestionsAnsweredTogetherGetTheAnswersTheyGetAlone) {
  const Features native = model->encode_image(picture(256, 256));
  GenerationSettings settings = short_answer();
  settings.max_new_tokens = 8;
  settings.attention_layers = {-1};
  for (const Features& features : {native, model->select(native, allocation(12))}) {
    const auto prompts = prompts_of({"Where?", "Who wrote the letter, and when was it?",
                                     "How many red cars are there?", "Where?"},
                                    features);
    const std::vector<Generation> together = model->generate_all(prompts, {features}, settings);
    ASSERT_EQ(together.size(), prompts.size());
    EXPECT_EQ(together[0].ids, together[3].ids);
    for (size_t i = 0; i < prompts.size(); ++i) {
      const Generation a = model->generate(prompts[i], {features}, settings);
      const Generation& b = together[i];
      EXPECT_EQ(a.ids, b.ids) << i;
      EXPECT_EQ(a.prompt_tokens, b.prompt_tokens);
      EXPECT_EQ(b.visual_tokens, features.size());
      for (size_t t = 0; t < a.ids.size(); ++t)
        EXPECT_NEAR(a.probability[t], b.probability[t], 1e-4);
      ASSERT_EQ(a.attention.size(), b.attention.size());
      for (size_t t = 0; t < a.attention.size(); ++t)
        EXPECT_NEAR(a.attention[t], b.attention[t], 1e-5);
    }
  }
}

TEST_P(Families, AnAnswerThatStopsOrIsNotWantedLeavesTheOthersGoing) {
  const Features native = model->encode_image(picture(128, 128));
  const auto prompts = prompts_of({"Where is the red car?", "Why?"}, native);
  GenerationSettings settings = short_answer();
  const std::vector<int64_t> first = model->generate(prompts[0], {native}, settings).ids;
  const std::vector<int64_t> second = model->generate(prompts[1], {native}, settings).ids;
  std::vector<std::vector<int64_t>> heard(2);
  settings.on_token = [&](size_t i, int64_t id) {
    heard[i].push_back(id);
    return i == 1 || heard[i].size() < 2;
  };
  const std::vector<Generation> unwanted = model->generate_all(prompts, {native}, settings);
  EXPECT_EQ(unwanted[0].ids, (std::vector<int64_t>{first[0], first[1]}));
  EXPECT_EQ(unwanted[1].ids, second);
  EXPECT_EQ(heard[0], unwanted[0].ids);
  EXPECT_EQ(heard[1], unwanted[1].ids);
  settings.on_token = nullptr;
  settings.stop = {first[1]};
  const std::vector<Generation> both = model->generate_all(prompts, {native}, settings);
  for (size_t i = 0; i < prompts.size(); ++i)
    EXPECT_EQ(both[i].ids, model->generate(prompts[i], {native}, settings).ids);
  EXPECT_TRUE(both[0].stopped);
  EXPECT_TRUE(model->generate_all({}, {native}, settings).empty());
}

TEST_P(Families, PromptsThatPartBeforeThePictureAreReadOneByOne) {
  const Features native = model->encode_image(picture(64, 64));
  const std::vector<std::vector<int64_t>> prompts = {
      model->prompt_ids({{Role::system, "Be brief.", 0}, {Role::user, "Why?", 1}}, {native}),
      model->prompt_ids({{Role::user, "Why?", 1}}, {native})};
  const auto both = model->generate_all(prompts, {native}, short_answer());
  for (size_t i = 0; i < prompts.size(); ++i)
    EXPECT_EQ(both[i].ids, model->generate(prompts[i], {native}, short_answer()).ids);
}

TEST_P(Families, EarlyAttentionIsAValueForEveryTokenThatWasShown) {
  const Features native = model->encode_image(picture(128, 160));
  const std::vector<Turn> talk = {{Role::user, "Where is the red car?", 1}};
  const std::vector<float> look = model->early_attention(talk, {native});
  ASSERT_EQ(static_cast<int64_t>(look.size()), native.size());
  float sum = 0;
  for (float share : look) {
    EXPECT_GT(share, 0);
    sum += share;
  }
  EXPECT_LT(sum, 1);
  EXPECT_EQ(look, model->early_attention(talk, {native}));
  EXPECT_NE(look, model->early_attention({{Role::user, "How many birds?", 1}}, {native}));
  EXPECT_THROW(model->early_attention({{Role::user, "No picture", 0}}, {}), Error);
  EXPECT_THROW(model->early_attention(talk, {native}, {99}), Error);
}

INSTANTIATE_TEST_SUITE_P(Each, Families,
                         ::testing::Values("llava", "qwen2_vl", "qwen2_5_vl", "qwen3_vl", "ovis2",
                                           "smolvlm"));

TEST(GroupedAttention, EqualsAttentionWithCopiedKeys) {
  const at::Tensor q = at::randn({2, 6, 5, 8});
  const at::Tensor k = at::randn({2, 2, 9, 8});
  const at::Tensor v = at::randn({2, 2, 9, 8});
  const at::Tensor mask = at::randn({2, 1, 1, 9});
  for (bool causal : {false, true}) {
    const at::Tensor wide = k.repeat_interleave(3, 1);
    at::Tensor scores = at::matmul(q, wide.transpose(2, 3)) * 0.3 + mask;
    if (causal) {
      const at::Tensor unseen = at::ones({5, 9}, at::kBool).triu(9 - 5 + 1);
      scores = scores.masked_fill(unseen, -INFINITY);
    }
    const at::Tensor expected = at::matmul(at::softmax(scores, -1), v.repeat_interleave(3, 1));
    const at::Tensor got = compat::attention(q, k, v, 0.3, causal, mask);
    EXPECT_LT((got - expected).abs().max().item<float>(), 1e-5F) << causal;
  }
}

TEST(GenerationConfig, IsHonouredAndEndsComeFromConfigWhereItIsMissing) {
  Scratch scratch;
  testing_support::write_text(scratch.path("config.json"),
                              R"({"text_config": {"eos_token_id": [7, 9]}})");
  EXPECT_EQ(read_generation(scratch.path("")).stop, (std::vector<int64_t>{7, 9}));
  const std::string file = scratch.path("generation_config.json");
  testing_support::write_text(file,
                              R"({"do_sample": true, "temperature": 0.5, "top_p": 0.8, "top_k": 3,
                "repetition_penalty": 1.05, "max_new_tokens": 17, "eos_token_id": 4})");
  const GenerationSettings read = read_generation(scratch.path(""));
  EXPECT_EQ(read.temperature, 0.5);
  EXPECT_EQ(read.top_p, 0.8);
  EXPECT_EQ(read.top_k, 3);
  EXPECT_EQ(read.repetition_penalty, 1.05);
  EXPECT_EQ(read.max_new_tokens, 17);
  EXPECT_EQ(read.stop, (std::vector<int64_t>{4}));
  for (const char* bad : {R"({"do_sample": 3})", R"({"repetition_penalty": 0})", "[]", "{",
                          R"({"do_sample": true, "top_p": 7})", R"({"eos_token_id": "x"})"}) {
    testing_support::write_text(file, bad);
    EXPECT_THROW(read_generation(scratch.path("")), Error) << bad;
  }
}

TEST(RepetitionPenalty, KeepsAnAnswerFromSayingTheSameAgain) {
  Scratch scratch;
  auto model = model_of("qwen3_vl", scratch);
  const Features seen = model->encode_image(picture(64, 64));
  GenerationSettings settings;
  settings.max_new_tokens = 12;
  auto repeats = [&] {
    std::vector<int64_t> ids = answer(*model, {{Role::user, "Where?", 1}}, {seen}, settings).ids;
    std::sort(ids.begin(), ids.end());
    return ids.end() - std::unique(ids.begin(), ids.end());
  };
  settings.repetition_penalty = 1e6;
  EXPECT_EQ(repeats(), 0);
  settings.repetition_penalty = 0;
  EXPECT_THROW(repeats(), Error);
}

TEST(RandomModel, IsMadeWithoutFilesAndBySeed) {
  const std::string config = data("goldens/qwen3_vl/config.json");
  auto run = [&](uint64_t seed) {
    auto model = HfModel::random(config, {.dtype = "float32"}, seed);
    const Features seen = model->encode_image(picture(64, 96));
    std::vector<int64_t> ids = {1, 2};
    ids.insert(ids.end(), static_cast<size_t>(seen.size()), model->vlm().config().image_token);
    ids.push_back(3);
    EXPECT_THROW(model->prompt_ids({{Role::user, "Where?", 1}}, {seen}), Error);
    return model->generate(ids, {seen}, short_answer()).probability;
  };
  EXPECT_EQ(run(5), run(5));
  EXPECT_NE(run(5), run(6));
  EXPECT_THROW(HfModel::random(data("goldens/clip/config.json")), Error);
}

}  // namespace
}  // namespace arrcoc::hf
