// What strangers and odd upstreams may try with the proxy.
#include "process.h"
#include "proxied.h"
#include "raw.h"
#include "recording.h"
#include "serve/relay/dialect.h"

namespace arrcoc::serving::test {
namespace {

const std::string kReply = R"({"id":"c-1","choices":[{"index":0,"message":{"content":"42"}}]})";

void chat(const Recording::Got&, httplib::Response& response) {
  response.set_content(kReply, "application/json");
}

TEST(FileUrls, AreKnownHoweverTheyAreSpelled) {
  for (const char* url : {"file:///x", "FILE:///x", "fILE:/x", " file:x", "fi\nle:///x",
                          "\x01"
                          "file:///x",
                          "f\ti\tl\te\t:///x"})
    EXPECT_TRUE(is_file_url(url)) << url;
  for (const char* url :
       {"profile:///x", "https://file:80/", "a file: b", "", "data:image/png;base64,"})
    EXPECT_FALSE(is_file_url(url)) << url;
  for (const char* text :
       {R"("fILE:///x")", R"("fi\nle:///x")", R"("\u0066ile:///x")", R"("fil\u0065:///x")",
        R"("file\u003a///x")", R"("f\u0069\u006c\u0065:///x")", R"("file\t:///x")"})
    EXPECT_TRUE(spells_file(text)) << text;
  for (const char* text : {R"({"role":"user","content":"nothing here: \n\n"})",
                           R"({"type":"x","size":5})", "https://example.com:80/"})
    EXPECT_FALSE(spells_file(text)) << text;
}

TEST(RelayHostile, NoSpellingOfAFileIsSentOn) {
  Recording upstream(chat);
  Running proxy(proxy_to(upstream.url()));
  const auto with = [](const std::string& url) {
    return R"({"model":"m","messages":[{"role":"user","content":[{"type":"video_url","video_url":{"url":")" +
           url + R"("}}]}]})";
  };
  for (const std::string& url :
       {"fILE:///etc/passwd", R"(fi\nle:///etc/passwd)", R"(\u0066ile:///etc/passwd)",
        R"(\u0001file:///etc/passwd)", R"(file\u003a///etc/passwd)"})
    EXPECT_EQ(send(proxy, "/v1/chat/completions", with(url))->status, 400) << url;
  EXPECT_EQ(
      send(proxy, "/v1/chat/completions", R"({"x":NaN,"video_url":{"url":"FILE:///etc/passwd"}})")
          ->status,
      400);
  std::string wide;  // UTF-16
  for (const char c : with("file:///etc/passwd")) wide += {c, '\0'};
  EXPECT_EQ(send(proxy, "/v1/chat/completions", wide)->status, 400);
  EXPECT_EQ(upstream.count("POST", "/v1/chat/completions"), 0U);
}

TEST(RelayHostile, AnAllowedFileOpensNoDoor) {
  Folder folder;
  std::filesystem::copy_file(source("examples/pictures/receipt.jpg"), folder / "ok.jpg");
  Recording upstream(chat);
  Options options = proxy_to(upstream.url());
  options.file_root = {folder / ""};
  options.max_pictures = 2;
  Running proxy(options);
  const std::string ok = "file://" + (folder / "ok.jpg");
  const auto ask = [&](const json& parts) {
    return proxy.post(
        "/v1/chat/completions",
        {{"model", "Qwen2.5-VL-7B"}, {"messages", {{{"role", "user"}, {"content", parts}}}}});
  };
  const auto good = ask({image(ok), text("What is the total?")});
  ASSERT_EQ(good->status, 200) << good->body.substr(0, 200);
  EXPECT_EQ(upstream.last().body.find("file:"), std::string::npos) << "its pixels go, not its name";
  const size_t before = upstream.count("POST", "/v1/chat/completions");
  const json film = {{"type", "video_url"}, {"video_url", {{"url", "file:///etc/passwd"}}}};
  EXPECT_EQ(ask({image(ok), film})->status, 400);
  EXPECT_EQ(ask({image(ok), image("FILE:///etc/passwd")})->status, 400);
  EXPECT_EQ(ask({image("file:///etc/passwd"), image(ok), image(ok)})->status, 400);
  EXPECT_EQ(upstream.count("POST", "/v1/chat/completions"), before);
}

