// Tokens of pictures, against other people's code.
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <set>

#include "arrcoc/allocate.h"
#include "arrcoc/error.h"
#include "arrcoc/serve.h"
#include "base/json.h"

namespace arrcoc::serving {
namespace {

json reference() { return parse_json(read_text(ARRCOC_TEST_DATA "/counts.json"), "counts.json"); }

// The family of an entry, with its processor, limits and server.
Family family_of_entry(const json& entry) {
  Family family = family_named(entry["family"]);
  if (entry.contains("processor")) family = with_processor(family, entry["processor"].dump());
  if (entry.value("llama_cpp", false)) family = on_llama_cpp(family);
  const json limits = entry.value("limits", json::object());
  family.limits.min_pixels = limits.value("min_pixels", int64_t{0});
  family.limits.max_pixels = limits.value("max_pixels", int64_t{0});
  family.limits.min_tokens = limits.value("min_tokens", 0);
  family.limits.max_tokens = limits.value("max_tokens", 0);
  return family;
}

TEST(Counting, EveryRowAsTheReferenceCounts) {
  const json file = reference();
  int64_t compared = 0;
  std::set<std::string> seen;
  for (const json& entry : file["counts"]) {
    const Family family = family_of_entry(entry);
    const Detail detail = entry.contains("detail") ? Detail::low : Detail::automatic;
    EXPECT_EQ(family.estimated, entry["repository"] == "document") << entry["family"];
    seen.insert(entry["family"]);
    int wrong = 0;
    for (const json& row : entry["rows"]) {
      const int64_t tokens = picture_tokens(family, row[0], row[1], detail);
      if (tokens == row[2] || ++wrong > 5) continue;
      ADD_FAILURE() << family.name << " " << entry["source"] << " " << row << ": " << tokens;
    }
    EXPECT_EQ(wrong, 0) << family.name << " of " << entry["rows"].size();
    compared += static_cast<int64_t>(entry["rows"].size());
  }
  EXPECT_GT(compared, 5000);
  for (const Family& family : families()) {
    EXPECT_FALSE(family.source.empty());
    EXPECT_TRUE(seen.count(family.name) || family.estimated || family.name == "arrcoc")
        << family.name << " was compared with nothing";
  }
}

TEST(Counting, NamesOfModelsGiveTheirFamily) {
  const std::pair<const char*, const char*> names[] = {
      {"Qwen/Qwen3-VL-8B-Instruct", "qwen3-vl"},
      {"Qwen/Qwen3.5-9B", "qwen3.5"},
      {"Qwen/Qwen2.5-VL-7B-Instruct-AWQ", "qwen2-vl"},
      {"google/gemma-4-12b-it", "gemma4"},
      {"gemma3:12b", "gemma3"},
      {"llava-hf/llava-v1.6-mistral-7b-hf", "llava-next"},
      {"llava-hf/llava-onevision-qwen2-7b-ov-hf", "llava-onevision"},
      {"OpenGVLab/InternVL3_5-8B", "internvl"},
      {"AIDC-AI/Ovis2-8B", "ovis2"},
      {"AIDC-AI/Ovis2.5-9B", "unknown"},
      {"mistralai/Mistral-Small-3.1-24B-Instruct-2503", "mistral3"},
      {"mistralai/Pixtral-12B-2409", "pixtral"},
      {"HuggingFaceTB/SmolVLM-256M-Instruct", "smolvlm-small"},
      {"HuggingFaceTB/SmolVLM-Instruct", "smolvlm"},
      {"deepseek-ai/DeepSeek-OCR", "deepseek-ocr"},
      {"deepseek-ai/DeepSeek-OCR-2", "deepseek-ocr-2"},
      {"gpt-4.1-mini-2025-04-14", "gpt-mini"},
      {"gpt-4.1-2025-04-14", "gpt-4o"},
      {"gpt-5-nano", "gpt-nano"},
      {"gpt-5-2025-08-07", "gpt-5"},
      {"o3-2025-04-16", "o3"},
      {"openai/o1", "o3"},
      {"claude-sonnet-4-5", "claude"},
      {"claude-opus-4-7", "claude-high"},
      {"gemini-2.5-flash", "gemini"},
      {"gemini-3-pro-preview", "gemini-3"},
  };
  for (const auto& [model, name] : names) EXPECT_EQ(family_of(model).name, name) << model;
}

TEST(Counting, AProcessorThatCannotBeIsRefusedByField) {
  const auto refusal = [](const char* family, const char* text) -> std::string {
    try {
      with_processor(family_named(family), text);
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), ErrorCode::bad_json);
      return e.what();
    }
    return "";
  };
  const std::tuple<const char*, const char*, const char*> bad[] = {
      {"qwen3-vl", R"([])", "object"},
      {"qwen3-vl", R"({"patch_size": "16"})", "patch_size"},
      {"qwen3-vl", R"({"patch_size": 0})", "patch_size"},
      {"qwen3-vl", R"({"size": {"shortest_edge": -4}})", "size.shortest_edge"},
      {"qwen2-vl", R"({"min_pixels": 4000, "max_pixels": 3000})", "max_pixels"},
      {"qwen2-vl", R"({"image_processor": 3})", "image_processor"},
      {"qwen2-vl", R"({"merge_size": 1e9})", "merge_size"},
      {"gemma4", R"({"max_soft_tokens": null, "pooling_kernel_size": [3]})", "pooling_kernel_size"},
      {"internvl", R"({"max_patches": 100000})", "max_patches"},
      {"llava-next", R"({"image_grid_pinpoints": [[336]]})", "image_grid_pinpoints"},
      {"llava-next", R"({"image_grid_pinpoints": [[0, 336]]})", "image_grid_pinpoints"},
      {"llava-onevision", R"({"vision_aspect_ratio": "square"})", "vision_aspect_ratio"},
      {"smolvlm", R"({"do_image_splitting": 1})", "do_image_splitting"},
      {"gpt-4o", R"({})", "gpt-4o"},
  };
  for (const auto& [family, text, field] : bad)
    EXPECT_NE(refusal(family, text).find(field), std::string::npos)
        << text << ": " << refusal(family, text);
  EXPECT_TRUE(with_processor(family_named("unknown"), R"({"patch_size": 14})").estimated);
  EXPECT_EQ(
      with_processor(family_named("unknown"), R"({"processor_class":"Idefics3Processor"})").name,
      "idefics3");
}

