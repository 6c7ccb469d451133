// sentencepiece's "precompiled_charsmap": a double-array trie from byte strings to replacements.
#include <cstring>

#include "models/tokenizers/steps.h"
#include "models/tokenizers/unicode.h"

namespace arrcoc::tokenizers {
namespace {

[[noreturn]] void fail(const std::string& file, const std::string& what) {
  throw Error(ErrorCode::bad_json, file + ": 'precompiled_charsmap' " + what);
}

std::string from_base64(const std::string& text, const std::string& file) {
  auto value = [](char c) -> int {
    if (c >= 'A' && c <= 'Z') return c - 'A';
    if (c >= 'a' && c <= 'z') return c - 'a' + 26;
    if (c >= '0' && c <= '9') return c - '0' + 52;
    return c == '+' ? 62 : c == '/' ? 63 : -1;
  };
  std::string out;
  uint32_t bits = 0;
  int held = 0;
  for (char c : text) {
    if (c == '=') break;
    int six = value(c);
    if (six < 0) fail(file, "is not base64");
    bits = bits << 6 | static_cast<uint32_t>(six);
    held += 6;
    if (held >= 8) {
      held -= 8;
      out += static_cast<char>(bits >> held & 0xFF);
    }
  }
  return out;
}

class Charsmap {
 public:
  Charsmap(const std::string& bytes, const std::string& file) {
    uint32_t size = 0;
    if (bytes.size() < 4) fail(file, "is too short");
    std::memcpy(&size, bytes.data(), 4);
    if (size % 4 != 0 || size > bytes.size() - 4) fail(file, "has a wrong trie size");
    units_.resize(size / 4);
    std::memcpy(units_.data(), bytes.data() + 4, size);
    replacements_ = bytes.substr(4 + size);
  }

  // The replacement of the shortest entry that `text` starts with, as the reference takes it.
  std::optional<std::string> replacement(std::string_view text) const {
    size_t node = 0;
    if (!step(node, 0, true)) return {};
    for (char raw : text) {
      auto c = static_cast<uint8_t>(raw);
      if (c == 0) return {};
      node ^= c;
      if (node >= units_.size()) return {};
      uint32_t unit = units_[node];
      if ((unit & (1U << 31 | 0xFF)) != c) return {};
      if (!step(node, unit, false)) return {};
      if (unit >> 8 & 1) {
        size_t begin = units_[node] & ((1U << 31) - 1);
        if (begin > replacements_.size()) return {};
        return std::string(replacements_.c_str() + begin);
      }
    }
    return {};
  }

 private:
  // Moves to the children of a unit; false when that leads outside the table.
  bool step(size_t& node, uint32_t unit, bool root) const {
    if (root) {
      if (units_.empty()) return false;
      unit = units_[0];
    }
    node ^= static_cast<size_t>(unit >> 10) << ((unit & 1U << 9) >> 6);
    return node < units_.size();
  }

  std::vector<uint32_t> units_;
  std::string replacements_;
};

}  // namespace

Normalizer make_charsmap(const std::string& base64, const std::string& file) {
  if (base64.empty()) return [](std::string text) { return text; };
  auto map = std::make_shared<Charsmap>(from_base64(base64, file), file);
  return [map](const std::string& text) {
    std::string out;
    for (std::string_view cluster : graphemes(text)) {
      if (cluster.size() < 6) {
        if (auto whole = map->replacement(cluster)) {
          out += *whole;
          continue;
        }
      }
      for (size_t at = 0; at < cluster.size(); at += character_bytes(cluster, at)) {
        std::string_view one = cluster.substr(at, character_bytes(cluster, at));
        auto found = map->replacement(one);
        out += found ? *found : std::string(one);
      }
    }
    return valid_utf8(out);
  };
}

}  // namespace arrcoc::tokenizers
