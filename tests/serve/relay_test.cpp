// What the proxy leaves alone, what it refuses, and what it changes in each protocol.
#include "serve/relay/json_text.h"

#include <condition_variable>
#include <random>

#include "proxied.h"
#include "recording.h"
#include "serve/relay/dialect.h"
#include "serve/spare_threads.h"

namespace arrcoc::serving::test {
namespace {

std::string big_base64() { return to_base64(bytes_of(source("examples/pictures/receipt.jpg"))); }

TEST(SpareThreadsTest, EveryJobStartsAtOnceAndThreadsAreUsedAgain) {
  std::mutex mutex;
  std::condition_variable changed;
  int inside = 0;
  {
    SpareThreads threads;
    for (int round = 0; round < 3; ++round) {
      inside = 0;
      std::atomic<int> done{0};
      for (int i = 0; i < 8; ++i)
        threads.run([&] {
          {
            std::unique_lock lock(mutex);
            ++inside;
            changed.notify_all();
            changed.wait(lock, [&] { return inside >= 8; });  // all eight run side by side
          }
          ++done;
        });
      while (done < 8) std::this_thread::yield();
      EXPECT_LE(threads.count(), 16U);
    }
  }
}

// ---- The text of a request

json random_json(std::mt19937& rng, int depth) {
  const int kind = static_cast<int>(rng() % (depth > 3 ? 4 : 6));
  if (kind == 0) return nullptr;
  if (kind == 1) return static_cast<int>(rng() % 1000);
  if (kind == 2) return "a \"b\\ {[,]}\n" + std::to_string(rng() % 10);
  if (kind == 3) return rng() % 2 == 0;
  json out = kind == 4 ? json::array() : json::object();
  for (size_t n = rng() % 5; n > 0; --n) {
    if (kind == 4) {
      out.push_back(random_json(rng, depth + 1));
    } else {
      out["k/~" + std::to_string(rng() % 6) + "\""] = random_json(rng, depth + 1);
    }
  }
  return out;
}

void places_of(const json& value, const json::json_pointer& at,
               std::vector<json::json_pointer>& out) {
  if (!at.empty()) out.push_back(at);
  if (value.is_array())
    for (size_t i = 0; i < value.size(); ++i) places_of(value[i], at / i, out);
  if (value.is_object())
    for (const auto& [key, one] : value.items()) places_of(one, at / key, out);
}

TEST(JsonText, EditsAgreeWithTheParserAndKeepEveryOtherByte) {
  std::mt19937 rng(7);
  int edits = 0;
  for (int round = 0; round < 5000; ++round) {
    const json before = random_json(rng, 0);
    std::vector<json::json_pointer> places;
    places_of(before, json::json_pointer(), places);
    if (places.empty()) continue;
    const auto place = places[rng() % places.size()];
    const std::string text = before.dump(static_cast<int>(rng() % 3) - 1);
    json after = before;
    after[place] = {{"new", 1}};
    const std::string changed = edited(text, {{place, JsonEdit::How::replace, R"({"new":1})"}});
    ASSERT_EQ(json::parse(changed), after) << text << " at " << place.to_string();
    const std::string_view old = value_at(text, place);
    ASSERT_EQ(json::parse(old), before[place]);
    ASSERT_EQ(edited(changed, {{place, JsonEdit::How::replace, std::string(old)}}), text);
    if (before[place.parent_pointer()].is_object()) {
      after = before;
      after[place.parent_pointer()].erase(place.back());
      ASSERT_EQ(json::parse(edited(text, {{place, JsonEdit::How::remove, ""}})), after) << text;
    }
    ++edits;
  }
  EXPECT_GT(edits, 1000);
}

TEST(JsonText, TheLastOfTwoMembersCountsAndMissingPlacesAreErrors) {
  const std::string text = R"({"a": 1, "a": [2, 3], "\u0062": 4})";
  EXPECT_EQ(edited(text, {{json::json_pointer("/a/1"), JsonEdit::How::replace, "5"},
                          {json::json_pointer("/b"), JsonEdit::How::after, ",\"c\":6"}}),
            R"({"a": 1, "a": [2, 5], "\u0062": 4,"c":6})");
  EXPECT_EQ(edited(text, {{json::json_pointer("/a/0"), JsonEdit::How::remove, ""},
                          {json::json_pointer("/a/1"), JsonEdit::How::remove, ""}}),
            R"({"a": 1, "a": [], "\u0062": 4})");
  EXPECT_THROW(edited(text, {{json::json_pointer("/x"), JsonEdit::How::replace, "5"}}), Error);
  EXPECT_THROW(edited(text, {{json::json_pointer("/a"), JsonEdit::How::replace, "5"},
                             {json::json_pointer("/a/1"), JsonEdit::How::replace, "5"}}),
               Error);
}

// ---- What passes

TEST(Relay, PassesEveryPathMethodAndByte) {
  Recording upstream([](const Recording::Got& got, httplib::Response& response) {
    response.status = got.method == "DELETE" ? 404 : 201;
    response.set_header("X-Request-Id", "r-7");
    response.set_header("RateLimit-Remaining", "3");
    response.set_content("bytes \x01\xff of " + got.target, "application/x-any");
  });
  Running proxy(proxy_to(upstream.url()));
  auto client = proxy.client();
  client.set_url_encode(false);
  const std::string odd = "{\"no\": json \xff\x00" + std::string("\0x", 2);
  struct Case {
    std::string method, target, body, type;
  };
  const std::vector<Case> cases = {
      {"GET", "/v1/models?limit=3&after=a+b", "", ""},
      {"GET", "/anything/else", "", ""},
      {"POST", "/v1/embeddings", R"({"input" : "x", "f":1e-05})", "application/json"},
      {"POST", "/v1/audio/transcriptions",
       "--b\r\nContent-Disposition: form-data\r\n\r\nhi\r\n--b--",
       "multipart/form-data; boundary=b"},
      {"POST", "/v1/chat/completions", odd, "application/json"},
      {"POST", "/tokenize", R"({"prompt":"file:///etc/passwd is a file"})", "application/json"},
      {"PUT", "/v1/files/f", "abc", "text/plain"},
      {"PATCH", "/v1/files/f", "{}", "application/json"},
      {"DELETE", "/v1/responses/r", "", ""},
      {"OPTIONS", "/v1/responses", "", ""},
  };
  for (const Case& c : cases) {
    httplib::Request request;
    request.method = c.method;
    request.path = c.target;
    request.body = c.body;
    request.headers = {{"OpenAI-Organization", "org"}, {"X-Arrcoc-Budget", "77"}};
    if (!c.type.empty()) request.headers.emplace("Content-Type", c.type);
    const auto reply = client.send(request);
    ASSERT_TRUE(reply) << c.target;
    const Recording::Got got = upstream.last();
    EXPECT_EQ(got.method, c.method);
    EXPECT_EQ(got.target, c.target);
    EXPECT_EQ(got.body, c.body) << c.target;
    EXPECT_EQ(got.header("OpenAI-Organization"), "org");
    EXPECT_EQ(got.header("X-Arrcoc-Budget"), "");
    if (!c.type.empty()) EXPECT_EQ(got.header("Content-Type"), c.type);
    EXPECT_EQ(reply->status, c.method == "DELETE" ? 404 : 201);
    EXPECT_EQ(reply->body, "bytes \x01\xff of " + c.target);
    EXPECT_EQ(reply->get_header_value("Content-Type"), "application/x-any");
    EXPECT_EQ(reply->get_header_value("X-Request-Id"), "r-7");
    EXPECT_EQ(reply->get_header_value("RateLimit-Remaining"), "3");
  }
}

TEST(Relay, RequestsWithoutReadablePicturesPassByteForByte) {
  Recording upstream;
  Running proxy(proxy_to(upstream.url()));
  const std::string prompt(100 << 10, 'p');
  const std::vector<std::string> bodies = {
      R"({"model":"m","messages":[{"role":"user","content":"an image of a cat"}],"n":3,"logprobs":true,)"
      R"("top_logprobs":5,"temperature":1e-05})",
      R"({"model":"m", "messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":)"
      R"("https://example.com/a.png"}},{"type":"video_url","video_url":{"url":"https://x/y.mp4"}}]}]})",
      R"({"model":"m","messages":[{"role":"user","content":[{"type":"input_audio","input_audio":)"
      R"({"data":"UklGRg==","format":"wav"}},{"type":"image_url","image_url":"https://x/y.png"}]}]})",
      R"({"model":"m","messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":)"
      R"("data:image/png;base64,AAAA"}},{"type":"text","text":"broken picture"}]}]})",
      R"({"model":"m","messages":[{"role":"system","content":")" + prompt +
          R"("},{"role":"user","content":"image?"}],"tools":[{"type":"function","function":{"name":"f",)"
          R"("parameters":{"type":"object","properties":{"image":{"type":"string"}}}}}],)"
          R"("response_format":{"type":"json_schema","json_schema":{"name":"s","schema":{}}}})",
  };
  for (const std::string& body : bodies) {
    const auto reply = send(proxy, "/v1/chat/completions", body);
    ASSERT_TRUE(reply);
    EXPECT_EQ(reply->status, 200) << reply->body.substr(0, 200);
    EXPECT_EQ(upstream.last().body, body);
  }
  std::string many = R"({"model":"m","messages":[)";
  for (int i = 0; i < 300; ++i)
    many += R"({"role":"user","content":"image"},{"role":"assistant","content":"ok"},)";
  many += R"({"role":"user","content":"last image"}]})";
  EXPECT_EQ(send(proxy, "/v1/chat/completions", many)->status, 200);
  EXPECT_EQ(upstream.last().body, many);
  // Only our own object is taken out.
  send(proxy, "/v1/chat/completions",
       R"({"model":"m", "arrcoc" : {"budget":64}, "messages":[{"role":"user","content":"hi"}]})");
  EXPECT_EQ(upstream.last().body, R"({"model":"m",  "messages":[{"role":"user","content":"hi"}]})");
}

TEST(Relay, BypassPassesPicturesToo) {
  Recording upstream;
  Running proxy(proxy_to(upstream.url()));
  const std::string body = question().dump();
  const auto reply = send(proxy, "/v1/chat/completions", body, {{"X-Arrcoc-Bypass", "1"}});
  EXPECT_EQ(upstream.last().body, body);
  EXPECT_EQ(reply->body, R"({"id":"x-1","object":"any", "odd" : 1e-05 })");
  EXPECT_EQ(send(proxy, "/v1/chat/completions", body, {{"X-Arrcoc-Bypass", "maybe"}})->status, 400);
}

TEST(Relay, FilesAreNeverSentOn) {
  Recording upstream;
  Running proxy(proxy_to(upstream.url()));
  const std::vector<std::pair<std::string, std::string>> attacks = {
      {"/v1/chat/completions",
       R"({"messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"file:///etc/passwd"}}]}]})"},
      {"/v1/chat/completions",
       R"({"messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":" FILE:///etc/passwd"}}]}]})"},
      {"/v1/chat/completions",
       R"({"messages":[{"role":"user","content":[{"type":"im\u0061ge_url","image_url":{"url":"\u0066ile:///etc/passwd"}}]}]})"},
      {"/v1/chat/completions",
       R"({"messages":[{"role":"user","content":[{"type":"video_url","video_url":{"url":"file:///a.mp4"}}]}]})"},
      {"/v1/chat/completions", R"({"x": NaN, "image_url":{"url":"file:///etc/passwd"}})"},
      {"/v1/embeddings", R"({"image_url":{"url":"file:///etc/passwd"}})"},
      {"/v1/responses",
       R"({"input":[{"role":"user","content":[{"type":"input_image","image_url":"file:///etc/passwd"}]}]})"},
      {"/v1/messages",
       R"({"messages":[{"role":"user","content":[{"type":"image","source":{"type":"url","url":"file:///e"}}]}]})"},
  };
  for (const auto& [path, body] : attacks)
    for (const char* bypass : {"0", "1"}) {
      const auto reply = send(proxy, path, body, {{"X-Arrcoc-Bypass", bypass}});
      ASSERT_TRUE(reply);
      EXPECT_EQ(reply->status, 400) << body;
    }
  EXPECT_EQ(upstream.count(), 0U);
}

TEST(Relay, PagesOfOtherSitesCannotPostOtherTypes) {
  Recording upstream;
  Running proxy(proxy_to(upstream.url()));
  auto client = proxy.client();
  EXPECT_EQ(client.Post("/v1/x", {{"Origin", "http://evil.example"}}, "a=b", "text/plain")->status,
            403);
  EXPECT_EQ(upstream.count(), 0U);
  EXPECT_EQ(client.Post("/v1/x", {{"Origin", proxy.origin()}}, "a=b", "text/plain")->status, 200);
}

// The second piece is written only after the first has arrived at the client.
TEST(Relay, StreamsArePassedOnPieceByPiece) {
  std::mutex mutex;
  std::condition_variable changed;
  int arrived = 0;
  Recording upstream([&](const Recording::Got&, httplib::Response& response) {
    response.set_chunked_content_provider(
        "text/event-stream", [&, n = 0](size_t, httplib::DataSink& sink) mutable {
          {
            std::unique_lock lock(mutex);
            changed.wait(lock, [&] { return arrived >= n; });
          }
          if (n++ == 3) {
            sink.done();
            return true;
          }
          const std::string piece = "data: " + std::to_string(n) + "\n\n";
          return sink.write(piece.data(), piece.size());
        });
  });
  Running proxy(proxy_to(upstream.url()));
  httplib::Request request;
  request.method = "POST";
  request.path = "/v1/completions";
  request.body = R"({"stream":true})";
  request.set_header("Content-Type", "application/json");
  std::string all;
  request.content_receiver = [&](const char* data, size_t size, uint64_t, uint64_t) {
    all.append(data, size);
    const std::scoped_lock lock(mutex);
    arrived = static_cast<int>(std::count(all.begin(), all.end(), 'd'));
    changed.notify_all();
    return true;
  };
  ASSERT_TRUE(proxy.client().send(request));
  EXPECT_EQ(all, "data: 1\n\ndata: 2\n\ndata: 3\n\n");
}

// ---- What is changed

struct Spoken {
  const char* path;
  std::string request;             // with PICTURE for base64
  std::vector<std::string> reply;  // whole, or the lines of a stream
  bool stream = false;
};

std::string filled(std::string text) {
  const std::string mark = "PICTURE";
  for (size_t at = 0; (at = text.find(mark, at)) != std::string::npos;)
    text.replace(at, mark.size(), big_base64());
  return text;
}

std::vector<Spoken> spoken() {
  return {
      {"/v1/messages",
       R"({"model":"claude-sonnet-4","max_tokens":9,"messages":[{"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"image/jpeg","data":"PICTURE"},"cache_control":{"type":"ephemeral"}},{"type":"text","text":"What is the total?"}]}],"arrcoc":{"budget":200}})",
       {R"({"id":"msg_1","type":"message","content":[{"type":"text","text":"42"}],"stop_reason":"end_turn","usage":{"input_tokens":200,"output_tokens":2}})"}},
      {"/v1/messages",
       R"({"model":"claude-sonnet-4","stream":true,"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":[{"type":"image","source":{"type":"base64","media_type":"image/jpeg","data":"PICTURE"}}]},{"type":"text","text":"What is the total?"}]}],"arrcoc":{"budget":200}})",
       {"event: message_start",
        R"(data: {"type":"message_start","message":{"id":"msg_1","usage":{"input_tokens":200,"output_tokens":1}}})",
        "", "event: content_block_delta",
        R"(data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"42"}})",
        "", "event: message_delta",
        R"(data: {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":2}})",
        "", "event: message_stop", R"(data: {"type":"message_stop"})", ""},
       true},
      {"/v1/responses",
       R"({"model":"Qwen2.5-VL-7B","input":[{"role":"user","content":[{"type":"input_image","image_url":"data:image/jpeg;base64,PICTURE"},{"type":"input_text","text":"What is the total?"}]}],"arrcoc":{"budget":200}})",
       {R"({"id":"resp_1","object":"response","status":"completed","output":[{"type":"message","content":[{"type":"output_text","text":"42"}]}],"usage":{"input_tokens":300,"output_tokens":2}})"}},
      {"/v1/responses",
       R"({"model":"Qwen2.5-VL-7B","stream":true,"input":[{"role":"user","content":[{"type":"input_image","image_url":"data:image/jpeg;base64,PICTURE"},{"type":"input_text","text":"What is the total?"}]}],"arrcoc":{"budget":200}})",
       {"event: response.output_text.delta",
        R"(data: {"type":"response.output_text.delta","delta":"42"})", "",
        "event: response.completed",
        R"(data: {"type":"response.completed","response":{"id":"resp_1","status":"completed","output":[],"usage":{"input_tokens":300,"output_tokens":2}}})",
        ""},
       true},
      {"/api/chat",
       R"({"model":"qwen2.5vl","messages":[{"role":"user","content":"What is the total?","images":["PICTURE"]}],"stream":false,"arrcoc":{"budget":200}})",
       {R"({"model":"qwen2.5vl","message":{"role":"assistant","content":"42"},"done":true,"prompt_eval_count":200,"eval_count":2})"}},
      {"/api/generate",
       R"({"model":"qwen2.5vl","prompt":"What is the total?","images":["PICTURE"],"arrcoc":{"budget":200}})",
       {R"({"model":"qwen2.5vl","response":"4","done":false})",
        R"({"model":"qwen2.5vl","response":"2","done":true,"prompt_eval_count":200,"eval_count":2})"},
       true},
      {"/v1/chat/completions",
       R"({"model":"Qwen2.5-VL-7B","messages":[{"role":"user","content":[{"type":"image_url","image_url":"data:image/jpeg;base64,PICTURE","uuid":"u-1"},{"type":"text","text":"What is the total?"}]}],"n":2,"arrcoc":{"budget":200}})",
       {R"({"id":"c-1","choices":[{"index":0,"message":{"content":"42"}},{"index":1,"message":{"content":"43"}}],"usage":{"prompt_tokens":200,"completion_tokens":2,"prompt_tokens_details":{"multimodal_tokens":{"image":171}}}})"}},
  };
}

