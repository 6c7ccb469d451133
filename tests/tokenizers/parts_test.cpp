// Kinds of tokenizer that the goldens do not hold, worked out by hand.
#include <gtest/gtest.h>

#include <random>

#include "arrcoc/error.h"
#include "models/tokenizers/tokenizer.h"
#include "tokenizers/small.h"

namespace arrcoc {
namespace {

using nlohmann::json;
using Ids = std::vector<int64_t>;

std::shared_ptr<const Tokenizer> made(const json& value) {
  return parse_tokenizer(value.dump(), "small.json");
}

Ids ids_of(const Tokenizer& tokenizer, const std::vector<std::string>& tokens) {
  Ids out;
  for (const std::string& token : tokens) out.push_back(tokenizer.id_of(token).value_or(-1));
  return out;
}

TEST(ClipTokenizer, LowersMarksWordEndsAndFramesTheText) {
  auto clip = made(small_tokenizers::clip());
  EXPECT_EQ(clip->encode("Hi  THERE!"),
            ids_of(*clip, {"<|startoftext|>", "hi</w>", "there</w>", "!</w>", "<|endoftext|>"}));
  EXPECT_EQ(clip->encode("hith", false), ids_of(*clip, {"h", "i", "t", "h</w>"}));
  // A letter outside the vocabulary is the unknown token, which CLIP spells like the end.
  EXPECT_EQ(clip->encode("z", false), ids_of(*clip, {"<|endoftext|>"}));
}

TEST(UnigramTokenizer, TakesTheLikeliestSplit) {
  auto tokenizer = made(small_tokenizers::unigram());
  // ▁ab (-4.5) beats ▁ + ab (-7) and ▁ + a + b; abb: ab + b (-7.6) beats abb (-9.5).
  EXPECT_EQ(tokenizer->encode("ab", false), ids_of(*tokenizer, {"\u2581ab"}));
  EXPECT_EQ(tokenizer->encode("abb abb", false),
            ids_of(*tokenizer, {"\u2581ab", "b", "\u2581ab", "b"}));
  EXPECT_EQ(tokenizer->encode("cab", false), ids_of(*tokenizer, {"\u2581", "c", "ab"}));
}

TEST(UnigramTokenizer, JoinsNeighbouringUnknownsAndFitsTheLength) {
  auto tokenizer = made(small_tokenizers::unigram());
  EXPECT_EQ(tokenizer->encode("axyzb", false), ids_of(*tokenizer, {"\u2581", "a", "<unk>", "b"}));
  EXPECT_EQ(tokenizer->encode("ab!"), (Ids{6, 1, 1, 1, 1, 1, 1, 1}));
  EXPECT_EQ(tokenizer->encode("c c c c c c c c c").size(), 8U);
  EXPECT_EQ(tokenizer->encode("c c c c c c c c c").back(), 1);
  EXPECT_EQ(tokenizer->decode({6, 4, 6, 4, 1}, true), "abb abb");
}

TEST(UnigramTokenizer, AppliesTheCompiledReplacements) {
  auto tokenizer = made(small_tokenizers::unigram(false));
  EXPECT_EQ(tokenizer->encode("\uFF21", false), ids_of(*tokenizer, {"\u2581", "A"}));
  EXPECT_EQ(tokenizer->encode("\uFF22", false), ids_of(*tokenizer, {"\u2581", "<unk>"}));
}

TEST(UnigramTokenizer, SpellsUnknownsInBytesWhereItCan) {
  json value = small_tokenizers::unigram();
  value["model"]["byte_fallback"] = true;
  for (int byte = 0; byte < 256; ++byte) {
    char name[8];
    std::snprintf(name, sizeof name, "<0x%02X>", byte);
    value["model"]["vocab"].push_back(json::array({name, -20.0}));
  }
  value["decoder"] = {
      {"type", "Sequence"},
      {"decoders",
       {{{"type", "ByteFallback"}}, {{"type", "Metaspace"}, {"replacement", "\u2581"}}}}};
  auto tokenizer = made(value);
  Ids ids = tokenizer->encode("a\u00e9", false);
  EXPECT_EQ(ids, ids_of(*tokenizer, {"\u2581", "a", "<0xC3>", "<0xA9>"}));
  TokenStream stream(*tokenizer);
  std::string text;
  for (int64_t id : ids) text += stream.push(id);
  EXPECT_EQ(text + stream.finish(), "a\u00e9");
}

TEST(AddedTokens, StripSpacesAndWordBoundariesAsTheyAreTold) {
  json value = small_tokenizers::clip();
  auto add = [&](int id, const char* content, const char* flag) {
    value["added_tokens"].push_back(
        {{"id", id}, {"content", content}, {"special", true}, {flag, true}});
  };
  add(50, "<mask>", "lstrip");
  add(51, "<sep>", "rstrip");
  add(52, "hi", "single_word");
  auto tokenizer = made(value);
  EXPECT_EQ(tokenizer->encode("the  <mask>", false).back(), 50);
  Ids ids = tokenizer->encode("<sep>  hi hither", false);
  EXPECT_EQ(ids[0], 51);
  EXPECT_EQ(ids[1], 52);
  EXPECT_EQ(std::count(ids.begin(), ids.end(), 52), 1);
  EXPECT_EQ(tokenizer->size(), 21U);
}

TEST(TokenStream, BrokenBytesStayValidText) {
  json value = small_tokenizers::unigram();
  value["model"]["byte_fallback"] = true;
  for (int byte = 0; byte < 256; ++byte) {
    char name[8];
    std::snprintf(name, sizeof name, "<0x%02X>", byte);
    value["model"]["vocab"].push_back(json::array({name, -20.0}));
  }
  value["decoder"] = {{"type", "ByteFallback"}};
  auto tokenizer = made(value);
  std::mt19937 random(5);
  for (int round = 0; round < 200; ++round) {
    TokenStream stream(*tokenizer);
    std::string text;
    for (int i = 0; i < 12; ++i) text += stream.push(10 + random() % 256);
    text += stream.finish();
    // Valid UTF-8 survives encoding; anything else would come back with U+FFFD in its place.
    EXPECT_NO_THROW(json(text).dump());
  }
}

// Bytes changed, removed, repeated and swapped by a fixed generator.
std::string mutated(std::string text, std::mt19937& random) {
  int changes = 1 + static_cast<int>(random() % 4);
  for (int i = 0; i < changes && !text.empty(); ++i) {
    size_t at = random() % text.size();
    size_t length = 1 + random() % std::min<size_t>(12, text.size() - at);
    switch (random() % 6) {
      case 0:
        text[at] = static_cast<char>(random());
        break;
      case 1:
        text.erase(at, length);
        break;
      case 2:
        text.insert(at, text.substr(random() % text.size(), length));
        break;
      case 3:
        std::swap(text[at], text[random() % text.size()]);
        break;
      case 4:
        text[at] = "{}[]\",:0-9e\\"[random() % 12];
        break;
      default:
        text.insert(at, std::to_string(static_cast<int32_t>(random())));
        break;
    }
  }
  return text;
}

// Values replaced by values of other kinds: valid JSON that means nothing.
void scramble(json& value, std::mt19937& random) {
  json* at = &value;
  while (at->is_structured() && !at->empty() && random() % 8 != 0) {
    auto step = static_cast<std::ptrdiff_t>(random() % at->size());
    at = &*std::next(at->begin(), step);
  }
  const json strange[] = {nullptr,        -1,   1e300,     "",  "x",      json::array(),
                          json::object(), true, INT64_MAX, "(", "\u2581", json::array({1, 2})};
  *at = strange[random() % std::size(strange)];
}

void use(const std::string& text) {
  try {
    auto tokenizer = parse_tokenizer(text, "fuzz.json");
    Ids ids = tokenizer->encode("Hi there, ab \u00e9 \uFF21 <|endoftext|>!");
    tokenizer->decode(ids);
    tokenizer->decode({0, 1, 5, 17, -4, 1 << 30}, true);
  } catch (const Error&) {
    // Refused with a message: fine. Anything else fails the test.
  }
}

TEST(TokenizerParser, ThousandsOfBrokenFilesNeverCrashIt) {
  std::mt19937 random(1);
  json small = small_tokenizers::unigram();
  small["normalizer"]["normalizers"].erase(1);  // the long table, so that changes hit the rest
  const json files[] = {small_tokenizers::clip(), small};
  for (int i = 0; i < 4000; ++i) {
    const json& file = files[i % 2];
    json changed = file;
    scramble(changed, random);
    use(changed.dump());
    use(mutated(file.dump(), random));
  }
  std::string table = small_tokenizers::unigram().dump();
  for (int i = 0; i < 300; ++i) use(mutated(table, random));
}

}  // namespace
}  // namespace arrcoc
