#include "arrcoc/error.h"
#include "models/tokenizers/steps.h"
#include "models/tokenizers/unicode.h"

namespace arrcoc::tokenizers {
namespace {

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
  while (left && begin < end && is_space(character(text, begin)))
    begin += character_bytes(text, begin);
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

Normalizer form(NormalForm which) {
  return [which](const std::string& text) { return normal_form(text, which); };
}

}  // namespace

Normalizer make_normalizer(const json& value, const std::string& file) {
  if (value.is_null()) return [](std::string text) { return text; };
  const Settings s(value, file);
  const auto type = s.get<std::string>("type");
  if (type == "Sequence") return sequence<Normalizer>(s, "normalizers", make_normalizer);
  if (type == "NFC") return form(NormalForm::nfc);
  if (type == "NFD") return form(NormalForm::nfd);
  if (type == "NFKC") return form(NormalForm::nfkc);
  if (type == "NFKD") return form(NormalForm::nfkd);
  if (type == "Lowercase") return [](const std::string& text) { return lower(text); };
  if (type == "Nmt") return nmt;
  if (type == "Precompiled") return make_charsmap(s.get("precompiled_charsmap", ""), file);
  if (type == "ByteLevel") return [](const std::string& text) { return to_byte_alphabet(text); };
  if (type == "StripAccents") {
    return [](const std::string& text) {
      return filter(text, [](char32_t c) { return !is_mark(c); });
    };
  }
  if (type == "Strip") {
    const bool left = s.get("strip_left", true), right = s.get("strip_right", true);
    return [left, right](const std::string& text) { return strip(text, left, right); };
  }
  if (type == "Prepend") {
    const auto prefix = s.get<std::string>("prepend");
    return [prefix](std::string text) { return text.empty() ? text : prefix + text; };
  }
  if (type == "Replace") {
    const Pattern pattern = Pattern::from(s);
    const auto by = s.get<std::string>("content");
    return [pattern, by](const std::string& text) { return pattern.replace(text, by); };
  }
  throw Error(ErrorCode::unsupported, file + ": unknown normalizer '" + type + "'");
}

}  // namespace arrcoc::tokenizers
