#include "arrcoc/error.h"
#include "models/tokenizers/steps.h"
#include "models/tokenizers/unicode.h"

namespace arrcoc::tokenizers {
namespace {

using Strings = std::vector<std::string>;

std::string joined(const Strings& tokens) {
  std::string out;
  for (const std::string& token : tokens) out += token;
  return out;
}

template <class Change>
Decoder each(Change change) {
  return [change](Strings tokens) {
    for (size_t i = 0; i < tokens.size(); ++i)
      tokens[i] = change(std::move(tokens[i]), i, tokens.size());
    return tokens;
  };
}

// The value of "<0x41>", or -1.
int byte_value(const std::string& token) {
  if (token.size() != 6 || token.compare(0, 3, "<0x") != 0 || token[5] != '>') return -1;
  int value = 0;
  for (char c : token.substr(3, 2)) {
    int digit = c >= '0' && c <= '9'   ? c - '0'
                : c >= 'A' && c <= 'F' ? c - 'A' + 10
                : c >= 'a' && c <= 'f' ? c - 'a' + 10
                                       : -1;
    if (digit < 0) return -1;
    value = value * 16 + digit;
  }
  return value;
}

// Runs of byte tokens become text; a run that is not UTF-8 becomes one U+FFFD a byte.
Strings byte_fallback(const Strings& tokens) {
  Strings out;
  std::string run;
  auto flush = [&] {
    if (run.empty()) return;
    if (valid_utf8(run) == run)
      out.push_back(run);
    else
      for (size_t i = 0; i < run.size(); ++i) out.emplace_back("\xEF\xBF\xBD");
    run.clear();
  };
  for (const std::string& token : tokens) {
    int value = byte_value(token);
    if (value >= 0) {
      run += static_cast<char>(value);
    } else {
      flush();
      out.push_back(token);
    }
  }
  flush();
  return out;
}

Decoder strip(const Settings& s) {
  const std::string content = s.get("content", " ");
  const int64_t start = s.whole("start", 0, 0, 1 << 20), stop = s.whole("stop", 0, 0, 1 << 20);
  if (content.empty()) s.fail("content", "is empty");
  return each([=](std::string token, size_t, size_t) {
    size_t size = content.size();
    for (int64_t i = 0; i < start && token.compare(0, size, content) == 0; ++i)
      token.erase(0, size);
    for (int64_t i = 0;
         i < stop && token.size() >= size && token.compare(token.size() - size, size, content) == 0;
         ++i)
      token.erase(token.size() - size);
    return token;
  });
}

Decoder metaspace(const Settings& s) {
  const Pattern mark = Pattern::literal(s.get("replacement", kMetaspace));
  const bool prepended = prepend_scheme(s) != PrependScheme::never;
  return each([=](const std::string& token, size_t at, size_t) {
    return mark.replace(token, at == 0 && prepended ? "" : " ");
  });
}

Decoder word_piece(const Settings& s) {
  const std::string prefix = s.get("prefix", "##");
  return each([=](std::string token, size_t at, size_t) {
    if (at == 0) return token;
    bool continues = token.compare(0, prefix.size(), prefix) == 0;
    return continues ? token.substr(prefix.size()) : " " + token;
  });
}

}  // namespace

Decoder make_decoder(const json& value, const std::string& file) {
  if (value.is_null())  // the reference puts spaces between the tokens then
    return each([](std::string token, size_t at, size_t) { return at ? " " + token : token; });
  const Settings s(value, file);
  const auto type = s.get<std::string>("type");
  if (type == "Sequence") return sequence<Decoder>(s, "decoders", make_decoder);
  if (type == "ByteFallback") return byte_fallback;
  if (type == "Fuse") return [](const Strings& tokens) { return Strings{joined(tokens)}; };
  if (type == "Strip") return strip(s);
  if (type == "Metaspace") return metaspace(s);
  if (type == "WordPiece") return word_piece(s);
  if (type == "ByteLevel") {
    return [](const Strings& tokens) {
      std::string bytes;
      for (const std::string& token : tokens) bytes += from_byte_alphabet(token);
      return Strings{valid_utf8(bytes)};
    };
  }
  if (type == "Replace") {
    const Pattern pattern = Pattern::from(s);
    const auto by = s.get<std::string>("content");
    return each(
        [=](const std::string& token, size_t, size_t) { return pattern.replace(token, by); });
  }
  if (type == "BPEDecoder") {
    const Pattern suffix = Pattern::literal(s.get("suffix", "</w>"));
    return each([=](const std::string& token, size_t at, size_t count) {
      return suffix.replace(token, at + 1 == count ? "" : " ");
    });
  }
  throw Error(ErrorCode::unsupported, file + ": unknown decoder '" + type + "'");
}

}  // namespace arrcoc::tokenizers
