#include "models/hf/processor.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include "arrcoc/error.h"
#include "arrcoc/model.h"
#include "hf/support.h"

#define STB_IMAGE_IMPLEMENTATION
#define STBI_ONLY_PNG
#include <stb/stb_image.h>

namespace arrcoc::hf {
namespace {

using testing_support::data;

at::Tensor png(const std::string& name) {
  int width = 0, height = 0, channels = 0;
  unsigned char* bytes = stbi_load(name.c_str(), &width, &height, &channels, 3);
  if (!bytes) throw Error(ErrorCode::bad_image, name);
  at::Tensor image = at::from_blob(bytes, {height, width, 3}, at::kByte).permute({2, 0, 1});
  image = image.contiguous();
  stbi_image_free(bytes);
  return image;
}

at::Tensor noise(int64_t height, int64_t width) {
  at::Tensor ramp = at::arange(3 * height * width, at::kLong).reshape({3, height, width});
  return (ramp * 7919 % 251).to(at::kByte);
}

class GoldenProcessor : public ::testing::TestWithParam<const char*> {};

TEST_P(GoldenProcessor, PixelsAndGridsAreTheReferencesWithinResampling) {
  std::string stem = data("goldens/processors/") + GetParam();
  std::vector<at::Tensor> pictures;
  for (const char* name : {"img0", "img1", "img2"})
    pictures.push_back(png(data(std::string("goldens/processors/") + name + ".png")));
  const auto checks = check_processor(stem + ".json", stem + ".safetensors", pictures);
  EXPECT_GE(checks.size(), pictures.size());
  for (const TensorCheck& check : checks) {
    EXPECT_TRUE(check.ok()) << check.name << " " << check.difference << " " << check.problem;
    RecordProperty(check.name, std::to_string(check.difference));
  }
  pictures[1] = pictures[0];
  bool same = true;
  for (const TensorCheck& check : check_processor(stem + ".json", stem + ".safetensors", pictures))
    same = same && check.ok();
  EXPECT_FALSE(same);
}

INSTANTIATE_TEST_SUITE_P(Files, GoldenProcessor,
                         ::testing::Values("clip", "siglip", "qwen2_vl", "qwen3_vl"));

TEST(Resample, FlatPicturesStayFlatUnderEveryFilter) {
  at::Tensor flat = at::full({3, 37, 53}, 200, at::kByte);
  for (int filter = 0; filter <= 5; ++filter) {
    for (auto [h, w] : {std::pair<int, int>{9, 100}, {80, 20}, {37, 53}, {1, 1}}) {
      at::Tensor out = resample(flat, h, w, static_cast<Filter>(filter));
      EXPECT_EQ(out.sizes(), (std::vector<int64_t>{3, h, w}));
      EXPECT_TRUE(out.eq(200).all().item<bool>()) << filter;
    }
  }
}

// Hashes of what Pillow 9.4 makes of the same pixels (Image.resize, by filter number).
TEST(Resample, AgreesWithPillowToTheBit) {
  struct Case {
    int filter, height, width;
    uint64_t hash;
  };
  const Case cases[] = {
      {1, 20, 80, 0xf2a438fa1fef6e67ULL}, {1, 90, 11, 0xed34de5322f4e7f1ULL},
      {2, 20, 80, 0xee58cb80f3b66b45ULL}, {2, 90, 11, 0x020fe91c7d26ce14ULL},
      {3, 20, 80, 0xe92f495dbfb694c1ULL}, {3, 90, 11, 0xbe4e54e0e59f6bfcULL},
      {4, 20, 80, 0x30ceba15fb15395bULL}, {4, 90, 11, 0x47876c9f314cde67ULL},
      {5, 20, 80, 0x0e5cf7b63f6f37f0ULL}, {5, 90, 11, 0x27ce40726fecd934ULL},
  };
  for (const Case& one : cases) {
    at::Tensor out =
        resample(noise(37, 53), one.height, one.width, static_cast<Filter>(one.filter));
    uint64_t hash = 0xcbf29ce484222325ULL;  // FNV-1a
    const uint8_t* bytes = out.data_ptr<uint8_t>();
    for (int64_t i = 0; i < out.numel(); ++i) hash = (hash ^ bytes[i]) * 0x100000001b3ULL;
    EXPECT_EQ(hash, one.hash) << one.filter << " " << one.height << "x" << one.width;
  }
}

TEST(Resample, ThreadsDoNotChangeTheResult) {
  at::Tensor picture = noise(301, 517);
  int before = at::get_num_threads();
  at::set_num_threads(1);
  at::Tensor one = resample(picture, 120, 700, Filter::bicubic);
  at::set_num_threads(2);
  EXPECT_TRUE(at::equal(one, resample(picture, 120, 700, Filter::bicubic)));
  at::set_num_threads(before);
}

TEST(SmartSize, KeepsMultiplesOfThePatchBlockWithinTheLimits) {
  auto processor = ImageProcessor::from(json{{"image_processor_type", "Qwen2VLImageProcessor"},
                                             {"patch_size", 14},
                                             {"min_pixels", 3136},
                                             {"max_pixels", 1003520}},
                                        "p.json");
  using Size = std::pair<int64_t, int64_t>;
  EXPECT_EQ(processor.smart_size(1080, 1920), (Size{728, 1316}));
  EXPECT_EQ(processor.smart_size(14, 14), (Size{56, 56}));
  EXPECT_EQ(processor.smart_size(300, 200), (Size{308, 196}));
  EXPECT_EQ(processor.smart_size(42, 700), (Size{56, 700}));  // 1.5 blocks: half goes to even
  EXPECT_THROW(processor.smart_size(10, 2001), Error);
  EXPECT_EQ(processor.smart_size(1080, 1920, {0, 28 * 28 * 64}), (Size{168, 280}));
  EXPECT_EQ(processor.smart_size(14, 14, {1, 0}), (Size{28, 28}));  // a least size of one's own
  EXPECT_EQ(processor.smart_size(10, 2801, {1, 0}), (Size{28, 2800}));
}

TEST(ImageProcessor, AcceptsTheOldSpellings) {
  auto old = ImageProcessor::from(json{{"feature_extractor_type", "CLIPFeatureExtractor"},
                                       {"size", 64},
                                       {"crop_size", 64},
                                       {"resample", 3}},
                                  "p.json");
  auto now = ImageProcessor::from(json{{"image_processor_type", "CLIPImageProcessorFast"},
                                       {"size", {{"shortest_edge", 64}}},
                                       {"crop_size", {{"height", 64}, {"width", 64}}}},
                                  "p.json");
  at::Tensor picture = noise(90, 131);
  EXPECT_TRUE(at::equal(old.process(picture).values, now.process(picture).values));
  auto pixels = ImageProcessor::from(json{{"image_processor_type", "Qwen2VLImageProcessorFast"},
                                          {"min_pixels", 4096},
                                          {"max_pixels", 40960},
                                          {"patch_size", 16}},
                                     "p.json");
  auto edges =
      ImageProcessor::from(json{{"image_processor_type", "Qwen2VLImageProcessor"},
                                {"patch_size", 16},
                                {"size", {{"shortest_edge", 4096}, {"longest_edge", 40960}}}},
                           "p.json");
  EXPECT_TRUE(at::equal(pixels.process(picture).values, edges.process(picture).values));
}

TEST(ImageProcessor, OvisTilesShowTheThumbnailFirst) {
  auto processor = ImageProcessor::from(json{{"image_processor_type", "Ovis2ImageProcessor"},
                                             {"crop_to_patches", true},
                                             {"size", {{"height", 32}, {"width", 32}}},
                                             {"max_patches", 6}},
                                        "p.json");
  at::Tensor picture = noise(60, 90);
  Pixels pixels = processor.process(picture);
  EXPECT_EQ(pixels.values.size(0), 1 + pixels.tile_rows * pixels.tile_cols);
  EXPECT_GT(pixels.tile_rows * pixels.tile_cols, 1);
  auto plain = ImageProcessor::from(json{{"image_processor_type", "Ovis2ImageProcessor"},
                                         {"size", {{"height", 32}, {"width", 32}}}},
                                    "p.json");
  EXPECT_TRUE(at::equal(pixels.values[0], plain.process(picture).values[0]));
}

TEST(ImageProcessor, SamPadsToASquare) {
  auto processor = ImageProcessor::from(json{{"image_processor_type", "SamImageProcessor"},
                                             {"size", {{"longest_edge", 64}}},
                                             {"pad_size", {{"height", 64}, {"width", 64}}}},
                                        "p.json");
  Pixels pixels = processor.process(noise(50, 100));
  EXPECT_EQ(pixels.values.sizes(), (std::vector<int64_t>{1, 3, 64, 64}));
  EXPECT_EQ(pixels.values.narrow(2, 32, 32).abs().max().item<float>(), 0);
}

TEST(ImageProcessor, BrokenSettingsAreRefusedByName) {
  const json broken[] = {
      {{"image_processor_type", "PixtralImageProcessor"}},
      {{"image_processor_type", "CLIPImageProcessor"}, {"image_mean", {1, 2}}},
      {{"image_processor_type", "CLIPImageProcessor"}, {"size", {{"shortest_edge", -3}}}},
      {{"image_processor_type", "CLIPImageProcessor"}, {"resample", 17}},
      {{"image_processor_type", "Qwen2VLImageProcessor"}, {"patch_size", 0}},
      json::array(),
  };
  for (const json& settings : broken) {
    try {
      ImageProcessor::from(settings, "p.json");
      ADD_FAILURE() << settings;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("p.json"), std::string::npos);
    }
  }
}

}  // namespace
}  // namespace arrcoc::hf
