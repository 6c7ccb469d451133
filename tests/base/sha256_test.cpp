#include "base/sha256.h"

#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <vector>

namespace arrcoc {
namespace {

std::string hex(const std::array<uint8_t, 32>& digest) {
  std::string out;
  for (const uint8_t byte : digest) {
    out += "0123456789abcdef"[byte >> 4];
    out += "0123456789abcdef"[byte & 15];
  }
  return out;
}

// FIPS 180-4's examples; the others as `sha256sum` prints them.
TEST(Sha256, IsWhatTheStandardSays) {
  const std::pair<std::string, const char*> known[] = {
      {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
      {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
      {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
       "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
      {std::string(64, 'a'), "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb"},
      {std::string(1000000, 'a'),
       "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"}};
  for (const auto& [text, digest] : known) {
    EXPECT_EQ(hex(sha256(text.data(), text.size())), digest) << text.size();
    EXPECT_EQ(hex(sha256_portable(text.data(), text.size())), digest) << text.size();
  }
}

TEST(Sha256, IsTheSameWithAndWithoutTheProcessorsInstructions) {
  std::vector<uint8_t> bytes(300);
  std::iota(bytes.begin(), bytes.end(), uint8_t{7});
  for (size_t size = 0; size <= bytes.size(); ++size)
    EXPECT_EQ(sha256(bytes.data(), size), sha256_portable(bytes.data(), size)) << size;
}

}  // namespace
}  // namespace arrcoc
