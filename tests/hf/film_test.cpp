// Films for the Qwen family: the frames in pairs, their times, and some of their tokens.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "arrcoc/error.h"
#include "arrcoc/model.h"
#include "hf/small_models.h"
#include "models/hf/processor.h"
#include "models/hf/vlm.h"

namespace arrcoc::hf {
namespace {

using testing_support::allocation;
using testing_support::answer;
using testing_support::folder_of;
using testing_support::model_of;
using testing_support::picture;
using testing_support::Scratch;

json settings(const char* type, int64_t patch) {
  return {{"video_processor_type", type},
          {"patch_size", patch},
          {"size", {{"shortest_edge", 4096}, {"longest_edge", 40960}}}};
}

// By hand from video_processing_qwen2_vl.py (a frame) and _qwen3_vl.py (all frames together).
TEST(FilmSize, LimitsAreThoseOfAFrameOrOfTheFilm) {
  using Size = std::pair<int64_t, int64_t>;
  const auto two = ImageProcessor::from(settings("Qwen2VLVideoProcessor", 14), "p.json");
  EXPECT_EQ(two.film_size(8, 120, 160), (Size{112, 168}));
  EXPECT_EQ(two.film_size(800, 120, 160), (Size{112, 168}));
  const auto three = ImageProcessor::from(settings("Qwen3VLVideoProcessor", 16), "p.json");
  EXPECT_EQ(three.film_size(2, 120, 160), (Size{128, 160}));  // 40,960 pixels: just enough
  EXPECT_EQ(three.film_size(8, 120, 160), (Size{32, 64}));    // shrunk by sqrt(3.75)
  EXPECT_EQ(three.film_size(2, 16, 16), (Size{64, 64}));      // enlarged
  EXPECT_THROW(three.film_size(2, 100000, 32), Error);
}

TEST(FilmPixels, APatchHoldsTwoFramesAndTheLastOneFillsUp) {
  const auto three = ImageProcessor::from(settings("Qwen3VLVideoProcessor", 16), "p.json");
  const at::Tensor a = picture(64, 64).rgb, b = a.flip(1), c = a.flip(2);
  const Pixels film = three.film({a, b, c});
  ASSERT_EQ(film.grid.sizes(), (std::vector<int64_t>{1, 5}));
  EXPECT_TRUE(at::equal(film.grid[0].narrow(0, 0, 3), at::tensor({2, 4, 4}, at::kLong)));
  const auto half = [&](const Pixels& pixels, int64_t first, int64_t frame) {
    return pixels.values.narrow(0, first, 16).reshape({16, 3, 2, 256}).select(2, frame);
  };
  const auto still = [&](const at::Tensor& rgb) { return half(three.film({rgb}), 0, 0); };
  EXPECT_TRUE(at::equal(half(film, 0, 0), still(a)));
  EXPECT_TRUE(at::equal(half(film, 0, 1), still(b)));
  EXPECT_TRUE(at::equal(half(film, 16, 0), still(c)));
  EXPECT_TRUE(at::equal(half(film, 16, 1), still(c)));
  EXPECT_THROW(three.film({}), Error);
  EXPECT_THROW(three.film({a, picture(64, 96).rgb}), Error);
}

TEST(Film, EachFamilyReadsAllOfItOrTheTokensThatMatter) {
  std::vector<Picture> pictures;
  for (int i = 0; i < 5; ++i) pictures.push_back(picture(256, 256));
  std::vector<Frame> frames;
  for (size_t i = 0; i < pictures.size(); ++i)
    frames.push_back({&pictures[i], 1.5 * static_cast<double>(i)});
  for (const char* family : {"qwen2_vl", "qwen2_5_vl", "qwen3_vl"}) {
    Scratch scratch;
    const auto model = model_of(family, scratch);
    const Features film = model->encode_film(frames, 120);
    ASSERT_EQ(film.views.size(), 3U) << family;
    EXPECT_LE(film.size(), 120);
    EXPECT_EQ(film.size(), film.native());
    EXPECT_DOUBLE_EQ(film.views[0].seconds, 0.75);
    EXPECT_DOUBLE_EQ(film.views[2].seconds, 6);
    EXPECT_EQ(film.views[0].grid[0][3].item<int64_t>(), 3000)
        << "from one temporal patch to the next";
    const std::vector<Turn> asked = {{Role::user, "What came first?", 1}};
    EXPECT_EQ(answer(*model, asked, {film}).visual_tokens, film.size());
    std::vector<Allocation> some = {allocation(7), {}, allocation(3)};
    const Features few = model->select_film(film, some);
    EXPECT_EQ(few.size(), 10);
    const int64_t each = film.views[0].rows * film.views[0].cols;
    for (size_t i = 0; i < few.groups.size(); ++i) {
      EXPECT_EQ(few.groups[i][0] / each, i < 7 ? 0 : 2);
      EXPECT_TRUE(at::equal(few.rows[static_cast<int64_t>(i)], film.rows[few.groups[i][0]]));
    }
    const Features photo = model->encode_image(picture(96, 96));
    EXPECT_EQ(answer(*model, {{Role::user, "Is it in the film?", 2}}, {few, photo}).visual_tokens,
              10 + photo.size());
    EXPECT_THROW(model->select_film(few, some), Error);
    some.pop_back();
    EXPECT_THROW(model->select_film(film, some), Error);
    some = {{}, {}, {}};
    EXPECT_THROW(model->select_film(film, some), Error);
  }
  Scratch scratch;
  EXPECT_THROW(model_of("llava", scratch)->encode_film(frames), Error);
}

TEST(Film, AModelAnswersAboutTheFramesThatItIsGiven) {
  const std::vector<Picture> pictures = {picture(256, 256), picture(256, 256)};
  std::vector<FilmFrame> frames = {{&pictures[0], 0.5, allocation(9)},
                                   {&pictures[1], 3, allocation(4)}};
  GenerateOptions generate;
  generate.max_new_tokens = 4;
  Scratch scratch;
  for (const char* family : {"qwen2_5_vl", "qwen3_vl"}) {
    const auto model = open_model(folder_of(family, scratch), {ReadMode::prune});
    const Reply reply = read_film(*model, frames, "What came first?", generate);
    EXPECT_EQ(reply.kept, (std::vector<int64_t>{13}));
    EXPECT_TRUE(reads_films(*model));
    EXPECT_EQ(reply.completion_tokens, 4);
    EXPECT_GT(reply.prompt_tokens, 13);
    EXPECT_EQ(reply.attention.size(), 1U);
    EXPECT_EQ(read_film(*model, frames, "What came first?", generate).text, reply.text);
  }
  const auto other = open_model(folder_of("ovis2", scratch), {ReadMode::prune});
  EXPECT_FALSE(reads_films(*other));
  EXPECT_THROW(read_film(*other, frames, "What?", generate), Error);
}

TEST(Film, FramesThatFillATemporalPatchKeepTheirTimes) {
  const Picture one = picture(64, 64);
  Scratch scratch;
  const auto model = model_of("qwen2_5_vl", scratch);
  const int64_t second = model->vlm().config().qwen.second;
  for (const double apart : {1.0, 0.5, 2.5}) {
    std::vector<Frame> frames;
    for (int i = 0; i < 10; ++i) frames.insert(frames.end(), 2, {&one, 7 + apart * i});
    const Features film = model->encode_film(frames);
    const at::Tensor grid = film.views[0].grid;
    EXPECT_EQ(grid[0][3].item<int64_t>(), std::lround(1000 * apart));
    const at::Tensor ids = at::full({1, film.size()}, model->vlm().config().video_token, at::kLong);
    const at::Tensor times = model->vlm().positions(ids, grid)[0][0];
    EXPECT_EQ(times[-1].item<int64_t>(), static_cast<int64_t>(9 * apart * second));
  }
}

TEST(Film, TimesAreWordsForQwen3AndPositionsForTheOthers) {
  const std::vector<Turn> one = {{Role::user, "What?", 1}};
  Slot slot;
  slot.seconds = {0.25, 2};
  EXPECT_EQ(chat_text(Family::qwen3_vl, one, {slot}),
            "<|im_start|>user\n<0.2 seconds><|vision_start|><|video_pad|><|vision_end|>"
            "<2.0 seconds><|vision_start|><|video_pad|><|vision_end|>What?<|im_end|>\n"
            "<|im_start|>assistant\n");
  EXPECT_EQ(chat_text(Family::qwen2_5_vl, {{Role::system, "S", 0}, one[0]}, {slot}),
            "<|im_start|>system\nS<|im_end|>\n<|im_start|>user\n<|vision_start|><|video_pad|>"
            "<|vision_end|>What?<|im_end|>\n<|im_start|>assistant\n");
  Scratch scratch;
  const auto model = model_of("qwen2_5_vl", scratch);
  const int64_t token = model->vlm().config().video_token;
  const int64_t second = model->vlm().config().qwen.second;
  // Two frames of 1x2 tokens, three seconds each, then a word.
  const at::Tensor ids = at::tensor({token, token, token, token, int64_t{5}}, at::kLong);
  const at::Tensor grid =
      at::tensor({int64_t{2}, int64_t{2}, int64_t{4}, int64_t{3000}, int64_t{1}}, at::kLong);
  const at::Tensor p = model->vlm().positions(ids.unsqueeze(0), grid.unsqueeze(0)).select(1, 0);
  EXPECT_TRUE(at::equal(
      p[0], at::tensor({int64_t{0}, int64_t{0}, 3 * second, 3 * second, int64_t{2}}, at::kLong)));
  EXPECT_TRUE(at::equal(p[2], at::tensor({0, 1, 0, 1, 2}, at::kLong)));
}

}  // namespace
}  // namespace arrcoc::hf
