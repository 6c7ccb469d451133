#include <algorithm>
#include <array>

#include "arrcoc/error.h"
#include "models/tokenizers/steps.h"
#include "models/tokenizers/unicode.h"

namespace arrcoc {
namespace tokenizers {

// What becomes of the matches of a pattern that text is split at.
enum class Behaviour { removed, isolated, merged_with_previous, merged_with_next, contiguous };

}  // namespace tokenizers

template <>
struct EnumNames<tokenizers::Behaviour> {
  using enum tokenizers::Behaviour;
  static constexpr const char* kWhat = "behavior";
  static constexpr std::pair<tokenizers::Behaviour, const char*> kNames[] = {
      {removed, "Removed"},
      {isolated, "Isolated"},
      {merged_with_previous, "MergedWithPrevious"},
      {merged_with_next, "MergedWithNext"},
      {contiguous, "Contiguous"}};
};

namespace tokenizers {
namespace {

// The split that GPT-2 introduced and ByteLevel applies unless told otherwise.
constexpr const char* kByteLevelSplit =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

// printable[b]: the character that stands for byte b.
const std::array<char32_t, 256>& byte_alphabet() {
  static const std::array<char32_t, 256> table = [] {
    std::array<char32_t, 256> printable{};
    char32_t next = 256;
    for (int b = 0; b < 256; ++b) {
      bool shown = (b >= '!' && b <= '~') || (b >= 0xA1 && b <= 0xAC) || b >= 0xAE;
      printable[static_cast<size_t>(b)] = shown ? static_cast<char32_t>(b) : next++;
    }
    return printable;
  }();
  return table;
}

struct Part {
  Span span;
  bool match = false;
};

// The whole text as matches and the gaps between them.
std::vector<Part> parts_of(std::string_view text, const std::vector<Span>& matches, bool invert) {
  std::vector<Part> parts;
  size_t done = 0;
  for (const Span& span : matches) {
    if (span.begin > done) parts.push_back({{done, span.begin}, invert});
    parts.push_back({span, !invert});
    done = span.end;
  }
  if (done < text.size()) parts.push_back({{done, text.size()}, invert});
  return parts;
}

std::vector<Span> split(const std::vector<Part>& parts, Behaviour behaviour) {
  std::vector<Span> out;
  bool previous = false;
  for (const Part& part : parts) {
    bool merge = false;
    switch (behaviour) {
      case Behaviour::removed:
        if (part.match) continue;
        break;
      case Behaviour::isolated:
        break;
      case Behaviour::merged_with_previous:
        merge = part.match && !previous && !out.empty();
        break;
      // A match opens a new piece; what follows it, unless it is a match, joins it.
      case Behaviour::merged_with_next:
        merge = !part.match && previous;
        break;
      case Behaviour::contiguous:
        merge = part.match == previous && !out.empty();
        break;
    }
    previous = part.match;
    if (merge)
      out.back().end = part.span.end;
    else
      out.push_back(part.span);
  }
  return out;
}

using Cutter = std::function<std::vector<Span>(std::string_view)>;

PreTokenizer cut_with(Cutter cutter) {
  return [cutter = std::move(cutter)](std::vector<Piece> pieces) {
    std::vector<Piece> out;
    for (const Piece& piece : pieces)
      for (const Span& span : cutter(piece.text))
        out.push_back(
            {piece.text.substr(span.begin, span.end - span.begin), piece.first && span.begin == 0});
    return out;
  };
}

PreTokenizer split_at(Pattern pattern, Behaviour behaviour, bool invert) {
  return cut_with([pattern = std::move(pattern), behaviour, invert](std::string_view text) {
    return split(parts_of(text, pattern.find(text), invert), behaviour);
  });
}

PreTokenizer split_characters(bool (*matches)(char32_t), Behaviour behaviour) {
  return cut_with([matches, behaviour](std::string_view text) {
    std::vector<Span> found;
    for (size_t at = 0; at < text.size(); at += character_bytes(text, at))
      if (matches(character(text, at))) found.push_back({at, at + character_bytes(text, at)});
    return split(parts_of(text, found, false), behaviour);
  });
}

PreTokenizer byte_level(const Settings& s) {
  const bool prefix = s.get("add_prefix_space", true);
  PreTokenizer splitter;
  if (s.get("use_regex", true))
    splitter = split_at(Pattern::regex(kByteLevelSplit, s.file()), Behaviour::isolated, false);
  return [prefix, splitter](std::vector<Piece> pieces) {
    for (Piece& piece : pieces)
      if (prefix && piece.text[0] != ' ') piece.text.insert(0, " ");
    if (splitter) pieces = splitter(std::move(pieces));
    for (Piece& piece : pieces) piece.text = to_byte_alphabet(piece.text);
    return pieces;
  };
}

PreTokenizer metaspace(const Settings& s) {
  const std::string mark = s.get("replacement", kMetaspace);
  if (mark.empty()) s.fail("replacement", "is empty");
  const PrependScheme scheme = prepend_scheme(s);
  const Pattern space = Pattern::literal(" ");
  const PreTokenizer splitter =
      s.get("split", true) ? split_at(Pattern::literal(mark), Behaviour::merged_with_next, false)
                           : nullptr;
  return [=](std::vector<Piece> pieces) {
    for (Piece& piece : pieces) {
      piece.text = space.replace(piece.text, mark);
      bool wanted =
          scheme == PrependScheme::always || (scheme == PrependScheme::first && piece.first);
      if (wanted && piece.text.compare(0, mark.size(), mark) != 0) piece.text.insert(0, mark);
    }
    return splitter ? splitter(std::move(pieces)) : pieces;
  };
}

}  // namespace

std::string to_byte_alphabet(std::string_view bytes) {
  std::string out;
  out.reserve(bytes.size() * 2);
  for (char byte : bytes) append(out, byte_alphabet()[static_cast<uint8_t>(byte)]);
  return out;
}

std::string from_byte_alphabet(std::string_view text) {
  static const std::unordered_map<char32_t, char> back = [] {
    std::unordered_map<char32_t, char> map;
    for (size_t b = 0; b < 256; ++b) map[byte_alphabet()[b]] = static_cast<char>(b);
    return map;
  }();
  std::string out;
  for (size_t at = 0; at < text.size(); at += character_bytes(text, at)) {
    auto found = back.find(character(text, at));
    if (found == back.end()) return std::string(text);
    out += found->second;
  }
  return out;
}

PrependScheme prepend_scheme(const Settings& s) {
  const bool old = s.get("add_prefix_space", true);  // the spelling before 0.15
  return s.get("prepend_scheme", old ? PrependScheme::always : PrependScheme::never);
}

PreTokenizer make_pre_tokenizer(const json& value, const std::string& file) {
  if (value.is_null()) return [](std::vector<Piece> pieces) { return pieces; };
  const Settings s(value, file);
  const auto type = s.get<std::string>("type");
  if (type == "Sequence") return sequence<PreTokenizer>(s, "pretokenizers", make_pre_tokenizer);
  if (type == "ByteLevel") return byte_level(s);
  if (type == "Metaspace") return metaspace(s);
  if (type == "Split")
    return split_at(Pattern::from(s), s.get("behavior", Behaviour::isolated),
                    s.get("invert", false));
  if (type == "Whitespace")
    return split_at(Pattern::regex(R"(\w+|[^\w\s]+)", file), Behaviour::removed, true);
  if (type == "WhitespaceSplit") return split_characters(is_space, Behaviour::removed);
  if (type == "Punctuation")
    return split_characters(is_punctuation, s.get("behavior", Behaviour::isolated));
  if (type == "Digits")
    return split_characters(is_numeric, s.get("individual_digits", false) ? Behaviour::isolated
                                                                          : Behaviour::contiguous);
  if (type == "CharDelimiterSplit")
    return split_at(Pattern::literal(s.get<std::string>("delimiter")), Behaviour::removed, false);
  throw Error(ErrorCode::unsupported, file + ": unknown pre-tokenizer '" + type + "'");
}

}  // namespace tokenizers
}  // namespace arrcoc
