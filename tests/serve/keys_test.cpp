// Keys, where they come from, and servers without one.
#include <sys/stat.h>

#include "arrcoc/error.h"
#include "support.h"

namespace arrcoc::serving::test {
namespace {

TEST(Keys, ComeFromFilesThatNotEverybodyCanRead) {
  Folder folder;
  const std::string file = folder / "key";
  const auto write = [&](const std::string& text, int mode = 0640) {
    std::ofstream(file) << text;
    ::chmod(file.c_str(), static_cast<mode_t>(mode));
  };
  Options options;
  options.api_key_file = options.upstream_key_file = file;
  write("sk-123\n");
  const Options read = with_keys(options);
  EXPECT_EQ(read.api_key, "sk-123");
  EXPECT_EQ(read.upstream_key, "sk-123");
  EXPECT_EQ(with_keys(read).api_key, "sk-123") << "once is enough";
  EXPECT_EQ(to_json(options).find("sk-123"), std::string::npos);
  for (const char* bad : {"", "\n", "two\nlines\n", "a key\n", "k\x01"}) {
    write(bad);
    EXPECT_THROW(with_keys(options), Error) << bad;
  }
  write("sk-123", 0644);
  try {
    with_keys(options);
    FAIL() << "everybody can read it";
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("everybody can read"), std::string::npos);
    EXPECT_EQ(std::string(e.what()).find("sk-123"), std::string::npos);
  }
  options.api_key = "another";
  write("sk-123");
  EXPECT_THROW(with_keys(options), Error) << "which one?";
  options = {};
  options.api_key_file = folder / "none";
  EXPECT_THROW(with_keys(options), Error);
}

TEST(Keys, OfAFileAreAskedFor) {
  Folder folder;
  std::ofstream(folder / "key") << "sk-123\n";
  ::chmod((folder / "key").c_str(), 0600);
  Options options = usual_options();
  options.api_key_file = folder / "key";
  Running server(options);
  auto client = server.client();
  EXPECT_EQ(client.Get("/v1/models")->status, 401);
  EXPECT_EQ(client.Get("/v1/models", {{"Authorization", "Bearer sk-123"}})->status, 200);
}

TEST(Keys, AServerForEverybodySaysSo) {
  Options options = usual_options();
  EXPECT_EQ(Running(options).lines().find("\"open\""), std::string::npos);
  options.host = "0.0.0.0";
  Running server(options);
  EXPECT_NE(server.lines().find("anybody who reaches 0.0.0.0:0"), std::string::npos);
  options.api_key = "k";
  EXPECT_EQ(Running(options).lines().find("anybody"), std::string::npos);
}

}  // namespace
}  // namespace arrcoc::serving::test