TEST(Relay, EveryProtocolHasItsPicturesCut) {
  for (const Spoken& one : spoken()) {
    Recording upstream([&](const Recording::Got&, httplib::Response& response) {
      std::string all;
      for (const std::string& line : one.reply) all += line + (one.stream ? "\n" : "");
      const bool events = std::string(one.path).rfind("/v1", 0) == 0;
      response.set_content(all, !one.stream ? "application/json"
                                : events    ? "text/event-stream"
                                            : "application/x-ndjson");
    });
    Running proxy(proxy_to(upstream.url()));
    const std::string body = filled(one.request);
    const auto reply = send(proxy, one.path, body);
    ASSERT_TRUE(reply);
    ASSERT_EQ(reply->status, 200) << one.path << reply->body.substr(0, 300);
    const Recording::Got got = upstream.last();
    EXPECT_EQ(got.target, one.path);
    const json sent = json::parse(got.body);
    EXPECT_FALSE(sent.contains("arrcoc"));
    EXPECT_GT(picture_sizes(sent).size(), 1U) << one.path;
    EXPECT_EQ(got.body.find("\"uuid\""), std::string::npos) << "one name for several views";
    size_t marks = 0;
    for (size_t at = 0; (at = got.body.find("cache_control", at)) != std::string::npos; ++at)
      ++marks;
    EXPECT_EQ(marks, body.find("cache_control") != std::string::npos ? 1U : 0U);
    const Family family = family_of(sent["model"]);
    const int64_t cost = tokens_in(family, sent);
    EXPECT_LE(cost, 200) << one.path;
    EXPECT_EQ(reply->get_header_value("X-Arrcoc-Image-Tokens").find(std::to_string(cost) + "/"),
              0U);
    const size_t at = reply->body.find("\"arrcoc\"");
    ASSERT_NE(at, std::string::npos) << one.path << reply->body.substr(0, 500);
    EXPECT_NE(reply->body.find("\"answer\":\"42\""), std::string::npos) << one.path;
    const int64_t said = one.request.find("\"n\":2") != std::string::npos ? 171 : cost;
    EXPECT_NE(reply->body.find("\"tokens\":" + std::to_string(said)), std::string::npos)
        << one.path << reply->body.substr(0, 400);
    if (one.stream) {
      EXPECT_EQ(std::count(reply->body.begin(), reply->body.end(), '\n'),
                static_cast<int64_t>(one.reply.size()))
          << "no line more or less";
    }
  }
}

