// Questions together, maps from several sources, and conversations that choose anew every turn.
#include "models/hf/session.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "arrcoc/error.h"
#include "hf/small_models.h"
#include "models/compat.h"
#include "models/hf/generate.h"
#include "models/hf/vlm.h"

namespace arrcoc::hf {
namespace {

using testing_support::allocation;
using testing_support::data;
using testing_support::model_of;
using testing_support::picture;
using testing_support::Scratch;
using testing_support::short_answer;

Answer alone(const HfModel& model, const std::string& question, const Features& features,
             const GenerateOptions& options) {
  return model.answer({{"user", question, 1}}, {features}, options);
}

class Families : public ::testing::TestWithParam<const char*> {
 protected:
  Scratch scratch;
  std::shared_ptr<const HfModel> model = model_of(GetParam(), scratch);
};

TEST_P(Families, QuestionsAnsweredTogetherGetTheAnswersTheyGetAlone) {
  const std::vector<std::string> questions = {"Where?", "Who wrote the letter, and when was it?",
                                              "How many red cars are there?"};
  const Features native = model->encode_image(picture(256, 256));
  GenerateOptions options = short_answer();
  options.max_new_tokens = 8;
  options.attention_layers = {-1};
  for (const Features& features : {native, model->select(native, allocation(12))}) {
    const std::vector<Answer> together = model->answer_all(questions, {features}, options);
    ASSERT_EQ(together.size(), questions.size());
    for (size_t i = 0; i < questions.size(); ++i) {
      const Generation a = alone(*model, questions[i], features, options).generation;
      const Generation& b = together[i].generation;
      EXPECT_EQ(a.ids, b.ids) << questions[i];
      EXPECT_EQ(a.prompt_tokens, b.prompt_tokens);
      EXPECT_EQ(b.visual_tokens, features.size());
      for (size_t t = 0; t < a.ids.size(); ++t) {
        EXPECT_NEAR(a.probability[t], b.probability[t], 1e-4);
        EXPECT_NEAR(a.entropy[t], b.entropy[t], 1e-3);
      }
      ASSERT_EQ(a.attention.size(), b.attention.size());
      for (size_t t = 0; t < a.attention.size(); ++t) {
        EXPECT_NEAR(a.attention[t], b.attention[t], 1e-5);
      }
    }
  }
}

TEST_P(Families, AnAnswerThatStopsLeavesTheOthersGoing) {
  const Features native = model->encode_image(picture(128, 128));
  const std::vector<std::string> questions = {"Where is the red car?", "Why?"};
  GenerateOptions options = short_answer();
  const std::vector<int64_t> first = alone(*model, questions[0], native, options).generation.ids;
  options.stop = {first[1]};
  const std::vector<Answer> both = model->answer_all(questions, {native}, options);
  for (size_t i = 0; i < questions.size(); ++i) {
    EXPECT_EQ(both[i].generation.ids, alone(*model, questions[i], native, options).generation.ids);
  }
  EXPECT_TRUE(both[0].generation.stopped);
  EXPECT_TRUE(model->answer_all({}, {native}, options).empty());
}

TEST_P(Families, EarlyAttentionIsAValueForEveryTokenThatWasShown) {
  const Features native = model->encode_image(picture(128, 160));
  const std::vector<Message> talk = {{"user", "Where is the red car?", 1}};
  const std::vector<float> look = model->early_attention(talk, {native});
  ASSERT_EQ(static_cast<int64_t>(look.size()), native.size());
  float sum = 0;
  for (float share : look) {
    EXPECT_GT(share, 0);
    sum += share;
  }
  EXPECT_LT(sum, 1);
  EXPECT_EQ(look, model->early_attention(talk, {native}));
  EXPECT_NE(look, model->early_attention({{"user", "How many birds?", 1}}, {native}));
  EXPECT_THROW(model->early_attention({{"user", "No picture", 0}}, {}), Error);
  EXPECT_THROW(model->early_attention(talk, {native}, {99}), Error);
}

INSTANTIATE_TEST_SUITE_P(Each, Families,
                         ::testing::Values("llava", "qwen2_vl", "qwen2_5_vl", "qwen3_vl", "ovis2"));

AskOptions settings(const std::string& mode, const std::string& relevance) {
  AskOptions options;
  options.mode = mode;
  options.relevance = relevance;
  options.look = policy("saliency");
  options.look.budget = "20";
  options.generate = short_answer();
  return options;
}

TEST(Conversation, EveryModeAndSourceStaysWithinTheBudgetOfAllPictures) {
  Scratch scratch;
  auto model = model_of("qwen3_vl", scratch);
  const std::vector<Picture> pictures = {picture(256, 256), picture(200, 300)};
  for (const char* mode : {"prune", "patches", "zoom"}) {
    for (const char* relevance : {"realizer", "attention", "combined"}) {
      Session session(model, pictures, settings(mode, relevance));
      const Turn turn = session.ask("Where is the red car?");
      EXPECT_LE(turn.tokens, 20) << mode << " " << relevance;
      EXPECT_EQ(turn.tokens, turn.answer.generation.visual_tokens);
      EXPECT_EQ(turn.answer.generation.ids.size(), 5U);
      ASSERT_EQ(turn.pictures.size(), 2U);
      for (const Sighting& seen : turn.pictures) {
        EXPECT_GT(seen.features.size(), 0);
        EXPECT_FALSE(seen.attention.empty());
        EXPECT_FALSE(seen.relevance.empty());
      }
      Session again(model, pictures, settings(mode, relevance));
      EXPECT_EQ(again.ask("Where is the red car?").answer.generation.ids,
                turn.answer.generation.ids);
    }
  }
  Session native(model, {pictures[0]}, settings("native", "realizer"));
  const Turn turn = native.ask("Where?");
  EXPECT_EQ(turn.tokens, turn.native_tokens);
  const GenerateOptions options = short_answer();
  EXPECT_EQ(turn.answer.generation.ids,
            alone(*model, "Where?", model->encode_image(pictures[0]), options).generation.ids);
}

TEST(Conversation, TheNextQuestionChoosesAnewFromFeaturesThatAreKept) {
  Scratch scratch;
  auto model = model_of("qwen2_5_vl", scratch);
  AskOptions options = settings("prune", "attention");
  options.cache = std::make_shared<FeatureCache>(1 << 28);
  Session session(model, {picture(256, 256)}, options);
  const Turn first = session.ask("Where is the red car?");
  const size_t hits = options.cache->hits();
  const Turn second = session.ask("How many birds sit on the roof of the house?");
  EXPECT_GT(options.cache->hits(), hits);
  EXPECT_NE(first.pictures[0].relevance, second.pictures[0].relevance);
  EXPECT_GT(second.answer.generation.prompt_tokens, first.answer.generation.prompt_tokens);
  EXPECT_LE(second.tokens, 20);
}

TEST(Conversation, RefusesWhatCannotWorkWithAReason) {
  Scratch scratch;
  auto model = model_of("llava", scratch);
  const std::vector<Picture> one = {picture(64, 64)};
  auto refused = [&](const AskOptions& options, const std::string& reason) {
    try {
      Session session(model, one, options);
      ADD_FAILURE() << reason;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(reason), std::string::npos) << error.what();
    }
  };
  refused(settings("zoom", "realizer"), "use prune or patches");
  refused(settings("crop", "realizer"), "unknown mode 'crop'");
  refused(settings("prune", "guess"), "unknown relevance 'guess'");
  refused(settings("prune", "clip"), "CLIP or SigLIP");
  EXPECT_EQ(Session(model, one, settings("", "realizer")).mode(), "prune");
  EXPECT_THROW(Session(model, {}, settings("prune", "realizer")), Error);
  AskOptions small = settings("prune", "realizer");
  small.look.budget = "1";
  Session two(model, {one[0], one[0]}, small);
  EXPECT_THROW(two.ask("Where?"), Error);
}

TEST(Combine, IsTheMeanOfStretchedMapsOnTheFinestGrid) {
  Map coarse{1, 2, 32, 32, {0, 4}};
  Map fine{2, 4, 16, 16, {1, 1, 1, 1, 1, 1, 1, 3}};
  const Map both = combine({coarse, fine});
  EXPECT_EQ(both.rows, 2);
  EXPECT_EQ(both.cols, 4);
  EXPECT_EQ(both.values, (std::vector<float>{0, 0, 0.5F, 0.5F, 0, 0, 0.5F, 1}));
  EXPECT_EQ(combine({coarse, fine}, {1, 0}).values, (std::vector<float>{0, 0, 1, 1, 0, 0, 1, 1}));
  EXPECT_THROW(combine({}), Error);
  EXPECT_THROW(combine({coarse}, {1, 2}), Error);
  EXPECT_THROW(combine({coarse}, {0}), Error);
}

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
  const GenerateOptions read = read_generation(scratch.path(""));
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
  GenerateOptions options;
  options.max_new_tokens = 12;
  auto repeats = [&] {
    std::vector<int64_t> ids = alone(*model, "Where?", seen, options).generation.ids;
    std::sort(ids.begin(), ids.end());
    return ids.end() - std::unique(ids.begin(), ids.end());
  };
  options.repetition_penalty = 1e6;
  EXPECT_EQ(repeats(), 0);
  options.repetition_penalty = 0;
  EXPECT_THROW(repeats(), Error);
}

TEST(RandomModel, IsMadeWithoutFilesAndBySeed) {
  const std::string config = data("goldens/qwen3_vl/config.json");
  auto run = [&](uint64_t seed) {
    auto model = HfModel::random(config, {"cpu", "float32"}, seed);
    const Features seen = model->encode_image(picture(64, 96));
    std::vector<int64_t> ids = {1, 2};
    ids.insert(ids.end(), static_cast<size_t>(seen.size()), model->vlm().config().image_token);
    ids.push_back(3);
    return model->generate(ids, {seen}, short_answer()).probability;
  };
  EXPECT_EQ(run(5), run(5));
  EXPECT_NE(run(5), run(6));
  EXPECT_THROW(HfModel::random(data("goldens/clip/config.json")), Error);
}

}  // namespace
}  // namespace arrcoc::hf