TEST(RelayHostile, StreamsAreNotHeldBackByCompression) {
  Recording upstream([](const Recording::Got&, httplib::Response& response) {
    response.set_chunked_content_provider(
        "text/event-stream; charset=utf-8", [](size_t, httplib::DataSink& sink) {
          const std::string all = "data: {\"x\":1}\n\ndata: [DONE]\n\n";
          sink.write(all.data(), all.size());
          sink.done();
          return true;
        });
  });
  Running proxy(proxy_to(upstream.url()));
  auto client = proxy.client();
  client.set_decompress(false);
  const auto reply =
      client.Post("/v1/completions", {{"Accept-Encoding", "gzip, br"}}, "{}", "application/json");
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->get_header_value("Content-Encoding"), "");
  EXPECT_EQ(reply->body, "data: {\"x\":1}\n\ndata: [DONE]\n\n");
}

TEST(RelayHostile, PartsOfFilesAreCutOnce) {
  Recording upstream([](const Recording::Got& got, httplib::Response& response) {
    response.status = 206;
    response.set_header("Content-Range", "bytes 2-5/10");
    response.set_content(got.header("Range") == "bytes=2-5" ? "2345" : "?", "text/plain");
  });
  Running proxy(proxy_to(upstream.url()));
  const auto reply = proxy.client().Get("/v1/files/f/content", {{"Range", "bytes=2-5"}});
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->body, "2345");
}

TEST(RelayHostile, BodiesWhereNoneBelongsEndTheConnection) {
  Recording upstream(chat);
  Running proxy(proxy_to(upstream.url()));
  Raw raw(proxy.port());
  const std::string hidden =
      "POST /v1/hidden HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n";
  raw.send("OPTIONS /v1/x HTTP/1.1\r\nHost: localhost\r\nContent-Length: " +
           std::to_string(hidden.size()) + "\r\n\r\n" + hidden);
  raw.rest();
  EXPECT_EQ(upstream.count("POST", "/v1/hidden"), 0U);
}

