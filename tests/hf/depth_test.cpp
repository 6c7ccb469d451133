// Tokens that leave Qwen3-VL's encoder before its end.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <numeric>
#include <set>

#include "arrcoc/ask.h"
#include "arrcoc/error.h"
#include "hf/small_models.h"
#include "models/hf/depth.h"
#include "models/hf/vlm.h"

namespace arrcoc::hf {
namespace {

using testing_support::allocation;
using testing_support::data;
using testing_support::folder_of;
using testing_support::picture;
using testing_support::Scratch;

// A golden checkpoint, of which the first `deaf` blocks let no patch hear of another.
class GoldenSource : public FileSource {
 public:
  GoldenSource(const ModelConfig& config, int64_t deaf)
      : FileSource(WeightFile::open(data("goldens/qwen3_vl")), spellings_of(config), at::kFloat,
                   at::kCPU),
        deaf_(deaf) {}
  at::Tensor get(const std::string& name, const std::vector<int64_t>& shape) override {
    const at::Tensor stored = FileSource::get(name, shape);
    for (int64_t i = 0; i < deaf_; ++i)
      if (name == "visual.blocks." + std::to_string(i) + ".attn.proj.weight")
        return at::zeros_like(stored);
    return stored;
  }

 private:
  int64_t deaf_;
};

// Levels behind 2, 4, 5 and 6 blocks; 24 tokens.
struct Golden {
  explicit Golden(int64_t deaf = 0) {
    const ModelConfig config = read_config(data("goldens/qwen3_vl"));
    GoldenSource source(config, deaf);
    model = make_vlm(config, source);
    const WeightFile golden = WeightFile::open(data("goldens/qwen3_vl/golden.safetensors"));
    values = golden.get("pixel_values", at::kFloat);
    grid = golden.get("image_grid_thw", at::kLong);
    native = model->encode(values, grid);
  }
  Visual at(const std::vector<int64_t>& levels, const std::vector<int64_t>& keep = {}) const {
    return model->encode_depths(values, grid, keep, levels);
  }
  std::unique_ptr<Vlm> model;
  at::Tensor values, grid;
  Visual native;
};

std::vector<int64_t> every(int64_t step, int64_t first, int64_t end) {
  std::vector<int64_t> out;
  for (int64_t i = first; i < end; i += step) out.push_back(i);
  return out;
}

double distance(const at::Tensor& a, const at::Tensor& b) {
  return (a - b).abs().max().item<double>();
}

TEST(Depth, EveryTokenAtTheEndIsTheGoldenRunBitForBit) {
  const Golden golden;
  ASSERT_EQ(golden.model->level_blocks(), (std::vector<int64_t>{2, 4, 5, 6}));
  const Visual full = golden.at(std::vector<int64_t>(24, 3));
  EXPECT_TRUE(at::equal(full.rows, golden.native.rows));
  for (size_t i = 0; i < 3; ++i)
    EXPECT_TRUE(at::equal(full.deepstack[i], golden.native.deepstack[i]));
  const std::vector<int64_t> keep = {1, 4, 6, 23};
  const Visual few = golden.model->encode(golden.values, golden.grid, keep);
  EXPECT_TRUE(at::equal(golden.at({3, 3, 3, 3}, keep).rows, few.rows));
}

TEST(Depth, AllTokensAtOneLevelAreTheRunCutOffThere) {
  const Golden golden;
  for (size_t level = 0; level < 3; ++level) {
    const Visual cut = golden.at(std::vector<int64_t>(24, static_cast<int64_t>(level)));
    EXPECT_TRUE(at::equal(cut.rows, golden.native.deepstack[level]));
    for (size_t i = 0; i < 3; ++i) {
      const at::Tensor expected =
          i <= level ? golden.native.deepstack[i] : at::zeros_like(golden.native.deepstack[i]);
      EXPECT_TRUE(at::equal(cut.deepstack[i], expected)) << level << " " << i;
    }
  }
}

// Where the blocks before its level let nobody hear of others, a token that leaves there was never
// heard of: the others are as if it had not been encoded at all.
TEST(Depth, LaterBlocksDoNotLookAtTokensThatLeft) {
  const std::vector<int64_t> blocks = {2, 4, 5};
  for (int64_t level = 0; level < 3; ++level) {
    const Golden golden(blocks[static_cast<size_t>(level)]);
    const std::vector<int64_t> rest = every(3, 1, 24);
    std::vector<int64_t> levels(24, level);
    for (int64_t token : rest) levels[static_cast<size_t>(token)] = 3;
    const Visual some = golden.at(levels);
    const Visual alone = golden.model->encode(golden.values, golden.grid, rest);
    EXPECT_LT(distance(pick(some, rest).rows, alone.rows), 1e-5) << level;
    for (size_t i = 0; i < 3; ++i)
      EXPECT_LT(distance(pick(some, rest).deepstack[i], alone.deepstack[i]), 1e-5) << level;
    // With all of them to the end it is another run.
    EXPECT_GT(distance(pick(golden.native, rest).rows, alone.rows), 1e-3) << level;
    for (int64_t token = 0; token < 24; ++token)
      if (levels[static_cast<size_t>(token)] == level)
        EXPECT_LT(
            distance(some.rows[token], golden.native.deepstack[static_cast<size_t>(level)][token]),
            1e-6);
  }
}

TEST(Depth, EachTokenHasItsOwnLevelAndOrder) {
  const Golden golden;
  std::vector<int64_t> levels;
  for (int64_t i = 0; i < 24; ++i) levels.push_back(i * 7 % 4);
  const Visual mixed = golden.at(levels);
  for (int64_t i = 0; i < 24; ++i) {
    const int64_t level = levels[static_cast<size_t>(i)];
    if (level < 3)
      EXPECT_TRUE(at::equal(mixed.rows[i], mixed.deepstack[static_cast<size_t>(level)][i])) << i;
    for (int64_t set = 0; set < 3; ++set)
      EXPECT_EQ(mixed.deepstack[static_cast<size_t>(set)][i].any().item<bool>(), set <= level) << i;
  }
  EXPECT_TRUE(at::equal(mixed.deepstack[0], golden.native.deepstack[0]));  // all are still there
}

TEST(Depth, FramesAndPicturesAreLeftEachByItself) {
  const Golden golden;
  const at::Tensor both = at::cat({golden.values, golden.values.flip(0)});
  const at::Tensor grids = at::cat({golden.grid, golden.grid});
  std::vector<int64_t> levels(48, 3);
  for (int64_t i : every(2, 0, 24)) levels[static_cast<size_t>(i)] = 0;  // of the first only
  const Visual two = golden.model->encode_depths(both, grids, {}, levels);
  const Visual one = golden.at({levels.begin(), levels.begin() + 24});
  const Visual other = golden.model->encode(golden.values.flip(0), golden.grid);
  EXPECT_LT(distance(two.rows, at::cat({one.rows, other.rows})), 1e-5);
}

TEST(Depth, WrongLevelsAndOtherFamiliesAreRefused) {
  const Golden golden;
  EXPECT_THROW(golden.at({0, 1}), Error);
  EXPECT_THROW(golden.at(std::vector<int64_t>(24, 4)), Error);
  EXPECT_THROW(golden.at(std::vector<int64_t>(24, -1)), Error);
  Scratch scratch;
  const std::string folder = folder_of("qwen2_5_vl", scratch);
  for (const char* depth : {"share:0.5,0.5", "relevance:0.5"}) {
    try {
      open_model(folder, {.depth = parse_depth(depth)});
      ADD_FAILURE();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::unsupported);
      EXPECT_NE(std::string(error.what()).find("qwen2_5_vl has none"), std::string::npos);
    }
  }
}

TEST(Depth, SharesTakeTheLeastRelevantFirst) {
  const std::vector<float> relevance = {0.9F, 0.1F, 0.5F, 0.5F, 0.2F, 0.8F, kNotChosen, 0.3F};
  const auto levels = [&](const char* depth, size_t count) {
    return levels_of(parse_depth(depth), relevance, count);
  };
  using Levels = std::vector<int64_t>;
  EXPECT_EQ(levels("0.25,0.25,0.5", 3), (Levels{2, 0, 2, 2, 1, 2, 0, 1}));
  EXPECT_EQ(levels("share:0.5,0.125,0.375", 3), (Levels{2, 0, 2, 1, 0, 2, 0, 0}));
  EXPECT_EQ(levels("0,0,1", 3), Levels(8, 2));
  EXPECT_EQ(levels("1,0,0", 3), Levels(8, 0));
  EXPECT_EQ(levels("full", 3), Levels(8, 2));
  EXPECT_EQ(levels("relevance:0.2,0.5", 3), (Levels{2, 0, 1, 1, 1, 2, 0, 1}));
  EXPECT_EQ(levels("relevance:0,0", 3), (Levels{2, 2, 2, 2, 2, 2, 0, 2}));
  EXPECT_EQ(counted(levels("0.25,0.25,0.5", 3), 3), (Levels{2, 2, 4}));
  for (const char* bad : {"", "deep", "share", "share:", "0.5,0.4", "0.5,x", "0.5,-0.5,1", "1.2",
                          "relevance:0.5,0.2", "relevance:2", "full:1", "0.2.3,0.5", ",1"})
    EXPECT_THROW(parse_depth(bad), Error) << bad;
  EXPECT_THROW(parse_depth(std::string(400, '9')), Error);
}

struct Small {
  Scratch scratch;
  std::string folder = folder_of("qwen3_vl", scratch);
  std::shared_ptr<const HfModel> model = HfModel::open(folder, {}, load_tokenizer(folder));
  Picture shown = picture(256, 256);  // 64 tokens
};

TEST(DepthOfPictures, FullDepthIsTheRunWithoutIt) {
  const Small small;
  for (bool merge : {false, true}) {
    const SelectOptions plain{.merge = merge};
    SelectOptions full = plain;
    full.depth = parse_depth("0,0,0,1");
    const Features patches = small.model->encode_patches(small.shown, allocation(16), plain);
    const Features deep = small.model->encode_patches(small.shown, allocation(16), full);
    EXPECT_TRUE(at::equal(patches.rows, deep.rows));
    EXPECT_TRUE(patches.depths.empty());
    EXPECT_EQ(std::accumulate(deep.depths.begin(), deep.depths.end(), int64_t{0}),
              deep.depths.back());
    const Features whole = small.model->encode_image(small.shown);
    const Features pruned = small.model->select(whole, allocation(16), plain);
    const Features tapered = small.model->encode_tapered(small.shown, allocation(16), full);
    EXPECT_TRUE(at::equal(pruned.rows, tapered.rows));
    EXPECT_EQ(pruned.groups, tapered.groups);
    for (size_t i = 0; i < 3; ++i)
      EXPECT_TRUE(at::equal(pruned.deepstack[i], tapered.deepstack[i]));
    EXPECT_EQ(tapered.depths, (std::vector<int64_t>{0, 0, 0, 64}));
  }
}

// The allocation is fine and relevant (0.9) in the top-left quarter; 0.5, 0.2 and 0.1 elsewhere.
TEST(DepthOfPictures, RelevantPlacesGoDeepAndTheRestLeaves) {
  const Small small;
  const SelectOptions options{.depth = parse_depth("relevance:0.15,0.3,0.7")};
  const Features few = small.model->encode_patches(small.shown, allocation(19), options);
  ASSERT_EQ(few.size(), 19);
  EXPECT_EQ(few.depths, (std::vector<int64_t>{1, 1, 1, 16}));
  for (int64_t i = 0; i < 19; ++i) {
    const Box& box = few.boxes[static_cast<size_t>(few.groups[static_cast<size_t>(i)].front())];
    const bool left = box.x0 < 128, fine = left && box.y0 < 128;
    EXPECT_EQ(few.deepstack[2][i].any().item<bool>(), left) << i;                // 0.9 and 0.5
    EXPECT_EQ(at::equal(few.rows[i], few.deepstack[2][i]), left && !fine) << i;  // left there
  }
  const Features tapered = small.model->encode_tapered(small.shown, allocation(19), options);
  EXPECT_EQ(tapered.groups, few.groups);
  EXPECT_EQ(tapered.depths, (std::vector<int64_t>{46, 1, 1, 16}));  // 45 that nobody chose
  EXPECT_TRUE(at::isfinite(tapered.rows).all().item<bool>());
}

TEST(DepthOfPictures, AnswersSayHowDeepTheTokensWent) {
  const Small small;
  const std::vector<Picture> pictures = {picture(256, 256), picture(128, 160)};
  AskOptions options = policy("saliency");
  options.budget = "20";
  options.generate.max_new_tokens = 4;
  for (ReadMode mode : {ReadMode::automatic, ReadMode::patches, ReadMode::prune}) {
    const auto model =
        open_model(small.folder, {.mode = mode, .depth = parse_depth("0.25,0.25,0.25,0.25")});
    EXPECT_EQ(model->capabilities().takes, TokenKind::selection);
    const Answer answer = Asker(nullptr, model).ask(pictures, "Where is it?", options);
    ASSERT_EQ(answer.pictures.size(), 2U);
    for (const PictureAnswer& one : answer.pictures) {
      ASSERT_EQ(one.answer().reply.depths.size(), 1U);
      const EncodedDepths& depths = one.answer().reply.depths[0];
      EXPECT_EQ(depths.blocks, (std::vector<int64_t>{2, 4, 5, 6}));
      const int64_t encoded =
          mode == ReadMode::prune ? small.model->native_tokens(one.width, one.height) : one.tokens;
      EXPECT_EQ(std::accumulate(depths.tokens.begin(), depths.tokens.end(), int64_t{0}), encoded);
      for (int64_t tokens : depths.tokens)
        EXPECT_NEAR(static_cast<double>(tokens), static_cast<double>(encoded) / 4, 1);
    }
  }
}

TEST(DepthOfPictures, ModesThatEncodeEveryTokenWholeRefuseIt) {
  const Small small;
  const auto refused = [&](const ModelOptions& options, const std::string& reason) {
    try {
      open_model(small.folder, options);
      ADD_FAILURE() << reason;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(reason), std::string::npos) << error.what();
    }
  };
  const Depth even = parse_depth("0.25,0.25,0.25,0.25");
  refused({.mode = ReadMode::zoom, .depth = even}, "zoom encodes every token whole");
  refused({.mode = ReadMode::native, .depth = even}, "native encodes every token whole");
  refused({.tiers = true, .depth = even}, "exclude each other");
  refused({.depth = parse_depth("0.5,0.5")}, "has 2 numbers and wants 4");
  refused({.depth = parse_depth("relevance:0.5")},
          "wants 3: tokens of this model can leave its "
          "encoder behind 2, 4, 5, 6 blocks");
}

}  // namespace
}  // namespace arrcoc::hf
