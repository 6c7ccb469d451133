// Several pictures in one sequence: the processors' own expansion of the prompt, positions one
// after the other, one budget over all of them.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "arrcoc/ask.h"
#include "hf/small_models.h"
#include "models/hf/generate.h"
#include "models/hf/vlm.h"

namespace arrcoc::hf {
namespace {

using testing_support::folder_of;
using testing_support::model_of;
using testing_support::picture;
using testing_support::Scratch;

const std::vector<Turn> kTwo = {{Role::user, "Which is older?", 2}};

class TwoPictures : public ::testing::TestWithParam<const char*> {
 protected:
  Scratch scratch;
  std::shared_ptr<const HfModel> model = model_of(GetParam(), scratch);
  std::vector<Features> both = {model->encode_image(picture(112, 168)),
                                model->encode_image(picture(196, 84))};
};

// As the processors of transformers write it: every placeholder of the template, once a picture, is
// repeated as often as its picture has tokens.
TEST_P(TwoPictures, ThePromptIsTheProcessorsOwnExpansion) {
  const int64_t token = model->vlm().config().image_token;
  std::vector<int64_t> expected;
  size_t next = 0;
  for (int64_t id : model->tokenizer()->encode(chat_text(model->family(), kTwo, {{}, {}}))) {
    const int64_t count = id == token ? both.at(next++).native() : 1;
    expected.insert(expected.end(), static_cast<size_t>(count), id);
  }
  EXPECT_EQ(next, 2U);
  EXPECT_EQ(model->prompt_ids(kTwo, both), expected);
}

// The language model reads the same as with the rows and grids put together by hand.
TEST_P(TwoPictures, TheAnswerIsThatOfOneSequence) {
  const std::vector<int64_t> ids = model->prompt_ids(kTwo, both);
  std::vector<at::Tensor> grids;
  std::vector<Visual> rows;
  for (const Features& one : both) {
    rows.push_back({one.rows, one.deepstack});
    for (const Features::View& view : one.views)
      if (view.grid.defined()) grids.push_back(view.grid);
  }
  const Prompt prompt = prepare(model->vlm(), at::tensor(ids, at::kLong).unsqueeze(0),
                                grids.empty() ? at::Tensor() : at::cat(grids), join(rows));
  const Generation alone = generate(model->vlm(), prompt, testing_support::short_answer());
  const Generation made = testing_support::answer(*model, kTwo, both);
  EXPECT_EQ(made.ids, alone.ids);
  EXPECT_EQ(made.visual_tokens, both[0].size() + both[1].size());
  EXPECT_NE(testing_support::answer(*model, kTwo, {both[1], both[0]}).probability,
            made.probability);
}

// A choice of each: the places of the second follow those of the whole first.
TEST_P(TwoPictures, WhatIsLeftOutOfOneDoesNotMoveTheOther) {
  const auto some = [&](size_t i) {
    Allocation given;
    given.geometry = {both[i].width, both[i].height, 0};
    given.budget.tokens = 3;
    given.leaves = {{2, 0, 0, 0.9F}, {2, 0, 1, 0.5F}, {2, 1, 0, 0.7F}};
    return model->select(both[i], given);
  };
  const std::vector<Features> few = {some(0), some(1)};
  const std::vector<int64_t> ids = model->prompt_ids(kTwo, few);
  EXPECT_EQ(ids, model->prompt_ids(kTwo, both));  // a place for every token of the full views
  const Generation made = testing_support::answer(*model, kTwo, few);
  EXPECT_EQ(made.visual_tokens, few[0].size() + few[1].size());
  const std::vector<Features> mixed = {both[0], few[1]};
  EXPECT_EQ(testing_support::answer(*model, kTwo, mixed).visual_tokens,
            both[0].size() + few[1].size());
}

INSTANTIATE_TEST_SUITE_P(Families, TwoPictures,
                         ::testing::Values("llava", "qwen2_vl", "qwen2_5_vl", "qwen3_vl"));

// Text runs on, a picture of rows x columns takes as many places as the larger of them.
TEST(TwoPicturesOf, QwenStandOneAfterTheOther) {
  Scratch scratch;
  const auto model = model_of("qwen3_vl", scratch);
  const int64_t token = model->vlm().config().image_token, merge = model->vlm().config().qwen.merge;
  std::vector<int64_t> ids = {7};
  ids.insert(ids.end(), 6, token);  // 2 x 3
  ids.push_back(8);
  ids.insert(ids.end(), 4, token);  // 4 x 1
  ids.push_back(9);
  const at::Tensor grids =
      at::tensor({int64_t{1}, 2 * merge, 3 * merge, int64_t{1}, 4 * merge, merge}, at::kLong)
          .view({2, 3});
  const at::Tensor p =
      model->vlm().positions(at::tensor(ids, at::kLong).unsqueeze(0), grids).select(1, 0);
  EXPECT_TRUE(at::equal(p[0], at::tensor({0, 1, 1, 1, 1, 1, 1, 4, 5, 5, 5, 5, 9}, at::kLong)));
  EXPECT_TRUE(at::equal(p[1], at::tensor({0, 1, 1, 1, 2, 2, 2, 4, 5, 6, 7, 8, 9}, at::kLong)));
  EXPECT_TRUE(at::equal(p[2], at::tensor({0, 1, 2, 3, 1, 2, 3, 4, 5, 5, 5, 5, 9}, at::kLong)));
}

// One budget: the picture that matters has most of it, in every mode.
TEST(TwoPicturesOf, OneBudgetGoesWhereItMatters) {
  Scratch scratch;
  const std::string folder = folder_of("qwen3_vl", scratch);
  const std::vector<Picture> pictures = {picture(640, 640), picture(640, 640)};
  for (ReadMode mode : {ReadMode::prune, ReadMode::patches, ReadMode::zoom}) {
    const auto model = open_model(folder, {mode});
    AskOptions options = policy("saliency");
    options.budget = "100";
    options.generate.max_new_tokens = 2;
    const Answer answer =
        Asker(nullptr, model).ask(pictures, "What is in the second picture?", options);
    EXPECT_LE(answer.tokens, 100) << to_string(mode);
    EXPECT_GT(answer.pictures[1].tokens, answer.pictures[0].tokens) << to_string(mode);
    EXPECT_EQ(answer.picture, 1U);
  }
}

}  // namespace
}  // namespace arrcoc::hf