TEST(Relay, SeveralViewsThatAreRefusedBecomeOneWithinTheBudget) {
  Recording upstream([&](const Recording::Got& got, httplib::Response& response) {
    const json sent = json::parse(got.body);
    if (picture_sizes(sent).size() > 1) {
      response.status = 400;
      response.set_content(R"({"error":"one picture only"})", "application/json");
      return;
    }
    response.set_content(R"({"id":"c-1","choices":[{"index":0,"message":{"content":"42"}}]})",
                         "application/json");
  });
  Running proxy(proxy_to(upstream.url()));
  json body = question();
  body["model"] = "Qwen2.5-VL-7B";
  body["arrcoc"] = {{"budget", 150}};
  const json reply = proxy.ask(body);
  EXPECT_EQ(upstream.count("POST", "/v1/chat/completions"), 2U);
  const json sent = json::parse(upstream.last().body);
  EXPECT_EQ(picture_sizes(sent).size(), 1U);
  EXPECT_LE(tokens_in(family_of("Qwen2.5-VL"), sent), 150);
  EXPECT_EQ(reply["arrcoc"]["conversation"]["tokens"], tokens_in(family_of("Qwen2.5-VL"), sent));
  EXPECT_EQ(reply["arrcoc"]["fallbacks"].size(), 1U) << "named in the reply";
  EXPECT_EQ(proxy.metric("arrcoc_fallbacks_total{kind=\"one_view\"}"), "1");
}

