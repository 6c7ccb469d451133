// What strangers send on purpose.
#include <thread>

#include "double.h"
#include "raw.h"
#include "support.h"

namespace arrcoc::serving::test {
namespace {

std::string status_of(const std::string& reply) {
  return reply.substr(0, std::min<size_t>(reply.size(), 12));
}

const char* const kHead =
    "POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n";

Options small_limits() {
  Options options = usual_options();
  options.max_body_mb = 1;
  options.max_megapixels = 2;
  options.read_seconds = 1;
  options.idle_seconds = 1;
  return options;
}

// Every byte comes in time, but there is no end: a time-out that counts from the last byte would
// never strike. The loop ends when the server has had enough.
TEST(Hostile, DrippingClientsAreCutOffAtTheDeadline) {
  Running server(small_limits());
  Raw head(server.port()), body(server.port());
  head.send("GET / HTTP/1.1\r\nX: ");
  body.send(std::string(kHead) + "Content-Length: 100000\r\n\r\n{");
  for (int i = 0; i < 1200 && !(head.readable() && body.readable()); ++i) {
    if (!head.readable()) head.send("a");
    if (!body.readable()) body.send(" ");
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  EXPECT_TRUE(head.readable() && body.readable());
  EXPECT_EQ(status_of(body.rest()), "HTTP/1.1 408");
  EXPECT_EQ(server.client().Get("/health")->status, 200);
}

TEST(Hostile, LargeBodiesAreRefusedBeforeTheyAreRead) {
  Running server(small_limits());
  Raw announced(server.port());
  announced.send(std::string(kHead) + "Content-Length: 99999999999999999999\r\n\r\n");
  EXPECT_EQ(status_of(announced.rest()), "HTTP/1.1 413");
  Raw negative(server.port());
  negative.send(std::string(kHead) + "Content-Length: -1\r\n\r\n");
  EXPECT_EQ(status_of(negative.rest()), "HTTP/1.1 400");
  Raw chunked(server.port());
  chunked.send(std::string(kHead) + "Transfer-Encoding: chunked\r\n\r\n");
  const std::string piece = "10000\r\n" + std::string(0x10000, ' ') + "\r\n";
  for (int i = 0; i < 40 && chunked.send(piece); ++i) continue;
  EXPECT_EQ(status_of(chunked.rest()), "HTTP/1.1 413");
}

TEST(Hostile, UnreadBodiesAreNotTakenForTheNextRequest) {
  Options options = small_limits();
  options.api_key = "k";
  Running server(options);
  Raw raw(server.port());
  const std::string inner = "GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n";
  raw.send(std::string(kHead) + "Content-Length: " + std::to_string(inner.size()) + "\r\n\r\n" +
           inner);
  const std::string reply = raw.rest();
  EXPECT_EQ(status_of(reply), "HTTP/1.1 401");
  EXPECT_EQ(reply.find("HTTP/1.1", 5), std::string::npos) << "one request, one reply";
}

TEST(Hostile, PicturesThatUnfoldAreRefused) {
  Running server(small_limits());
  // 30,000 x 30,000 grey pixels of nothing: a few bytes of PNG header are enough to be refused.
  const std::vector<uint8_t> png = {0x89, 'P',  'N', 'G', '\r', '\n', 0x1a, '\n', 0,    0,    0,
                                    13,   'I',  'H', 'D', 'R',  0,    0,    0x75, 0x30, 0,    0,
                                    0x75, 0x30, 8,   0,   0,    0,    0,    0x1f, 0x27, 0x4c, 0x49};
  const auto reply = server.post("/v1/chat/completions", question("What?", png_url(png)));
  EXPECT_TRUE(reply->status == 413 || reply->status == 400) << reply->body;
  EXPECT_NE(error_code(reply), "internal");
}

TEST(Hostile, GzipBombsStopAtTheLimit) {
  Running server(small_limits());
  httplib::Client client("127.0.0.1", server.port());
  client.set_compress(true);
  client.set_read_timeout(60);
  // 20 MB of blanks compress to 20 kB.
  const auto reply =
      client.Post("/v1/chat/completions", std::string(20 << 20, ' '), "application/json");
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->status, 413);
}

TEST(Hostile, JsonThatIsDeepOrBrokenIsRefused) {
  Running server;
  auto client = server.client();
  const std::string valid = question().dump();
  const std::vector<std::string> bodies = {"",
                                           "{",
                                           "null",
                                           "[]",
                                           "\"x\"",
                                           "{\"messages\": 1e999}",
                                           std::string(100000, '['),
                                           "{\"messages\": \"\xff\xfe\"}",
                                           valid.substr(0, valid.size() / 2),
                                           std::string(1000, '\0')};
  for (const std::string& body : bodies) {
    const auto reply = client.Post("/v1/chat/completions", body, "application/json");
    ASSERT_TRUE(reply) << body.substr(0, 40);
    EXPECT_EQ(reply->status, 400) << body.substr(0, 40) << reply->body;
    EXPECT_EQ(json::parse(reply->body)["error"]["type"], "invalid_request_error");
  }
  EXPECT_EQ(client.Post("/v1/chat/completions", valid, "text/plain")->status, 415)
      << "no CORS-free posts";
  EXPECT_EQ(client.Post("/v1/chat/completions", valid, "multipart/form-data; boundary=x")->status,
            415);
}

TEST(Hostile, BrokenRequestsGetAnErrorAndTheServerGoesOn) {
  Running server(small_limits());
  const std::vector<std::string> requests = {
      "\r\n\r\n",
      "GET\r\n\r\n",
      "GET / HTTP/9.9\r\n\r\n",
      "GET /" + std::string(10000, 'a') + " HTTP/1.1\r\n\r\n",
      "GET / HTTP/1.1\r\nX: " + std::string(10000, 'a') + "\r\n\r\n",
      std::string(3000, '\xff') + "\r\n\r\n",
      "GET /%00%0d%0aSet-Cookie:x HTTP/1.1\r\nHost: localhost\r\n\r\n",
      std::string(kHead) + "Content-Length: 5\r\n\r\n{",
      std::string(kHead) + "Transfer-Encoding: chunked\r\n\r\nzz\r\n"};
  for (const std::string& request : requests) {
    Raw raw(server.port());
    raw.send(request);
    const std::string reply = raw.rest();
    EXPECT_TRUE(reply.empty() || ((reply[9] == '4' || status_of(reply) == "HTTP/1.1 505") &&
                                  reply.find("Set-Cookie") == std::string::npos))
        << request.substr(0, 30) << " -> " << reply.substr(0, 200);
  }
  EXPECT_EQ(server.client().Get("/health")->status, 200);
}

// Nothing that a client writes becomes a header, neither of the reply nor of the upstream's
// request.
TEST(Hostile, HeadersCannotBeInjected) {
  Double upstream({});
  Options options = small_limits();
  options.upstream = upstream.url();
  Running proxy(options), server(small_limits());
  json body = question("What?\r\nX-Evil: 1");
  body["model"] = "m\r\nX-Evil: 1\r\n\r\nHTTP/1.1 200 OK";
  for (const Running* one : {&proxy, &server}) {
    const auto reply = one->post("/v1/chat/completions", body);
    ASSERT_TRUE(reply);
    EXPECT_FALSE(reply->has_header("X-Evil"));
    for (const auto& [name, value] : reply->headers)
      EXPECT_EQ(value.find_first_of("\r\n"), std::string::npos) << name;
  }
  const std::string text = json{{"model", "m"}, {"messages", body["messages"]}}.dump();
  for (const char* gap : {"\r", "\n", "\r\n ", "%0d%0a", "\x0b"}) {
    Raw raw(proxy.port());
    raw.send(std::string(kHead) + "Authorization: Bearer k" + gap +
             "X-Evil: 1\r\nConnection: close\r\nContent-Length: " + std::to_string(text.size()) +
             "\r\n\r\n" + text);
    const std::string reply = raw.rest();
    const bool words = gap[0] == '%';  // nothing but characters
    EXPECT_EQ(status_of(reply), words ? "HTTP/1.1 200" : "HTTP/1.1 400") << reply.substr(0, 300);
    EXPECT_EQ(reply.find("\nX-Evil"), std::string::npos) << reply.substr(0, 300);
    EXPECT_EQ(upstream.headers().count("X-Evil"), 0U) << gap;
    // The double is httplib, which unescapes what it got.
    if (words) EXPECT_EQ(upstream.key(), "Bearer k\r\nX-Evil: 1") << "values arrive as they are";
  }
  EXPECT_EQ(proxy.client().Get("/health")->status, 200);
}

// No request makes the server open a connection, or read a file that it may not.
TEST(Hostile, PicturesAreNeverFetched) {
  std::atomic<int> fetched{0};
  httplib::Server neighbour;
  neighbour.Get(".*", [&](const auto&, auto& response) {
    ++fetched;
    response.set_content("secret", "image/png");
  });
  const int port = neighbour.bind_to_any_port("127.0.0.1");
  std::thread listening([&] { neighbour.listen_after_bind(); });
  Double upstream({});
  Options proxied = small_limits(), rooted = small_limits();
  proxied.upstream = upstream.url();
  Folder folder;
  rooted.file_root = {folder / ""};
  Running proxy(proxied), server(rooted);
  const std::string there = "127.0.0.1:" + std::to_string(port);
  const std::vector<std::string> urls = {"http://" + there + "/x.png",
                                         "HTTP://" + there + "/x.png",
                                         " http://" + there,
                                         "https://" + there,
                                         "//" + there + "/x.png",
                                         "ftp://" + there + "/x.png",
                                         "gopher://" + there + "/_GET /",
                                         "http://[::1]:" + std::to_string(port) + "/",
                                         "http://169.254.169.254/latest/",
                                         "file://" + there + "/x.png",
                                         "file:///etc/passwd",
                                         "file:///proc/self/environ",
                                         "file://" + (folder / "../../etc/passwd"),
                                         "FILE:///etc/passwd",
                                         "data:text/html,<img src=http://" + there + ">",
                                         "data:image/svg+xml;base64,PHN2Zy8+",
                                         "javascript:fetch('http://" + there + "')",
                                         ""};
  int sent = 0;
  for (const std::string& url : urls) {
    for (const Running* one : {&server, &proxy}) {
      json body = question("What?", url);
      const auto chat = one->post("/v1/chat/completions", body);
      ASSERT_TRUE(chat) << url;
      // Pictures elsewhere are the upstream's affair; files never are.
      const bool file = url.rfind("file:", 0) == 0 || url.rfind("FILE:", 0) == 0;
      if (one == &server || file) EXPECT_EQ(chat->status, 400) << url << " " << chat->body;
      EXPECT_EQ(chat->body.find("root:"), std::string::npos);
      if (file) EXPECT_EQ(upstream.requests(), sent) << "nor is it sent on";
      sent = upstream.requests();
    }
    const auto look = server.post("/v1/relevance", {{"image", url}, {"question", "What?"}});
    EXPECT_EQ(look->status, 400) << url;
  }
  neighbour.stop();
  listening.join();
  EXPECT_EQ(fetched, 0);
}

}  // namespace
}  // namespace arrcoc::serving::test