TEST(RelayHostile, TargetsStayBelowTheUpstream) {
  Recording upstream(chat);
  Running proxy(proxy_to(upstream.url() + "/tenant/v1"));
  for (const char* target :
       {"/v1/../../admin", "/v1/%2e%2e/%2E%2e/admin", "/v1/..", "http://other/x"}) {
    Raw raw(proxy.port());
    raw.send(std::string("GET ") + target +
             " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    EXPECT_NE(raw.rest().find(" 400 "), std::string::npos) << target;
  }
  EXPECT_EQ(upstream.count(), 0U);
  EXPECT_EQ(proxy.client().Get("/v1/files/a..b")->status, 200);
  EXPECT_EQ(upstream.last().target, "/tenant/v1/files/a..b");
}

TEST(RelayHostile, ManyMessagesAndPicturesAreRefusedAtOnce) {
  Recording upstream(chat);
  Running proxy(proxy_to(upstream.url()));
  std::string many = R"({"image":0,"messages":[{})";
  for (int i = 0; i < 150000; ++i) many += ",{}";
  EXPECT_EQ(send(proxy, "/v1/chat/completions", many + "]}")->status, 400);
  EXPECT_EQ(send(proxy, "/v1/chat/completions", many + "]}", {{"X-Arrcoc-Bypass", "1"}})->status,
            200);
}

TEST(RelayHostile, LearnedCountsDoNotRunAway) {
  int64_t reckoned = 0;
  Recording upstream([&](const Recording::Got& got, httplib::Response& response) {
    reckoned = tokens_in(family_named("unknown"), json::parse(got.body));
    json reply = json::parse(kReply);
    reply["usage"] = {{"prompt_tokens", 9},
                      {"completion_tokens", 1},
                      {"prompt_tokens_details", {{"image_tokens", 2 * reckoned}}}};
    response.set_content(reply.dump(), "application/json");
  });
  Options options = proxy_to(upstream.url());
  options.upstream_family = "unknown";
  Running proxy(options);
  json talk = {{{"role", "user"}, {"content", {image(picture_url()), text("What is the total?")}}}};
  for (int turn = 0; turn < 6; ++turn) {
    proxy.ask({{"model", "new"}, {"messages", talk}, {"arrcoc", {{"budget", 200}}}});
    talk.push_back({{"role", "assistant"}, {"content", "42"}});
    talk.push_back({{"role", "user"}, {"content", "And?"}});
  }
  proxy.ask({{"model", "new"},
             {"messages",
              {{{"role", "user"}, {"content", {image(picture_url("street.jpg")), text("What?")}}}}},
             {"arrcoc", {{"budget", 200}}}});
  EXPECT_LE(2 * reckoned, 230) << "it has learned that pictures cost twice as much";
  EXPECT_GE(2 * reckoned, 100) << "and not fifty times";
}

// Ollama and Anthropic say only how long the whole prompt was.
TEST(RelayHostile, CountsAreLearnedFromWholePromptsToo) {
  int64_t reckoned = 0;
  Recording upstream([&](const Recording::Got& got, httplib::Response& response) {
    const json body = json::parse(got.body, nullptr, false);
    reckoned = tokens_in(family_named("unknown"), body);
    response.set_content(
        json{{"id", "m"},
             {"type", "message"},
             {"content", {{{"type", "text"}, {"text", "ok"}}}},
             {"usage", {{"input_tokens", 10}, {"cache_read_input_tokens", 2 * reckoned + 40}}}}
            .dump(),
        "application/json");
  });
  Options options = proxy_to(upstream.url());
  options.upstream_family = "unknown";
  Running proxy(options);
  std::vector<int64_t> costs;
  for (const char* name : {"receipt.jpg", "street.jpg", "chart.jpg", "zoo.jpg"}) {
    const std::string data = to_base64(bytes_of(source(std::string("examples/pictures/") + name)));
    const json picture = {
        {"type", "image"},
        {"source", {{"type", "base64"}, {"media_type", "image/jpeg"}, {"data", data}}}};
    ASSERT_EQ(proxy
                  .post("/v1/messages",
                        {{"model", "new"},
                         {"arrcoc", {{"budget", 300}}},
                         {"messages", {{{"role", "user"}, {"content", {picture, text("What?")}}}}}})
                  ->status,
              200);
    costs.push_back(reckoned);
  }
  EXPECT_GT(costs.front(), 200) << "nothing is known yet";
  EXPECT_LT(costs.back(), 190) << "pictures cost twice as much there";
  EXPECT_GT(costs.back(), 90);
}

TEST(RelayHostile, CountingSeesWhatWillBeSentAndSavesNothing) {
  Recording upstream([](const Recording::Got& got, httplib::Response& response) {
    response.set_content(
        got.target.find("count") != std::string::npos
            ? R"({"input_tokens":5})"
            : R"({"id":"m","type":"message","content":[{"type":"text","text":"ok"}]})",
        "application/json");
  });
  Running proxy(proxy_to(upstream.url()));
  const std::string data = to_base64(bytes_of(source("examples/pictures/receipt.jpg")));
  const json picture = {
      {"type", "image"},
      {"source", {{"type", "base64"}, {"media_type", "image/jpeg"}, {"data", data}}}};
  json body = {
      {"model", "claude-sonnet-4-5"},
      {"arrcoc", {{"budget", 200}}},
      {"messages", {{{"role", "user"}, {"content", {picture, text("What is the total?")}}}}}};
  proxy.post("/v1/messages", body);
  body["messages"].push_back({{"role", "assistant"}, {"content", "ok"}});
  body["messages"].push_back({{"role", "user"}, {"content", "What is the date?"}});
  proxy.post("/v1/messages/count_tokens?beta=true", body);
  const json counted = json::parse(upstream.last().body)["messages"];
  proxy.post("/v1/messages", body);
  EXPECT_EQ(json::parse(upstream.last().body)["messages"], counted);
  const json report = json::parse(proxy.client().Get("/v1/savings")->body);
  EXPECT_EQ(report["total"]["requests"], 2) << "counting is not asking";
}

// A stream that runs when the server is told to stop comes to its end.
TEST(RelayHostile, StreamsFinishWhenTheServerStops) {
  std::atomic<bool> go{false}, begun{false};
  Recording upstream([&](const Recording::Got&, httplib::Response& response) {
    response.set_chunked_content_provider(
        "text/event-stream", [&, n = 0](size_t, httplib::DataSink& sink) mutable {
          while (n > 0 && !go) std::this_thread::yield();
          const std::string piece = "data: " + std::to_string(n) + "\n\n";
          sink.write(piece.data(), piece.size());
          if (n++ == 3) sink.done();
          return true;
        });
  });
  Running proxy(proxy_to(upstream.url()));
  std::string all;
  std::thread client([&] {
    httplib::Request request;
    request.method = "POST";
    request.path = "/v1/completions";
    request.body = "{}";
    request.set_header("Content-Type", "application/json");
    request.content_receiver = [&](const char* bytes, size_t size, uint64_t, uint64_t) {
      all.append(bytes, size);
      begun = true;
      return true;
    };
    proxy.client().send(request);
  });
  while (!begun) std::this_thread::yield();
  std::thread stopping([&] { proxy.server().stop(); });
  std::this_thread::sleep_for(
      std::chrono::milliseconds(600));  // longer than a look at the connection
  go = true;
  client.join();
  stopping.join();
  EXPECT_EQ(all, "data: 0\n\ndata: 1\n\ndata: 2\n\ndata: 3\n\n");
}

}  // namespace
}  // namespace arrcoc::serving::test
