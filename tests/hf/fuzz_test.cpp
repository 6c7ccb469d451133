// Broken weight files and configurations, thousands of them, by a fixed generator.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "arrcoc/error.h"
#include "arrcoc/weights.h"
#include "hf/support.h"
#include "models/hf/checkpoint.h"
#include "models/hf/vlm.h"
#include "models/weights/format.h"

namespace arrcoc::hf {
namespace {

using testing_support::data;
using testing_support::Scratch;

std::string mutated(std::string bytes, std::mt19937& random) {
  int changes = 1 + static_cast<int>(random() % 4);
  for (int i = 0; i < changes && !bytes.empty(); ++i) {
    size_t at = random() % bytes.size();
    switch (random() % 6) {
      case 0:
        bytes[at] = static_cast<char>(random());
        break;
      case 1:
        bytes.erase(at, 1 + random() % 9);
        break;
      case 2:
        bytes.insert(at, bytes.substr(random() % bytes.size(), random() % 40));
        break;
      case 3:
        bytes.resize(at);
        break;
      case 4:
        bytes[at] = "0123456789[]{},-"[random() % 16];
        break;
      default:
        bytes.insert(at, std::to_string(random() * 4294967296ULL + random()));
        break;
    }
  }
  return bytes;
}

TEST(WeightParser, ThousandsOfBrokenFilesNeverCrashIt) {
  Scratch scratch;
  write_safetensors(
      scratch.path("a"),
      {{"w", at::ones({3, 4})}, {"b", at::zeros({5}, at::kChar)}, {"s", at::ones({})}},
      {{"format", "pt"}});
  std::string good = testing_support::read_text(scratch.path("a"));
  std::mt19937 random(1);
  int opened = 0;
  for (int i = 0; i < 20000; ++i) {
    std::string bytes = mutated(good, random);
    if (i % 2 && bytes.size() >= 8) {  // keep the length right, so that the header is reached
      uint64_t length = good.find("}}") == std::string::npos ? 0 : bytes.size() - 8;
      std::memcpy(bytes.data(), i % 4 == 1 ? good.data() : reinterpret_cast<char*>(&length), 8);
    }
    try {
      safetensors::Header header = safetensors::parse_header(bytes, "fuzz");
      for (const auto& [name, entry] : header.entries) {
        ASSERT_LE(header.data_offset + entry.end, bytes.size());
      }
      ++opened;
    } catch (const Error& error) {
      ASSERT_EQ(error.code(), ErrorCode::bad_weights);
    }
  }
  EXPECT_LT(opened, 20000);
}

TEST(ConfigParser, BrokenConfigurationsAreErrorsNeverCrashes) {
  std::mt19937 random(2);
  for (const char* family : {"clip", "siglip", "sam", "llava", "qwen2_vl", "qwen2_5_vl", "qwen3_vl",
                             "ovis2", "smolvlm", "deepseek_ocr2"}) {
    std::string good =
        testing_support::read_text(data(std::string("goldens/") + family + "/config.json"));
    WeightFile weights = WeightFile::open(data(std::string("goldens/") + family));
    for (int i = 0; i < 300; ++i) {
      try {
        ModelConfig config = parse_config(parse_json(mutated(good, random), "fuzz"), "fuzz");
        HeaderSource source(weights, spellings_of(config));
        visit_tensors(config, source);
      } catch (const Error&) {
        // Refused with a message: fine. Anything else fails the test.
      }
    }
  }
}

}  // namespace
}  // namespace arrcoc::hf
