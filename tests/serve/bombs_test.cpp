// Pictures that are made to hurt, and decoders that are killed: they cost their own request alone.
#include <algorithm>
#include <chrono>
#include <thread>

#include "media/bombs.h"
#include "process.h"
#include "processes.h"

namespace arrcoc::serving::test {
namespace {

using arrcoc::test::children_named;
using arrcoc::test::peak_kb;

constexpr const char* kChat = "/v1/chat/completions";
constexpr const char* kProgram = "arrcoc-decode";

std::string file_url(const pictures::Blob& file) {
  return "data:image/png;base64," + to_base64(file);
}

// A picture that the server has not seen: it has to be decoded, whatever was before.
json honest(int number) {
  return question("What is the total?",
                  file_url(pictures::encoded(pictures::noise(320, 240, 1000 + number), ".png")));
}

// Clients that ask again and again, and watch over the server's health, until they are stopped.
class Bystanders {
 public:
  Bystanders(const Process& server, int clients) {
    for (int c = 0; c < clients; ++c)
      threads_.emplace_back([&server, this, c] {
        for (int i = 0; !stopping_; ++i) {
          const auto reply = server.post(kChat, honest(c * 10000 + i));
          if (!reply || reply->status != 200)
            ADD_FAILURE() << (reply ? reply->body : "no reply");
          else
            ++answered_;
          ++rounds_;
        }
      });
    threads_.emplace_back([&server, this] {
      while (!stopping_) {
        const auto begun = std::chrono::steady_clock::now();
        httplib::Client client("127.0.0.1", server.port());
        client.set_read_timeout(300);
        const auto reply = client.Get("/health");
        if (!reply || reply->status != 200) ADD_FAILURE() << "not healthy";
        waits_.push_back(std::chrono::steady_clock::now() - begun);
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
      }
    });
  }
  ~Bystanders() {
    stopping_ = true;
    for (std::thread& thread : threads_) thread.join();
    // The middle one: a busy machine may hold up some of them.
    std::nth_element(waits_.begin(), waits_.begin() + waits_.size() / 2, waits_.end());
    if (!waits_.empty()) {
      EXPECT_LT(waits_[waits_.size() / 2], std::chrono::seconds(1)) << "health";
    }
  }
  int answered() const { return answered_; }
  // Returns when `count` more requests are over.
  void wait_for(int count) const {
    const int until = rounds_ + count;
    while (rounds_ < until) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }

 private:
  std::atomic<bool> stopping_{false};
  std::atomic<int> answered_{0}, rounds_{0};
  std::vector<std::chrono::duration<double>> waits_;  // of the thread that asks for health
  std::vector<std::thread> threads_;
};

TEST(Bombs, CostTheirRequestAlone) {
  const std::vector<pictures::Bomb> all = pictures::bombs();
  Process server({"--decode-seconds", "1", "--workers", "2", "--cache-mb", "32"});
  EXPECT_EQ(server.post(kChat, honest(0))->status, 200);
  const long before = peak_kb(server.pid());
  {
    const Bystanders bystanders(server, 1);
    for (const pictures::Bomb& bomb : all) {
      const auto reply = server.post(kChat, question("What?", file_url(bomb.file)));
      ASSERT_TRUE(reply) << bomb.name;
      if (bomb.fate == pictures::Fate::harmless) {
        EXPECT_EQ(reply->status, 200) << bomb.name << reply->body;
      } else {
        EXPECT_TRUE(reply->status == 400 || reply->status == 413) << bomb.name << reply->body;
        EXPECT_EQ(json::parse(reply->body)["error"]["type"], "invalid_request_error") << bomb.name;
      }
    }
    bystanders.wait_for(2);
    EXPECT_GE(bystanders.answered(), 2);
  }
  if (!arrcoc::test::kSanitized) {
    EXPECT_LT(peak_kb(server.pid()) - before, 200 << 10);
  }
  EXPECT_GE(std::stoi(metric_at(server.port(), "arrcoc_decoder_restarts_total")), 2);
  EXPECT_EQ(server.kill(SIGTERM), 0);
}

TEST(Bombs, KilledDecodersLoseNoHonestRequest) {
  Process server({"--workers", "2"});
  int kills = 0;
  {
    const Bystanders bystanders(server, 3);
    // A picture is tried twice: between two kills everybody gets another answer.
    for (int round = 0; round < 6; ++round) {
      bystanders.wait_for(6);
      for (const pid_t process : children_named(kProgram, server.pid())) {
        ::kill(process, SIGKILL), ++kills;
        break;
      }
    }
    bystanders.wait_for(3);
  }
  EXPECT_GE(kills, 3);
  EXPECT_GE(std::stoi(metric_at(server.port(), "arrcoc_decoder_restarts_total")), 1);
  EXPECT_EQ(server.kill(SIGTERM), 0);
}

// Whoever hangs up takes the decoding of his picture with him.
TEST(Bombs, DecodingEndsWhenTheClientIsGone) {
  Process server({"--workers", "1", "--decode-seconds", "600", "--request-seconds", "600"});
  {
    httplib::Client client("127.0.0.1", server.port());
    client.set_read_timeout(1);
    const json body = question("What?", file_url(pictures::pdf_of_forms(18, 10)));
    EXPECT_FALSE(client.Post(kChat, body.dump(), "application/json")) << "it would take hours";
  }
  // There is one worker: this answer comes when it is free again.
  EXPECT_EQ(server.post(kChat, honest(0))->status, 200);
  EXPECT_EQ(server.kill(SIGTERM), 0);
}

TEST(Bombs, DecodersEndWithTheServer) {
  Process server;
  EXPECT_EQ(server.post(kChat, honest(0))->status, 200);
  const std::vector<pid_t> processes = children_named(kProgram, server.pid());
  ASSERT_GE(processes.size(), 1U);
  server.kill(SIGKILL);
  for (const pid_t process : processes)
    while (::kill(process, 0) == 0 &&
           arrcoc::test::status_line(process, "State").find('Z') == std::string::npos)
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
}

TEST(Bombs, WithoutTheDecodingProgramNothingIsServed) {
  const Folder folder;
  std::filesystem::copy_file(ARRCOC_BINARY, folder / "arrcoc");
  const std::string command = (folder / "arrcoc") + " serve --port 0 --tiny " +
                              source("models/tiny") + " > " + (folder / "out") + " 2>&1";
  EXPECT_NE(std::system(command.c_str()), 0);
  const auto words = bytes_of(folder / "out");
  const std::string line(words.begin(), words.end());
  EXPECT_NE(line.find("arrcoc-decode"), std::string::npos) << line;
  EXPECT_EQ(std::count(line.begin(), line.end(), '\n'), 1) << line;
}

}  // namespace
}  // namespace arrcoc::serving::test
