#include "models/tokenizers/unicode.h"

#include <unicode/brkiter.h>
#include <unicode/normalizer2.h>
#include <unicode/regex.h>
#include <unicode/uchar.h>
#include <unicode/utext.h>
#include <unicode/utf8.h>

#include "arrcoc/error.h"

namespace arrcoc::tokenizers {

std::string valid_utf8(std::string_view bytes) {
  std::string out;
  out.reserve(bytes.size());
  const auto* data = reinterpret_cast<const uint8_t*>(bytes.data());
  auto size = static_cast<int64_t>(bytes.size());
  for (int64_t at = 0; at < size;) {
    int64_t begin = at;
    UChar32 read = 0;
    U8_NEXT(data, at, size, read);
    if (read < 0)
      out += "\xEF\xBF\xBD";
    else
      out.append(bytes.substr(static_cast<size_t>(begin), static_cast<size_t>(at - begin)));
  }
  return out;
}

size_t character_bytes(std::string_view text, size_t at) {
  auto lead = static_cast<uint8_t>(text[at]);
  size_t bytes = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  return std::min(bytes, text.size() - at);
}

char32_t character(std::string_view text, size_t at) {
  const auto* data = reinterpret_cast<const uint8_t*>(text.data());
  auto index = static_cast<int64_t>(at);
  UChar32 read = 0;
  U8_NEXT(data, index, static_cast<int64_t>(text.size()), read);
  return read < 0 ? 0xFFFD : static_cast<char32_t>(read);
}

void append(std::string& text, char32_t character) {
  uint8_t buffer[U8_MAX_LENGTH];
  int32_t length = 0;
  U8_APPEND_UNSAFE(buffer, length, static_cast<UChar32>(character));
  text.append(reinterpret_cast<char*>(buffer), static_cast<size_t>(length));
}

bool is_space(char32_t c) { return u_isUWhiteSpace(static_cast<UChar32>(c)); }
bool is_word(char32_t c) {
  return u_isalnum(static_cast<UChar32>(c)) || is_mark(c) ||
         (U_GET_GC_MASK(static_cast<UChar32>(c)) & U_GC_PC_MASK) != 0;
}
bool is_numeric(char32_t c) { return (U_GET_GC_MASK(static_cast<UChar32>(c)) & U_GC_N_MASK) != 0; }
bool is_punctuation(char32_t c) {
  bool ascii = (c >= '!' && c <= '/') || (c >= ':' && c <= '@') || (c >= '[' && c <= '`') ||
               (c >= '{' && c <= '~');
  return ascii || (U_GET_GC_MASK(static_cast<UChar32>(c)) & U_GC_P_MASK) != 0;
}
bool is_mark(char32_t c) { return (U_GET_GC_MASK(static_cast<UChar32>(c)) & U_GC_M_MASK) != 0; }

std::string normal_form(std::string_view text, NormalForm form) {
  static constexpr const icu::Normalizer2* (*kForms[])(UErrorCode&) = {
      icu::Normalizer2::getNFCInstance, icu::Normalizer2::getNFDInstance,
      icu::Normalizer2::getNFKCInstance, icu::Normalizer2::getNFKDInstance};
  UErrorCode status = U_ZERO_ERROR;
  const icu::Normalizer2* normalizer = kForms[static_cast<size_t>(form)](status);
  icu::UnicodeString wide = icu::UnicodeString::fromUTF8(
      icu::StringPiece(text.data(), static_cast<int32_t>(text.size())));
  icu::UnicodeString normal;
  if (U_SUCCESS(status)) normal = normalizer->normalize(wide, status);
  if (U_FAILURE(status))
    throw Error(ErrorCode::unsupported,
                std::string("ICU cannot normalise: ") + u_errorName(status));
  std::string out;
  normal.toUTF8String(out);
  return out;
}

std::string lower(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t at = 0; at < text.size(); at += character_bytes(text, at)) {
    char32_t c = character(text, at);
    if (c == 0x130)  // the only letter whose lower case is two characters
      out += "i\xCC\x87";
    else
      append(out, static_cast<char32_t>(u_tolower(static_cast<UChar32>(c))));
  }
  return out;
}

