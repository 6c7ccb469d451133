// Folders of small models whose vocabulary is that of the golden tokenizer. No library needed.
#pragma once

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

namespace arrcoc::testing_support {

inline nlohmann::json read_json(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return nlohmann::json::parse(in);
}

// config.json of a golden family, with places for the tokenizer below.
inline nlohmann::json small_config(const std::string& goldens, const std::string& family) {
  nlohmann::json config = read_json(goldens + "/" + family + "/config.json");
  config.erase("vocab_size");
  config["text_config"]["vocab_size"] = 3010;
  config["image_token_id"] = 3005;
  if (family.rfind("qwen", 0) == 0) config["video_token_id"] = 3006;
  if (family == "ovis2") config["visual_indicator_token_ids"] = {3006, 3007, 3008, 3009, 3004};
  if (family == "clip" || family == "siglip") config["text_config"]["eos_token_id"] = 3000;
  return config;
}

// The golden tokenizer with the placeholder and the marks of the family.
inline nlohmann::json small_tokenizer(const std::string& goldens, const std::string& family) {
  nlohmann::json tokenizer = read_json(goldens + "/tokenizers/qwen_style.json");
  auto add = [&](int id, const char* name) {
    tokenizer["added_tokens"].push_back({{"id", id}, {"content", name}, {"special", true}});
  };
  if (family.rfind("qwen", 0) == 0) add(3006, "<|video_pad|>");
  if (family == "llava" || family == "deepseek_ocr2")
    tokenizer["added_tokens"][5]["content"] = "<image>";
  if (family == "smolvlm") {
    tokenizer["added_tokens"][5]["content"] = "<image>";
    add(3006, "<fake_token_around_image>");
    add(3007, "<global-img>");
    add(3008, "<row_1_col_1>");
    add(3009, "<end_of_utterance>");
  }
  if (family == "ovis2") {
    tokenizer["added_tokens"][5]["content"] = "<IMG_ATOM>";
    add(3006, "<IMG_START>");
    add(3007, "<IMG_GRID>");
    add(3008, "<IMG_COL>");
    add(3009, "<IMG_ROW>");
    tokenizer["added_tokens"][4]["content"] = "<IMG_END>";
  }
  return tokenizer;
}

}  // namespace arrcoc::testing_support
