#include "arrcoc/error.h"
#include "models/hf/json.h"
#include "models/tokenizers/steps.h"
#include "models/tokenizers/unicode.h"

namespace arrcoc::tokenizers {
namespace {

using nlohmann::json;

template <class Keep>
std::string filter(const std::string& text, Keep keep) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    size_t bytes = character_bytes(text, at);
    if (keep(character(text, at))) out.append(text, at, bytes);
    at += bytes;
  }
  return out;
}

std::string strip(const std::string& text, bool left, bool right) {
  size_t begin = 0;
  size_t end = text.size();
  while (left && begin < end && is_space(character(text, begin))) {
    begin += character_bytes(text, begin);
  }
  while (right && end > begin) {
    size_t last = end - 1;
    while (last > begin && (static_cast<uint8_t>(text[last]) & 0xC0) == 0x80) --last;
    if (!is_space(character(text, last))) break;
    end = last;
  }
  return text.substr(begin, end - begin);
}

// sentencepiece's nmt rules: control characters go, odd white space becomes a plain space.
std::string nmt(const std::string& text) {
  std::string out;
  for (size_t at = 0; at < text.size(); at += character_bytes(text, at)) {
    char32_t c = character(text, at);
    bool control = (c >= 0x1 && c <= 0x8) || c == 0xB || (c >= 0xE && c <= 0x1F) || c == 0x7F ||
                   c == 0x8F || c == 0x9F;
    bool space = c == 0x9 || c == 0xA || c == 0xC || c == 0xD || c == 0x1680 ||
                 (c >= 0x200B && c <= 0x200F) || c == 0x2028 || c == 0x2029 || c == 0x2581 ||
                 c == 0xFEFF || c == 0xFFFD;
    if (!control) append(out, space ? U' ' : c);
  }
  return out;
}

Normalizer sequence(const json& value, const std::string& file, int depth) {
  const json& list = jsonio::member(value, "normalizers", file);
  if (!list.is_array()) jsonio::fail(file, "normalizers", "is not a list");
  std::vector<Normalizer> steps;
  for (const json& step : list) steps.push_back(make_normalizer(step, file, depth + 1));
  return [steps](std::string text) {
    for (const Normalizer& step : steps) text = step(std::move(text));
    return text;
  };
}

Normalizer form(NormalForm which) {
  return [which](const std::string& text) { return normal_form(text, which); };
}

}  // namespace

Normalizer make_normalizer(const json& value, const std::string& file, int depth) {
  if (depth > kMaxDepth) jsonio::fail(file, "normalizer", "is nested too deeply");
  if (value.is_null()) return [](std::string text) { return text; };
  std::string type = jsonio::text(value, "type", file);
  if (type == "Sequence") return sequence(value, file, depth);
  if (type == "NFC") return form(NormalForm::nfc);
  if (type == "NFD") return form(NormalForm::nfd);
  if (type == "NFKC") return form(NormalForm::nfkc);
  if (type == "NFKD") return form(NormalForm::nfkd);
  if (type == "Lowercase") return [](const std::string& text) { return lower(text); };
  if (type == "Nmt") return nmt;
  if (type == "Precompiled") {
    return make_charsmap(jsonio::text(value, "precompiled_charsmap", "", file), file);
  }
  if (type == "ByteLevel") return [](const std::string& text) { return to_byte_alphabet(text); };
  if (type == "StripAccents") {
    return [](const std::string& text) {
      return filter(text, [](char32_t c) { return !is_mark(c); });
    };
  }
  if (type == "Strip") {
    bool left = jsonio::flag(value, "strip_left", true, file);
    bool right = jsonio::flag(value, "strip_right", true, file);
    return [left, right](const std::string& text) { return strip(text, left, right); };
  }
  if (type == "Prepend") {
    std::string prefix = jsonio::text(value, "prepend", file);
    return [prefix](std::string text) { return text.empty() ? text : prefix + text; };
  }
  if (type == "Replace") {
    Pattern pattern = Pattern::from(jsonio::member(value, "pattern", file), file);
    std::string by = jsonio::text(value, "content", file);
    return [pattern, by](const std::string& text) { return pattern.replace(text, by); };
  }
  throw Error(ErrorCode::unsupported, file + ": unknown normalizer '" + type + "'");
}

}  // namespace arrcoc::tokenizers
