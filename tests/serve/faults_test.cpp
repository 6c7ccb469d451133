// What happens to real processes when something under them breaks while they are busy.
#include <atomic>
#include <mutex>
#include <set>
#include <thread>

#include "media/pictures.h"
#include "other.h"
#include "process.h"

namespace arrcoc::serving::test {
namespace {

// Clients that ask until told to stop, half of them as streams.
class Crowd {
 public:
  using Asked = std::function<void(const httplib::Result& reply, bool stream)>;
  Crowd(const Process& server, int clients, Asked asked) : left_(clients) {
    for (int i = 0; i < clients; ++i)
      threads_.emplace_back([this, &server, i, asked] {
        for (int n = 0; !stop_; ++n) {
          json body = question("What is entry " + std::to_string(100 * i + n) + "?");
          body["stream"] = i % 2 == 1;
          body["arrcoc"] = {{"budget", 32}};
          const auto reply = server.post("/v1/chat/completions", body);
          if (reply && reply->status == 200) ++answers_;
          asked(reply, i % 2 == 1);
          if (!reply) break;
        }
        --left_;
      });
  }
  ~Crowd() { join(); }
  void wait_for_answers(int count) const {
    while (answers_ < count && left_ > 0) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  void join() {
    stop_ = true;
    for (std::thread& thread : threads_)
      if (thread.joinable()) thread.join();
  }

 private:
  std::atomic<bool> stop_{false};
  std::atomic<int> answers_{0};
  std::atomic<int> left_;  // clients
  std::vector<std::thread> threads_;
};

bool whole_stream(const std::string& body) {
  const auto parts = events(body);
  return !parts.empty() &&
         (parts.back() == "[DONE]" || json::parse(parts.back()).contains("error"));
}

TEST(Faults, SigtermUnderLoadCutsNoAnswerShort) {
  Process server;
  std::atomic<int> cut{0}, odd{0};
  Crowd crowd(server, 8, [&](const httplib::Result& reply, bool stream) {
    if (!reply) return;  // came after the end
    if (reply->status != 200 && reply->status != 503) ++odd;
    if (reply->status == 200 && stream) cut += !whole_stream(reply->body);
    if (reply->status == 200 && !stream) cut += !json::accept(reply->body);
  });
  crowd.wait_for_answers(8);
  server.signal(SIGTERM);
  EXPECT_EQ(server.wait(), 0);
  crowd.join();
  EXPECT_EQ(cut, 0);
  EXPECT_EQ(odd, 0);
}

TEST(Faults, KillUnderLoadLosesNothingThatWasAcknowledged) {
  Folder folder;
  const std::string file = folder / "log.db";
  std::mutex mutex;
  std::set<std::string> acknowledged;
  {
    Process server({"--log", file, "--log-share", "1"});
    Crowd crowd(server, 6, [&](const httplib::Result& reply, bool stream) {
      if (!reply || reply->status != 200 || stream) return;
      const json said = json::parse(reply->body, nullptr, false);
      const std::scoped_lock lock(mutex);
      if (said.is_object() && said["arrcoc"]["logged"]) acknowledged.insert(said["id"]);
    });
    crowd.wait_for_answers(10);
    EXPECT_EQ(server.kill(SIGKILL), 128 + SIGKILL);
    crowd.join();
  }
  EXPECT_FALSE(acknowledged.empty());
  EXPECT_EQ(Other{file}("PRAGMA integrity_check"), "ok");
  {
    const ExampleLog log(file);
    for (const std::string& id : acknowledged) EXPECT_EQ(log.show(id).id, id);
  }
  Process again({"--log", file, "--log-share", "1"});
  const std::string id = *acknowledged.begin();
  EXPECT_EQ(again.post("/v1/feedback", {{"id", id}, {"rating", "down"}})->status, 200);
  const auto reply = again.post("/v1/chat/completions", question());
  EXPECT_TRUE(json::parse(reply->body)["arrcoc"]["logged"]);
  EXPECT_EQ(again.kill(SIGTERM), 0);
}

TEST(Faults, AFullDiskCostsExamplesNotAnswers) {
  Folder folder;
  const std::string file = folder / "log.db";
  { ExampleLog fresh(file); }
  // Decoded pictures are shared memory, which has the limits of files too.
  const json noisy =
      question("What?", png_url(pictures::encoded(pictures::noise(320, 240, 1), ".png")));
  std::set<std::string> acknowledged, rated;
  bool refused = false;
  {
    Process server({"--log", file, "--log-share", "1", "--max-megapixels", "0.3"}, 2 << 20);
    std::string last;
    for (int i = 0; i < 40 && !refused; ++i) {
      const auto reply = server.post("/v1/chat/completions", noisy);
      ASSERT_TRUE(reply);
      ASSERT_EQ(reply->status, 200) << reply->body;
      const json said = json::parse(reply->body);
      last = said["id"];
      refused = !said["arrcoc"]["logged"].get<bool>();
      if (!refused) acknowledged.insert(last);
    }
    EXPECT_TRUE(refused) << "the disk was never full";
    EXPECT_FALSE(acknowledged.empty());
    for (const std::string& id : acknowledged) {
      const int status = server.post("/v1/feedback", {{"id", id}, {"rating", "up"}})->status;
      EXPECT_TRUE(status == 200 || status == 503 || status == 429) << status;  // many at once
      if (status == 200) rated.insert(id);
    }
    httplib::Client client("127.0.0.1", server.port());
    EXPECT_EQ(client.Get("/health")->status, 200);
    const std::string metrics = client.Get("/metrics")->body;
    EXPECT_NE(metrics.find("\narrcoc_log_failures_total "), std::string::npos);
    EXPECT_EQ(server.kill(SIGTERM), 0);
  }
  EXPECT_EQ(Other{file}("PRAGMA integrity_check"), "ok");
  const ExampleLog log(file);
  for (const std::string& id : acknowledged) EXPECT_EQ(log.show(id).id, id);
  for (const std::string& id : rated) EXPECT_EQ(log.show(id).rating, Rating::up);
}

TEST(Faults, AnUpstreamThatIsKilledUnderLoadIsSaidSo) {
  auto upstream = std::make_unique<Process>();
  Process proxy({"--upstream", upstream->url(), "--upstream-retries", "0"});
  std::atomic<int> odd{0}, cut{0};
  Crowd crowd(proxy, 6, [&](const httplib::Result& reply, bool stream) {
    if (!reply) {
      ++cut;
      return;
    }
    if (reply->status == 200) {
      cut += stream ? !whole_stream(reply->body) : !json::accept(reply->body);
    } else {
      odd += reply->status != 502 && reply->status != 503 && reply->status != 504;
    }
  });
  crowd.wait_for_answers(6);
  upstream->kill(SIGKILL);
  upstream.reset();
  crowd.join();
  EXPECT_EQ(cut, 0) << "every stream ends with [DONE] or with an error event";
  EXPECT_EQ(odd, 0);
  const auto after = proxy.post("/v1/chat/completions", question());
  ASSERT_TRUE(after);
  EXPECT_EQ(after->status, 502);
  httplib::Client client("127.0.0.1", proxy.port());
  EXPECT_EQ(client.Get("/health")->status, 200);
  EXPECT_EQ(proxy.kill(SIGTERM), 0);
}

}  // namespace
}  // namespace arrcoc::serving::test
