// SIGTERM at bad moments: what runs may finish, then it is told, and the exit code is 0.
#include <sys/stat.h>

#include <thread>

#include "ports.h"
#include "process.h"
#include "raw.h"
#include "recording.h"

namespace arrcoc::serving::test {
namespace {

// An upstream whose stream begins and never ends.
class Endless {
 public:
  Endless()
      : upstream_([this](const Recording::Got&, httplib::Response& response) {
          response.set_chunked_content_provider(
              "text/event-stream", [this, begun = false](size_t, httplib::DataSink& sink) mutable {
                const std::string piece =
                    "data: {\"choices\": [{\"delta\": {\"content\": \"a\"}}]}\n\n";
                if (!std::exchange(begun, true)) return sink.write(piece.data(), piece.size());
                std::this_thread::sleep_for(std::chrono::milliseconds(20));
                return !over_ && sink.is_writable();
              });
        }) {}
  ~Endless() { over_ = true; }
  std::string url() const { return upstream_.url(); }

 private:
  std::atomic<bool> over_{false};
  Recording upstream_;
};

TEST(Shutdown, AStreamThatDoesNotEndIsEndedWithAnError) {
  Endless upstream;
  Process proxy({"--upstream", upstream.url(), "--shutdown-seconds", "1"});
  json body = question();
  body["stream"] = true;
  const std::string text = body.dump();
  Raw client(proxy.port());
  client.send(
      "POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Type: "
      "application/json\r\nContent-Length: " +
      std::to_string(text.size()) + "\r\n\r\n" + text);
  while (!client.readable()) std::this_thread::yield();
  proxy.signal(SIGTERM);
  const std::string reply = client.rest();
  EXPECT_NE(reply.find("\"content\": \"a\""), std::string::npos) << reply;
  EXPECT_NE(reply.find("shutting_down"), std::string::npos) << reply;
  EXPECT_EQ(proxy.wait(), 0);
}

// Files that never come: loading would take for ever.
TEST(Shutdown, LoadingIsLeft) {
  Folder folder;
  for (const auto& file : std::filesystem::directory_iterator(source("models/tiny"))) {
    const std::string copy = folder / file.path().filename().string();
    if (file.path().extension() != ".safetensors") {
      std::filesystem::copy(file.path(), copy);
    } else {
      ASSERT_EQ(::mkfifo(copy.c_str(), 0600), 0);
    }
  }
  const int port = arrcoc::test::free_port();
  Process server({"--tiny", folder / "", "--port", std::to_string(port)}, 0, 0, false);
  httplib::Client client("127.0.0.1", port);
  httplib::Result health = client.Get("/health");
  for (; !health; health = client.Get("/health")) std::this_thread::yield();
  EXPECT_EQ(json::parse(health->body)["status"], "loading");
  EXPECT_EQ(server.kill(SIGTERM), 0);
}

TEST(Shutdown, RequestsThatNeverArriveDoNotHoldItUp) {
  Process server({"--shutdown-seconds", "1"});
  Raw slow(server.port());
  slow.send(
      "POST /v1/relevance HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
      "Content-Length: 10\r\n\r\n{");
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  EXPECT_EQ(server.kill(SIGTERM), 0);
}

}  // namespace
}  // namespace arrcoc::serving::test