TEST(Relay, StandardKnobsSetTheBudget) {
  Recording upstream([](const Recording::Got&, httplib::Response& response) {
    response.set_content(R"({"id":"c-1","choices":[{"index":0,"message":{"content":"42"}}]})",
                         "application/json");
  });
  Options options = proxy_to(upstream.url());
  options.upstream_budgets = {"Qwen*=300"};
  Running proxy(options);
  const auto budget = [&](json body, const httplib::Headers& headers = {}) {
    body["model"] = "Qwen2.5-VL-7B";
    const auto reply = send(proxy, "/v1/chat/completions", body.dump(), headers);
    EXPECT_EQ(reply->status, 200) << reply->body.substr(0, 200);
    const json sent = json::parse(upstream.last().body);
    const json said = json::parse(reply->body)["arrcoc"];
    EXPECT_LE(tokens_in(family_of("Qwen2.5-VL"), sent), said["budget"].get<int64_t>());
    return said["budget"].get<int>();
  };
  json body = question();
  EXPECT_EQ(budget(body), 300) << "of the model";
  body["messages"][0]["content"][0]["image_url"]["detail"] = "low";
  EXPECT_EQ(budget(body), 64);
  body["mm_processor_kwargs"] = {{"max_pixels", 28 * 28 * 150}};
  const int most = budget(body);
  EXPECT_LE(most, 150);
  EXPECT_GE(most, 120) << "what the picture itself would cost then";
  const json sent = json::parse(upstream.last().body);
  EXPECT_EQ(sent["mm_processor_kwargs"]["max_pixels"], 28 * 28 * 150);
  EXPECT_GT(picture_sizes(sent).size(), 1U) << "closer views instead of a blurred whole";
  EXPECT_EQ(budget(body, {{"X-Arrcoc-Budget", "120"}}), 120);
  body["arrcoc"] = {{"budget", 90}};
  EXPECT_EQ(budget(body, {{"X-Arrcoc-Budget", "120"}}), 90);
  EXPECT_EQ(
      send(proxy, "/v1/chat/completions", question().dump(), {{"X-Arrcoc-Budget", "lots"}})->status,
      400);
}

