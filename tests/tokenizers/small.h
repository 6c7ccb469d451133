// Small tokenizer.json files written by hand, with every kind of part.
#pragma once

#include <cstdint>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace arrcoc::small_tokenizers {

using nlohmann::json;

// CLIP: lower case, end-of-word suffix, byte alphabet, start and end around the text.
inline json clip() {
  json vocab = json::object();
  for (const char* token :
       {"h", "i", "t", "e", "r", "h</w>", "i</w>", "t</w>", "e</w>", "r</w>", "!</w>", "hi</w>",
        "th", "the", "there</w>", "re</w>", "<|startoftext|>", "<|endoftext|>"}) {
    vocab[token] = vocab.size();
  }
  json start = {
      {"id", vocab["<|startoftext|>"]}, {"content", "<|startoftext|>"}, {"special", true}};
  json end = {{"id", vocab["<|endoftext|>"]}, {"content", "<|endoftext|>"}, {"special", true}};
  const char* words =
      R"(<\|startoftext\|>|<\|endoftext\|>|'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+)";
  return {{"added_tokens", {start, end}},
          {"normalizer",
           {{"type", "Sequence"},
            {"normalizers",
             {{{"type", "NFC"}},
              {{"type", "Replace"}, {"pattern", {{"Regex", R"(\s+)"}}}, {"content", " "}},
              {{"type", "Lowercase"}}}}}},
          {"pre_tokenizer",
           {{"type", "Sequence"},
            {"pretokenizers",
             {{{"type", "Split"},
               {"pattern", {{"Regex", words}}},
               {"behavior", "Removed"},
               {"invert", true}},
              {{"type", "ByteLevel"}, {"add_prefix_space", false}}}}}},
          {"post_processor",
           {{"type", "RobertaProcessing"},
            {"sep", {"<|endoftext|>", vocab["<|endoftext|>"]}},
            {"cls", {"<|startoftext|>", vocab["<|startoftext|>"]}}}},
          {"decoder", {{"type", "ByteLevel"}}},
          {"model",
           {{"type", "BPE"},
            {"unk_token", "<|endoftext|>"},
            {"end_of_word_suffix", "</w>"},
            {"vocab", vocab},
            {"merges", {"h i</w>", "t h", "th e", "r e</w>", "the re</w>"}}}}};
}

inline std::string base64(const std::string& bytes) {
  const char* digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (size_t i = 0; i < bytes.size(); i += 3) {
    uint32_t three = 0;
    for (size_t k = 0; k < 3; ++k) {
      three = three << 8 | (i + k < bytes.size() ? static_cast<uint8_t>(bytes[i + k]) : 0U);
    }
    for (int k = 3; k >= 0; --k) {
      bool real = i + static_cast<size_t>(3 - k) <= bytes.size();
      out += real ? digits[three >> (6 * k) & 63] : '=';
    }
  }
  return out;
}

// A replacement table with one entry: the wide letter U+FF21 becomes "A".
inline std::string charsmap() {
  std::vector<uint32_t> units(4096, 0);
  units[0] = 256U << 10;
  units[0x1EF] = 0xEF | 512U << 10;
  units[0x353] = 0xBC | 1024U << 10;
  units[0x7F2] = 0xA1 | 1U << 8 | 2048U << 10;
  units[0xFF2] = 1U << 31 | 0;
  std::string bytes(4 + units.size() * 4, '\0');
  auto size = static_cast<uint32_t>(units.size() * 4);
  std::memcpy(bytes.data(), &size, 4);
  std::memcpy(bytes.data() + 4, units.data(), size);
  return base64(bytes + std::string("A\0", 2));
}

// SigLIP: lower case, replacement table, Metaspace, best split, an end token, fixed length.
inline json unigram(bool lowercase = true) {
  json normalizers = {{{"type", "Precompiled"}, {"precompiled_charsmap", charsmap()}},
                      {{"type", "Replace"}, {"pattern", {{"Regex", "[!?.]"}}}, {"content", ""}},
                      {{"type", "Strip"}, {"strip_left", true}, {"strip_right", true}}};
  if (lowercase) normalizers.insert(normalizers.begin(), json{{"type", "Lowercase"}});
  return {{"added_tokens", {{{"id", 1}, {"content", "</s>"}, {"special", true}}}},
          {"truncation", {{"max_length", 8}, {"direction", "Right"}}},
          {"padding", {{"strategy", {{"Fixed", 8}}}, {"pad_id", 1}, {"direction", "Right"}}},
          {"normalizer", {{"type", "Sequence"}, {"normalizers", normalizers}}},
          {"pre_tokenizer",
           {{"type", "Metaspace"}, {"replacement", "\u2581"}, {"prepend_scheme", "always"}}},
          {"post_processor",
           {{"type", "TemplateProcessing"},
            {"single",
             {{{"Sequence", {{"id", "A"}, {"type_id", 0}}}},
              {{"SpecialToken", {{"id", "</s>"}, {"type_id", 0}}}}}},
            {"special_tokens", {{"</s>", {{"id", "</s>"}, {"ids", {1}}, {"tokens", {"</s>"}}}}}}}},
          {"decoder", {{"type", "Metaspace"}, {"replacement", "\u2581"}}},
          {"model",
           {{"type", "Unigram"},
            {"unk_id", 0},
            {"vocab", json::array({json::array({"<unk>", 0.0}), json::array({"</s>", 0.0}),
                                   json::array({"\u2581", -3.0}), json::array({"a", -3.5}),
                                   json::array({"b", -3.6}), json::array({"ab", -4.0}),
                                   json::array({"\u2581ab", -4.5}), json::array({"abb", -9.5}),
                                   json::array({"c", -5.0}), json::array({"A", -6.0})})}}}};
}

}  // namespace arrcoc::small_tokenizers
