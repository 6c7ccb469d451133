// Clients that keep a server busy with nothing.
#include <sys/resource.h>

#include <thread>

#include "process.h"
#include "raw.h"

namespace arrcoc::serving::test {
namespace {

const std::string kHealth = "GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
const std::string kPost =
    "POST /v1/relevance HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n";

const std::string kSlow = kPost + "Content-Length: 10\r\n\r\n";
const std::string kShort =
    "GET /openapi.json HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";

std::string status_of(const std::string& reply) {
  return reply.substr(0, std::min<size_t>(reply.size(), 12));
}

// What one connection gets.
std::string told(int port, const std::string& request) {
  Raw raw(port);
  raw.send(request);
  return raw.rest();
}

std::vector<std::unique_ptr<Raw>> crowd(int port, int count, const std::string& words) {
  std::vector<std::unique_ptr<Raw>> out;
  for (int i = 0; i < count; ++i) {
    out.push_back(std::make_unique<Raw>(port));
    if (!words.empty()) out.back()->send(words);
  }
  return out;
}

// So many requests that run, waiting for their bodies, where no more may. A probe counts too until
// its thread has ended: only several refusals in a row say that all of them run.
std::vector<std::unique_ptr<Raw>> slow_bodies(int port, size_t count) {
  std::vector<std::unique_ptr<Raw>> out;
  for (int refused = 0; refused < 5;) {
    std::erase_if(out, [](const auto& one) { return one->readable(); });  // was one too many
    if (out.size() < count) {
      refused = 0;
      out.push_back(std::move(crowd(port, 1, kSlow).front()));
    } else {
      refused = status_of(told(port, kShort)) == "HTTP/1.1 503" ? refused + 1 : 0;
    }
  }
  return out;
}

Options few(int connections) {
  Options options = usual_options();
  options.connections = connections;
  options.connections_per_address = connections;
  return options;
}

// Far more than may wait: none of them costs a thread, and the newest is always heard.
TEST(Floods, SilentAndHalfSpokenConnectionsKeepNobodyOut) {
  Running server;
  for (const std::string& words : {std::string(), std::string("GET / HTTP/1.1\r\nX: ")}) {
    const auto silent = crowd(server.port(), 400, words);
    EXPECT_EQ(status_of(told(server.port(), kHealth)), "HTTP/1.1 200");
    EXPECT_EQ(server.post("/v1/chat/completions", question())->status, 200);
    EXPECT_LE(std::stoi(server.metric("arrcoc_connections")), 2 * Options().connections);
  }
}

// Requests whose bodies never come hold all threads that there are; health has some of its own.
TEST(Floods, MoreRequestsThanMayRunAreToldSoAndHealthIsNot) {
  Running server(few(4));
  const auto slow = slow_bodies(server.port(), 4);
  const std::string reply = told(server.port(), kShort);
  EXPECT_EQ(status_of(reply), "HTTP/1.1 503");
  EXPECT_NE(reply.find("Retry-After"), std::string::npos);
  EXPECT_NE(reply.find("too_many_connections"), std::string::npos);
  EXPECT_EQ(status_of(told(server.port(), kHealth)), "HTTP/1.1 200");
}

TEST(Floods, OneAddressCannotTakeAll) {
  Options options = few(16);
  options.connections_per_address = 2;
  Running server(options);
  const auto slow = slow_bodies(server.port(), 2);
  EXPECT_EQ(status_of(told(server.port(), kShort)), "HTTP/1.1 503");
  EXPECT_EQ(status_of(told(server.port(), kHealth)), "HTTP/1.1 200");
}

// 4,000 parts of a file made 119 MB of 30 kB.
TEST(Floods, RangesAreNotServed) {
  Running server;
  std::string ranges = "0-1";
  while (ranges.size() < 7900) ranges += ",0-" + std::to_string(ranges.size());
  const std::string get = "GET /page.js HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n";
  const std::string all = told(server.port(), get + "\r\n");
  const std::string parts = told(server.port(), get + "Range: bytes=" + ranges + "\r\n\r\n");
  EXPECT_EQ(status_of(parts), "HTTP/1.1 200");
  EXPECT_EQ(parts.size(), all.size());
}

TEST(Floods, HeadsThatTwoReadersMightReadDifferentlyAreRefused) {
  Running server;
  EXPECT_EQ(status_of(told(server.port(), kPost + "Content-Length: 2\r\n"
                                                  "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n")),
            "HTTP/1.1 400");
  std::string many = "GET /health HTTP/1.1\r\nHost: localhost\r\n";
  for (int i = 0; i < 200; ++i) many += "X-" + std::to_string(i) + ": 1\r\n";
  EXPECT_EQ(status_of(told(server.port(), many + "\r\n")), "HTTP/1.1 431");
}

// A broken chunk is neither a body nor followed by another request; no other method has one.
TEST(Floods, BrokenChunksEndTheConnection) {
  Running server;
  const std::string chunked = kPost + "Transfer-Encoding: chunked\r\n\r\n";
  for (const std::string& body : {std::string("2\r\n{}X\r\n"), std::string("+2\r\n{}\r\n0\r\n\r\n"),
                                  "2;" + std::string(100'000, 'a')}) {
    const std::string reply = told(server.port(), chunked + body + kHealth);
    EXPECT_NE(status_of(reply), "HTTP/1.1 200") << body.substr(0, 20);
    EXPECT_EQ(reply.find("HTTP/1.1", 5), std::string::npos) << "one request, one reply";
  }
  EXPECT_EQ(status_of(told(server.port(), "PRI /v1/x HTTP/1.1\r\nHost: localhost\r\n\r\n")),
            "HTTP/1.1 405");
  const std::string bare = told(server.port(),
                                "POST /v1/relevance HTTP/1.1\r\nHost: localhost\r\n"
                                "Content-Type: application/json\r\n\r\n" +
                                    kHealth);
  EXPECT_EQ(status_of(bare), "HTTP/1.1 400");
  EXPECT_NE(bare.find("HTTP/1.1 200"), std::string::npos) << "what follows is a request of its own";
}

// Several requests in one breath are answered in order.
TEST(Floods, RequestsMayComeInOneBreath) {
  Running server;
  const std::string get = "GET /version HTTP/1.1\r\nHost: localhost\r\n\r\n";
  const std::string reply = told(server.port(), get + "\r\n" + get + kHealth);
  size_t count = 0;
  for (size_t at = 0; (at = reply.find("HTTP/1.1 200", at)) != std::string::npos; ++at) ++count;
  EXPECT_EQ(count, 3U) << reply;
}

// A reader that takes a byte now and then must not hold a reply for ever, nor a stop.
TEST(Floods, SlowReadersDoNotHoldUpTheEnd) {
  Process server({"--shutdown-seconds", "1"});
  Raw reader(server.port(), 1024);
  std::string many;
  for (int i = 0; i < 400; ++i) many += "GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n";
  reader.send(many);
  while (!reader.readable()) std::this_thread::yield();
  EXPECT_EQ(server.kill(SIGTERM), 0);
}

// No descriptor is left for a while: the server goes on afterwards.
TEST(Floods, RunningOutOfDescriptorsIsSurvived) {
  Process server({}, 0, 64);
  {
    const auto silent = crowd(server.port(), 200, "");
    EXPECT_EQ(status_of(told(server.port(), kHealth)), "HTTP/1.1 200");
  }
  EXPECT_EQ(server.post("/v1/chat/completions", question())->status, 200);
}

}  // namespace
}  // namespace arrcoc::serving::test