TEST(Relay, SaysWhatWasCutAndKeepsTheOriginalForAWhile) {
  Recording upstream([](const Recording::Got&, httplib::Response& response) {
    response.set_content(R"({"id":"c-1","choices":[{"index":0,"message":{"content":"42"}}]})",
                         "application/json");
  });
  Running proxy(proxy_to(upstream.url()));
  json body = question();
  body["model"] = "Qwen2.5-VL-7B";
  body["arrcoc"] = {{"budget", 100}};
  const json said = proxy.ask(body)["arrcoc"]["conversation"]["views"][0];
  EXPECT_FALSE(said["whole"]);
  int64_t sum = 0;
  for (const json& view : said["views"]) sum += view["tokens"].get<int64_t>();
  EXPECT_EQ(sum, said["tokens"]);
  const std::string path = "/v1/pictures/" + said["picture"].get<std::string>();
  auto client = proxy.client();
  const auto whole = client.Get(path);
  ASSERT_EQ(whole->status, 200);
  const Picture original = media::decode(bytes_of(source("examples/pictures/receipt.jpg")));
  const Picture got = media::decode({whole->body.begin(), whole->body.end()});
  EXPECT_EQ(got.width(), original.width());
  EXPECT_EQ(got.height(), original.height());
  const auto part = client.Get(path + "?box=10,20,110,70");
  const Picture crop = media::decode({part->body.begin(), part->body.end()});
  EXPECT_EQ(crop.width(), 100);
  EXPECT_EQ(crop.height(), 50);
  for (const char* bad : {"?box=1,2,3", "?box=-1,0,5,5", "?box=0,0,1e9,5", "?box=5,5,5,9", "?box=x",
                          "?box=1,2,nan,9", "?box=1,2,30,40,50"})
    EXPECT_EQ(client.Get(path + bad)->status, 400) << bad;
  EXPECT_EQ(client.Get("/v1/pictures/00ff")->status, 404);
}

// Requests that the official clients made (tests/web/record.mjs).
TEST(Relay, RequestsOfOfficialClientsPassByteForByte) {
  Recording upstream;
  Running proxy(proxy_to(upstream.url()));
  std::ifstream corpus(std::string(ARRCOC_TEST_DATA) + "/requests.jsonl");
  int count = 0;
  for (std::string line; std::getline(corpus, line); ++count) {
    const json one = json::parse(line);
    const std::string body = one["body"];
    const auto reply = send(proxy, one["path"], body);
    ASSERT_TRUE(reply) << one["name"];
    EXPECT_EQ(reply->status, 200) << one["name"] << reply->body.substr(0, 200);
    EXPECT_EQ(upstream.last().body, body) << one["name"];
    EXPECT_EQ(upstream.last().target, one["path"]) << one["name"];
    EXPECT_EQ(reply->body, R"({"id":"x-1","object":"any", "odd" : 1e-05 })");
  }
  EXPECT_GE(count, 20);
}

}  // namespace
}  // namespace arrcoc::serving::test