TEST(Counting, PanAndScanMultipliesLongPictures) {
  const Family family = with_processor(family_named("gemma3"), R"({"do_pan_and_scan": true})");
  EXPECT_TRUE(family.estimated) << "the words around the crops";
  EXPECT_EQ(picture_tokens(family, 1000, 1000), 260);
  EXPECT_EQ(picture_tokens(family, 2000, 200), 260);  // pieces would be too small
  EXPECT_GE(picture_tokens(family, 2000, 1000), 3 * 260);
}

// ---- Views under a budget, by the rules that were compared above

struct Case {
  Family family;
  int width = 0, height = 0, budget = 0, max_crops = 3;
  int64_t tokens(int w, int h) const { return picture_tokens(family, w, h); }
  // What squares cost at least, up to the picture's shorter side.
  int64_t floor() const {
    int64_t out = tokens(width, height);
    const double most = std::min(width, height);
    for (double side = most; side == most || side >= 16; side *= 0.93)
      out = std::min(out, tokens(static_cast<int>(side), static_cast<int>(side)));
    return out;
  }
  Allocation allocate(std::mt19937& random) const {
    const Geometry geometry{width, height, 0};
    Relevance relevance;
    const int rows = 1 + static_cast<int>(random() % 12),
              cols = 1 + static_cast<int>(random() % 12);
    relevance.map = Map{rows, cols, static_cast<float>(width) / static_cast<float>(cols),
                        static_cast<float>(height) / static_cast<float>(rows),
                        std::vector<float>(static_cast<size_t>(rows) * cols)};
    for (float& value : relevance.map.values)
      value = std::pow(static_cast<float>(random() % 1000) / 1000.0F, 8.0F);
    AllocateOptions options;
    options.token_pixels = family.token_pixels;
    options.max_crops = max_crops;
    return allocating::allocate_views(
        relevance, geometry, {budget, "", ""}, options,
        [this](int w, int h) { return picture_tokens(family, w, h); });
  }
};