std::vector<std::string_view> graphemes(std::string_view text) {
  UErrorCode status = U_ZERO_ERROR;
  std::unique_ptr<icu::BreakIterator> breaks(
      icu::BreakIterator::createCharacterInstance(icu::Locale::getRoot(), status));
  UText* utext = utext_openUTF8(nullptr, text.data(), static_cast<int64_t>(text.size()), &status);
  std::vector<std::string_view> out;
  if (U_SUCCESS(status)) {
    breaks->setText(utext, status);
    int32_t begin = breaks->first();
    for (int32_t end = breaks->next(); end != icu::BreakIterator::DONE; end = breaks->next()) {
      out.push_back(text.substr(static_cast<size_t>(begin), static_cast<size_t>(end - begin)));
      begin = end;
    }
  }
  utext_close(utext);
  if (U_FAILURE(status))
    throw Error(ErrorCode::unsupported, std::string("ICU cannot split: ") + u_errorName(status));
  return out;
}

struct Pattern::Compiled {
  std::unique_ptr<icu::RegexPattern> pattern;
};

Pattern Pattern::literal(std::string text) {
  Pattern pattern;
  pattern.literal_ = std::move(text);
  return pattern;
}

Pattern Pattern::regex(const std::string& expression, const std::string& file) {
  // The reference's engine takes \s for Unicode White_Space; ICU's \s leaves out U+000B and U+0085.
  std::string source;
  for (size_t i = 0; i < expression.size(); ++i) {
    bool escape = expression[i] == '\\' && i + 1 < expression.size();
    if (escape && (expression[i + 1] == 's' || expression[i + 1] == 'S')) {
      source += expression[i + 1] == 's' ? "\\p{White_Space}" : "\\P{White_Space}";
      ++i;
    } else {
      source += expression[i];
      if (escape) source += expression[++i];
    }
  }
  UErrorCode status = U_ZERO_ERROR;
  UParseError where;
  icu::UnicodeString wide = icu::UnicodeString::fromUTF8(source);
  std::unique_ptr<icu::RegexPattern> compiled(icu::RegexPattern::compile(wide, 0, where, status));
  if (U_FAILURE(status))
    throw Error(ErrorCode::bad_json, file + ": the regular expression '" +
                                         expression.substr(0, 120) + "' does not compile (" +
                                         u_errorName(status) + ")");
  Pattern pattern;
  pattern.compiled_ = std::make_shared<Compiled>(Compiled{std::move(compiled)});
  return pattern;
}

Pattern Pattern::from(const Settings& settings) {
  if (settings.need("pattern").is_string()) return literal(settings.get<std::string>("pattern"));
  const Settings pattern = settings.below("pattern");
  if (pattern.has("String")) return literal(pattern.get<std::string>("String"));
  if (pattern.has("Regex")) return regex(pattern.get<std::string>("Regex"), settings.file());
  settings.fail("pattern", "is neither a String nor a Regex");
}

std::vector<Span> Pattern::find(std::string_view text) const {
  std::vector<Span> found;
  if (!compiled_) {
    if (literal_.empty()) return found;
    for (size_t at = text.find(literal_); at != std::string_view::npos;
         at = text.find(literal_, at + literal_.size()))
      found.push_back({at, at + literal_.size()});
    return found;
  }
  UErrorCode status = U_ZERO_ERROR;
  UText* utext = utext_openUTF8(nullptr, text.data(), static_cast<int64_t>(text.size()), &status);
  std::unique_ptr<icu::RegexMatcher> matcher(compiled_->pattern->matcher(status));
  if (U_SUCCESS(status)) {
    matcher->setStackLimit(64 << 20, status);  // bytes: long runs of one class need room
    matcher->setTimeLimit(20000, status);      // about as many milliseconds
    matcher->reset(utext);
    while (matcher->find(status) && U_SUCCESS(status)) {
      auto begin = static_cast<size_t>(matcher->start64(status));
      auto end = static_cast<size_t>(matcher->end64(status));
      if (end > begin) found.push_back({begin, end});
    }
  }
  matcher.reset();
  utext_close(utext);
  if (U_FAILURE(status))
    throw Error(ErrorCode::too_large,
                std::string("splitting the text took too long (") + u_errorName(status) + ")");
  return found;
}

std::string Pattern::replace(std::string_view text, const std::string& by) const {
  std::string out;
  size_t done = 0;
  for (const Span& span : find(text)) {
    out.append(text.substr(done, span.begin - done)).append(by);
    done = span.end;
  }
  return out.append(text.substr(done));
}

}  // namespace arrcoc::tokenizers
