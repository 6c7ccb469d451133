#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "arrcoc/error.h"
#include "arrcoc/model.h"
#include "models/tokenizers/tokenizer.h"

namespace arrcoc {
namespace {

using nlohmann::json;

std::string golden(const std::string& name) {
  return std::string(ARRCOC_TEST_DATA) + "/goldens/tokenizers/" + name;
}

class GoldenTokenizer : public ::testing::TestWithParam<const char*> {
 protected:
  std::shared_ptr<const Tokenizer> tokenizer =
      load_tokenizer(golden(std::string(GetParam()) + ".json"));
  json cases = json::parse(std::ifstream(golden(std::string(GetParam()) + ".golden.json")));
};

TEST_P(GoldenTokenizer, IdsAndTextAreTheReferences) {
  ASSERT_GT(cases.size(), 10U);
  for (const json& one : cases) {
    auto text = one["text"].get<std::string>();
    auto ids = one["ids"].get<std::vector<int64_t>>();
    EXPECT_EQ(tokenizer->encode(text), ids) << text;
    EXPECT_EQ(tokenizer->decode(ids), one["decoded"].get<std::string>()) << text;
  }
}

TEST_P(GoldenTokenizer, StreamedPiecesAreWholeCharactersAndJoinToTheText) {
  for (const json& one : cases) {
    TokenStream stream(*tokenizer, false);
    std::string joined;
    auto take = [&](const std::string& piece) {
      for (unsigned char lead : piece.substr(0, 1)) EXPECT_NE(lead & 0xC0, 0x80);
      EXPECT_EQ(piece.find("\xEF\xBF\xBD"), std::string::npos);
      joined += piece;
    };
    for (int64_t id : one["ids"]) take(stream.push(id));
    take(stream.finish());
    EXPECT_EQ(joined, one["decoded"].get<std::string>());
  }
}

TEST_P(GoldenTokenizer, IsCheckedCaseByCase) {
  const std::string file = golden(std::string(GetParam()) + ".json");
  const auto checks = check_tokenizer(file, golden(std::string(GetParam()) + ".golden.json"));
  EXPECT_EQ(checks.size(), cases.size());
  for (const TensorCheck& check : checks) EXPECT_TRUE(check.ok()) << check.name << check.problem;
  const std::string other = ::testing::TempDir() + "/other.json";
  std::ofstream(other) << R"([{"text": "Hi", "ids": [0]}, {"text": 3}, {"text": "", "ids": []}])";
  const auto wrong = check_tokenizer(file, other);
  ASSERT_EQ(wrong.size(), 3U);
  EXPECT_NE(wrong[0].problem.find("other ids"), std::string::npos);
  EXPECT_NE(wrong[1].problem.find("'text'"), std::string::npos);
  EXPECT_THROW(check_tokenizer(file, file), Error);
}

INSTANTIATE_TEST_SUITE_P(Files, GoldenTokenizer, ::testing::Values("qwen_style", "llama_style"));

TEST(Tokenizer, LongRunsWithoutASplitComeBackWhole) {
  auto tokenizer = load_tokenizer(golden("llama_style.json"));
  std::string text;
  for (int i = 0; i < 40000; ++i) text += "abcde"[i * i % 5];
  EXPECT_EQ(tokenizer->decode(tokenizer->encode(text)), text);
  auto bytes = load_tokenizer(golden("qwen_style.json"));
  EXPECT_EQ(bytes->decode(bytes->encode(std::string(50000, ' ') + "x")),
            std::string(50000, ' ') + "x");
}

TEST(Tokenizer, BytesThatAreNotUtf8BecomeReplacementCharacters) {
  auto tokenizer = load_tokenizer(golden("qwen_style.json"));
  EXPECT_EQ(tokenizer->decode(tokenizer->encode("a\xFFz")), "a\xEF\xBF\xBDz");
}

TEST(Tokenizer, SpecialTokensAreKnownByNameAndCanBeLeftOut) {
  auto tokenizer = load_tokenizer(golden("qwen_style.json"));
  EXPECT_EQ(tokenizer->id_of("<|im_end|>"), 3002);
  EXPECT_EQ(tokenizer->token_of(3005), "<|image_pad|>");
  EXPECT_TRUE(tokenizer->is_special(3001));
  EXPECT_FALSE(tokenizer->is_special(5));
  EXPECT_EQ(tokenizer->size(), 3006U);
  EXPECT_EQ(tokenizer->decode(tokenizer->encode("<|im_start|>hi<|im_end|>"), true), "hi");
  EXPECT_EQ(tokenizer->decode({123456789, -1}), "");
}

TEST(Tokenizer, UnknownPartsAreRefusedByName) {
  auto refused = [](const std::string& text, ErrorCode code, const std::string& says) {
    try {
      parse_tokenizer(text, "t.json");
      ADD_FAILURE() << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), code) << error.what();
      EXPECT_NE(std::string(error.what()).find(says), std::string::npos) << error.what();
      EXPECT_NE(std::string(error.what()).find("t.json"), std::string::npos);
    }
  };
  const std::string model = R"("model":{"type":"BPE","vocab":{"a":0},"merges":[]})";
  refused("{", ErrorCode::bad_json, "not valid JSON");
  refused("[]", ErrorCode::bad_json, "not an object");
  refused("{}", ErrorCode::bad_json, "'model' is missing");
  refused(R"({"model":{"type":"WordLevel","vocab":{}}})", ErrorCode::unsupported, "WordLevel");
  refused("{" + model + R"(,"normalizer":{"type":"Huh"}})", ErrorCode::unsupported, "Huh");
  refused("{" + model + R"(,"pre_tokenizer":{"type":"Huh"}})", ErrorCode::unsupported, "Huh");
  refused("{" + model + R"(,"decoder":{"type":"Huh"}})", ErrorCode::unsupported, "Huh");
  refused("{" + model + R"(,"post_processor":{"type":"Huh"}})", ErrorCode::unsupported, "Huh");
  refused("{" + model + R"(,"normalizer":{"type":"Replace","pattern":{"Regex":"("},"content":""}})",
          ErrorCode::bad_json, "does not compile");
  refused(R"({"model":{"type":"BPE","vocab":{"a":0},"merges":["a b"]}})", ErrorCode::bad_json,
          "not all in the vocabulary");
  refused(R"({"model":{"type":"BPE","vocab":{"a":-4},"merges":[]}})", ErrorCode::bad_json, "vocab");
  refused(R"({"model":{"type":"Unigram","vocab":[["a",0]],"unk_id":7}})", ErrorCode::bad_json,
          "unk_id");
  std::string deep = "{\"type\":\"NFC\"}";
  for (int i = 0; i < 5000; ++i) deep = R"({"type":"Sequence","normalizers":[)" + deep + "]}";
  refused("{" + model + ",\"normalizer\":" + deep + "}", ErrorCode::bad_json, "nested deeper");
}

}  // namespace
}  // namespace arrcoc