Case random_case(std::mt19937& random) {
  static const std::vector<Family> all = families();
  Case out;
  out.family = all[random() % all.size()];
  if (random() % 4 == 0) out.family = on_llama_cpp(out.family);
  if (random() % 4 == 0) {
    constexpr int kFloors[] = {16, 64, 100, 256, 1000, 1024};
    out.family.limits.min_tokens = kFloors[random() % std::size(kFloors)];
  }
  const auto uniform = [&](double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random);
  };
  const double scale = std::exp2(uniform(random() % 4 == 0 ? 0 : 8, 12.7)),
               ratio = std::exp2(uniform(-3, 3));
  out.width = std::clamp(static_cast<int>(scale * std::sqrt(ratio)), 1, 8000);
  out.height = std::clamp(static_cast<int>(scale / std::sqrt(ratio)), 1, 8000);
  out.budget = static_cast<int>(std::exp2(uniform(random() % 4 == 0 ? 0 : 6, 12)));
  out.max_crops = static_cast<int>(random() % 4);
  return out;
}

TEST(Views, NeverCostMoreThanTheBudgetTheFloorOrTheOriginal) {
  std::mt19937 random(17);
  int crops = 0, floors = 0, used = 0, cut = 0;
  for (int round = 0; round < 10000; ++round) {
    const Case c = random_case(random);
    const Allocation out = c.allocate(random);
    const int64_t original = c.tokens(c.width, c.height);
    const int64_t bound = std::min(original, std::max<int64_t>(c.budget, c.floor()));
    int64_t cost = 0;
    for (const Crop& crop : out.crops) {
      ASSERT_EQ(crop.tokens, c.tokens(crop.width, crop.height));
      cost += crop.tokens;
      // Whole tokens round up where a side is thinner than one.
      const float slack = static_cast<float>(std::max(1, c.family.token_pixels));
      EXPECT_LE(static_cast<float>(crop.width), std::max(slack, crop.box.width())) << "enlarged";
      EXPECT_LE(static_cast<float>(crop.height), std::max(slack, crop.box.height())) << "enlarged";
      EXPECT_GE(crop.box.x0, 0);
      EXPECT_GE(crop.box.y0, 0);
      EXPECT_LE(crop.box.x1, static_cast<float>(c.width));
      EXPECT_LE(crop.box.y1, static_cast<float>(c.height));
    }
    ASSERT_LE(cost, bound) << c.family.name << " " << c.width << "x" << c.height << ", budget "
                           << c.budget << ", floor " << c.floor() << ", original " << original
                           << ", views " << out.crops.size();
    ASSERT_LE(cost, out.budget.tokens);
    ASSERT_LE(static_cast<int>(out.crops.size()), 1 + c.max_crops);
    EXPECT_EQ(out.crops[0].box.area(), static_cast<float>(c.width) * static_cast<float>(c.height));
    crops += out.crops.size() > 1;
    floors += cost > c.budget;
    if (original > c.budget && cost <= c.budget) {
      ++cut;
      used += cost > 0.7 * c.budget;
    }
  }
  EXPECT_GT(crops, 500);  // the test has met what it is about
  EXPECT_GT(floors, 500);
  EXPECT_GT(cut, 1000);
  RecordProperty("crops", crops);
  RecordProperty("floors", floors);
  RecordProperty("cut", cut);
  RecordProperty("well_used", used);
}

}  // namespace
}  // namespace arrcoc::serving
