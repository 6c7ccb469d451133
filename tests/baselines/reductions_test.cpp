// Other people's ways to leave few tokens of a Hugging Face model.
#include "lab/baselines/reductions.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <torch/version.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

#include "arrcoc/error.h"
#include "folder.h"
#include "hf/small_folder.h"
#include "lab/measure/cost.h"
#include "models/hf/processor.h"
#include "models/hf/vlm.h"

namespace arrcoc::baselines {
namespace {

const std::string kGoldens = std::string(ARRCOC_TEST_DATA) + "/goldens";

Picture noise(int width, int height) {
  at::manual_seed(1);
  return make_picture(at::randint(0, 256, {3, height, width}, at::kByte), "noise");
}

struct Small {
  std::shared_ptr<const hf::HfModel> model;
  Picture picture = noise(224, 168);
  hf::Features whole;
  explicit Small(const std::string& family) {
    const std::string folder = test::fresh_folder(family);
    std::filesystem::create_directories(folder);
    std::ofstream(folder + "/config.json")
        << testing_support::small_config(kGoldens, family).dump();
    std::ofstream(folder + "/tokenizer.json")
        << testing_support::small_tokenizer(kGoldens, family).dump();
    init_checkpoint(folder + "/config.json", folder, "float32", 3);
    model = hf::HfModel::open(folder, {}, load_tokenizer(folder));
    whole = model->encode_image(picture);
  }
  hf::Features reduced(const std::string& name, int64_t budget) const {
    return registry<hf::Reduction>().make(name)->reduce(*model, picture, "What is it?", budget,
                                                        [&] { return whole; });
  }
};

class Reductions : public ::testing::TestWithParam<const char*> {};

TEST_P(Reductions, LeaveTheBudgetOfDifferentTokensInTheirOrder) {
  const Small small(GetParam());
  ASSERT_GT(small.whole.size(), 6);
  for (const char* name : {"random", "fastv", "cdpruner", "tome", "visionzip"}) {
    const hf::Features few = small.reduced(name, 6);
    EXPECT_EQ(few.size(), 6) << name;
    ASSERT_EQ(few.groups.size(), 6U) << name;
    std::set<int64_t> members;
    int64_t before = -1;
    for (const auto& group : few.groups) {
      EXPECT_GT(group.front(), before) << name;
      before = group.front();
      members.insert(group.begin(), group.end());
    }
    // Merging loses no token, choosing keeps six.
    const bool merges = std::string(name) == "tome";
    EXPECT_EQ(members.size(), merges ? static_cast<size_t>(small.whole.size()) : 6U) << name;
    EXPECT_EQ(small.reduced(name, 6).groups, few.groups) << name;  // the same again
    EXPECT_EQ(small.reduced(name, 100000).size(), small.whole.size()) << name;
  }
}

INSTANTIATE_TEST_SUITE_P(Families, Reductions, ::testing::Values("llava", "qwen2_5_vl", "ovis2"));

TEST(FastV, KeepsWhatTheQuestionLooksAtMost) {
  const Small small("qwen2_5_vl");
  const std::vector<float> looked =
      small.model->early_attention({{Role::user, "What is it?", 1}}, {small.whole}, {1});
  const hf::Features few = small.reduced("fastv", 4);
  std::set<int64_t> chosen;
  for (const auto& group : few.groups) chosen.insert(group.front());
  float least = 1, most_left = 0;
  for (size_t i = 0; i < looked.size(); ++i) {
    if (chosen.count(static_cast<int64_t>(i)) > 0)
      least = std::min(least, looked[i]);
    else
      most_left = std::max(most_left, looked[i]);
  }
  EXPECT_GE(least, most_left);
}

// LLaVA: by what CLIP's class token looks at in the last layer but one; the rest is merged.
TEST(VisionZip, KeepsWhatTheEncoderLooksAtAndMergesTheRest) {
  for (const char* family : {"llava", "qwen2_5_vl", "qwen3_vl", "ovis2", "smolvlm"}) {
    const Small small(family);
    hf::EncoderSight sight;
    const hf::Features whole = small.model->encode_watched(small.picture, sight);
    const int64_t n = whole.size();
    EXPECT_TRUE(at::allclose(whole.rows, small.whole.rows, 1e-4, 1e-5)) << family;
    ASSERT_EQ(sight.looked.numel(), n) << family;
    ASSERT_EQ(sight.keys.size(0), n) << family;
    EXPECT_GT(sight.looked.min().item<float>(), 0) << family;
    EXPECT_LE(sight.looked.sum().item<float>(),
              static_cast<float>(small.whole.views.size()) + 1e-3F)
        << family;
    const int64_t budget = std::min<int64_t>(8, n - 2);  // 7 and 1
    const hf::Features few = small.reduced("visionzip", budget);
    ASSERT_EQ(few.size(), budget) << family;
    int64_t singles = 0, members = 0;
    for (const auto& group : few.groups) {
      singles += group.size() == 1 ? 1 : 0;
      members += static_cast<int64_t>(group.size());
    }
    const int64_t contextual = budget * 10 / 64;
    if (contextual > 0) EXPECT_EQ(members, n) << family;
    EXPECT_GE(singles, budget - contextual) << family;
    const int64_t most = sight.looked.argmax().item<int64_t>();
    EXPECT_TRUE(std::any_of(few.groups.begin(), few.groups.end(), [&](const auto& group) {
      return group == std::vector<int64_t>{most};
    })) << family;
  }
}

TEST(Tome, MergesWhatIsAlikeFirst) {
  Small small("qwen2_5_vl");
  const int64_t n = small.whole.size();
  at::manual_seed(2);
  at::Tensor rows = at::randn({n, small.whole.rows.size(1)});
  rows[3] = rows[2] * 2;  // the same direction
  small.whole.rows = rows;
  const hf::Features few = small.reduced("tome", n - 1);
  ASSERT_EQ(few.size(), n - 1);
  EXPECT_EQ(few.groups[2], (std::vector<int64_t>{2, 3}));
  EXPECT_TRUE(at::allclose(few.rows[2], (rows[2] + rows[3]) / 2));
}

TEST(Resize, IsForModelsWhoseTokensFollowTheSize) {
  const Small qwen("qwen2_5_vl");
  const hf::Features few = qwen.reduced("resize", 6);
  EXPECT_LE(few.size(), 6);
  EXPECT_GE(few.size(), 1);
  EXPECT_TRUE(few.groups.empty());  // a whole picture
  const Small llava("llava");
  EXPECT_NE(registry<hf::Reduction>().make("resize")->refusal(*llava.model), "");
}

TEST(WayOf, IsAModeAReductionOrAPolicyOfTheRoad) {
  EXPECT_EQ(way_of("zoom", ReadMode::prune).mode, ReadMode::zoom);
  EXPECT_EQ(way_of("zoom", ReadMode::prune).policy, "realized");
  EXPECT_EQ(way_of("fastv", ReadMode::zoom).reduction, "fastv");
  EXPECT_EQ(way_of("reader", ReadMode::patches).mode, ReadMode::patches);
  EXPECT_EQ(way_of("reader", ReadMode::patches).policy, "reader");
}

#if TORCH_VERSION_MAJOR >= 2  // older ones have no such operator, and nobody here runs it
TEST(FlopCounter, CountsFusedAttention) {
  const at::Tensor q = at::rand({1, 2, 8, 16}), k = at::rand({1, 2, 32, 16});
  const measuring::FlopCounter counter;
  at::scaled_dot_product_attention(q, k, k);
  EXPECT_EQ(counter.flops(), 2 * 2.0 * 2 * 8 * 32 * 16);
}
#endif

// Every product of the run, by hand: patches that left cost no later block, merger or look.
TEST(FlopCounter, TokensThatLeaveTheEncoderEarlyCostNoLaterBlock) {
  c10::InferenceMode guard;
  const Small small("qwen3_vl");
  hf::Pixels pixels;
  const hf::Features shown = small.model->shown(small.picture, pixels);
  const hf::QwenVisionConfig& c = small.model->vlm().config().qwen;
  const auto n = static_cast<int64_t>(shown.boxes.size());
  std::vector<int64_t> levels;
  for (int64_t i = 0; i < n; ++i) levels.push_back(i % 4);
  const std::vector<int64_t> blocks = small.model->vlm().level_blocks();
  const auto at_least = [&](int64_t level) {
    return static_cast<double>(
        std::count_if(levels.begin(), levels.end(), [&](int64_t l) { return l >= level; }));
  };
  const auto d = static_cast<double>(c.hidden), wide = 4 * d,
             inputs = static_cast<double>(c.channels * c.temporal * c.patch * c.patch);
  double expected = 4 * static_cast<double>(n) * 2 * inputs * d;
  for (int64_t level = 0, block = 0; level < 4; ++level) {
    const double tokens = at_least(level), rows = 4 * tokens;
    for (; block < blocks[static_cast<size_t>(level)]; ++block)
      expected += 2 * rows * (4 * d * d + 2 * d * static_cast<double>(c.intermediate)) +
                  4 * rows * rows * d;
    expected += 2 * tokens * (wide * wide + wide * static_cast<double>(c.output));  // its merger
  }
  const measuring::FlopCounter counter;
  small.model->vlm().encode_depths(pixels.values, pixels.grid, {}, levels);
  EXPECT_DOUBLE_EQ(counter.flops(), expected);
}

}  // namespace
}  // namespace arrcoc::baselines
