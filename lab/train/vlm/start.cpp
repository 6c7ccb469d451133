#include "lab/train/vlm/start.h"

#include <filesystem>

#include "arrcoc/error.h"
#include "arrcoc/model.h"
#include "arrcoc/weights.h"
#include "base/json.h"
#include "models/hf/config.h"

namespace arrcoc::training {
namespace {

constexpr int kPicture = 256, kEnd = 257, kAll = 258;

// As byte-level tokenizers spell a byte: itself where it is a letter, else one from 256 on.
std::string spelled(int byte) {
  const auto plain = [](int b) {
    return (b >= 33 && b <= 126) || (b >= 161 && b <= 172) || b >= 174;
  };
  int code = byte;
  if (!plain(byte)) {
    code = 256;
    for (int b = 0; b < byte; ++b) code += plain(b) ? 0 : 1;
  }
  if (code < 0x80) return {static_cast<char>(code)};
  return {static_cast<char>(0xC0 | (code >> 6)), static_cast<char>(0x80 | (code & 0x3F))};
}

json tokenizer_of_bytes() {
  json vocabulary = json::object();
  for (int byte = 0; byte < 256; ++byte) vocabulary[spelled(byte)] = byte;
  const auto added = [](int id, const char* text) {
    return json{{"id", id},        {"content", text},     {"single_word", false}, {"lstrip", false},
                {"rstrip", false}, {"normalized", false}, {"special", true}};
  };
  const json bytes = {{"type", "ByteLevel"},
                      {"add_prefix_space", false},
                      {"trim_offsets", false},
                      {"use_regex", false}};
  return {{"version", "1.0"},
          {"added_tokens", {added(kPicture, "<image>"), added(kEnd, "</s>")}},
          {"normalizer", nullptr},
          {"pre_tokenizer", bytes},
          {"post_processor", nullptr},
          {"decoder", bytes},
          {"model", {{"type", "BPE"}, {"vocab", vocabulary}, {"merges", json::array()}}}};
}

}  // namespace

void start_checkpoint(const std::string& config, const std::string& folder, uint64_t seed) {
  const hf::ModelConfig read = hf::read_config(config);
  if (read.decoder.vocab < kAll || read.image_token != kPicture)
    throw Error(ErrorCode::bad_argument,
                config + ": training from nothing wants vocab_size 258 and image_token_id 256");
  init_checkpoint(config, folder, "float32", seed);
  const auto in = [&](const char* name) { return (std::filesystem::path(folder) / name).string(); };
  write_text_file(in("tokenizer.json"), tokenizer_of_bytes().dump(1));
  write_text_file(in("generation_config.json"),
                  json{{"eos_token_id", kEnd}, {"max_new_tokens", 16}}.dump(1));
}

}  // namespace arrcoc::training
