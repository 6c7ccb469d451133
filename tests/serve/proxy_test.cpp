// The proxy in front of a strict double and in front of a real `arrcoc serve`.
#include <ATen/ATen.h>

#include "ask/models.h"
#include "double.h"
#include "process.h"
#include "proxied.h"
#include "serve/upstream_model.h"

namespace arrcoc::serving::test {
namespace {

json qwen_question(int budget = 0) {
  json body = question();
  body["model"] = "Qwen2.5-VL-double";
  body["temperature"] = 0.5;
  if (budget > 0) body["arrcoc"] = {{"budget", budget}};
  return body;
}

TEST(Proxy, SendsAGlanceAndCropsUnderTheBudget) {
  Double upstream({});
  Running proxy(proxy_to(upstream.url()));
  for (int budget : {40, 100, 250}) {
    const json reply = proxy.ask(qwen_question(budget));
    EXPECT_EQ(reply["choices"][0]["message"]["content"], "forty two");
    EXPECT_LE(upstream.picture_tokens(), budget);
    EXPECT_EQ(reply["usage"]["image_tokens"]["kept"], upstream.picture_tokens())
        << "the formula is exact";
    EXPECT_EQ(reply["usage"]["image_tokens"]["native"], 16 * 32);
    EXPECT_FALSE(reply["usage"]["image_tokens"].contains("estimated"));
    EXPECT_EQ(reply["usage"]["prompt_tokens"], upstream.picture_tokens() + 20)
        << "the upstream's own number";
    EXPECT_GT(upstream.pictures(), 1);
    const json& extra = reply["arrcoc"];
    EXPECT_EQ(extra["family"], "qwen2-vl");
    EXPECT_EQ(extra["answer"], "forty two");
    EXPECT_EQ(extra["model"], "Qwen2.5-VL-double");
    EXPECT_EQ(extra["budget"], budget);
    EXPECT_EQ(extra["tokens"], upstream.picture_tokens());
    EXPECT_FALSE(extra.contains("confidence")) << "nobody knows";
  }
  json body = qwen_question(100);
  body["arrcoc"]["map"] = true;
  const json shown = proxy.ask(body)["arrcoc"];
  EXPECT_EQ(shown["crops"].size(), upstream.pictures());
  EXPECT_TRUE(shown["pictures"][0].contains("homunculus"));
  EXPECT_EQ(upstream.last()["temperature"], 0.5);
  EXPECT_FALSE(upstream.last().contains("arrcoc")) << "strict servers know no extension";
}

TEST(Proxy, LeavesAloneWhatFitsAndWhatHasNoPicture) {
  Double upstream({});
  Running proxy(proxy_to(upstream.url()));
  const json original = qwen_question();
  json reply = proxy.ask(qwen_question(2000));
  EXPECT_EQ(upstream.last()["messages"], original["messages"]);
  EXPECT_EQ(reply["usage"]["image_tokens"]["kept"], reply["usage"]["image_tokens"]["native"]);
  json words = {{"model", "x"}, {"messages", {{{"role", "user"}, {"content", "hello"}}}}};
  reply = proxy.ask(words);
  EXPECT_EQ(upstream.last(), words);
  EXPECT_FALSE(reply.contains("arrcoc"));
  EXPECT_FALSE(reply["usage"].contains("image_tokens"));
}

TEST(Proxy, PassesStreamsThroughAndExtendsTheirUsage) {
  Double upstream({});
  Running proxy(proxy_to(upstream.url()));
  json body = qwen_question(100);
  body["stream"] = true;
  body["stream_options"] = {{"include_usage", true}};
  const auto reply = proxy.post("/v1/chat/completions", body);
  ASSERT_EQ(reply->status, 200);
  const auto parts = events(reply->body);
  ASSERT_EQ(parts.size(), 6U) << reply->body;
  std::string said;
  for (int i = 0; i < 3; ++i)
    said += json::parse(parts[i])["choices"][0]["delta"]["content"].get<std::string>();
  EXPECT_EQ(said, "forty two");
  EXPECT_FALSE(json::parse(parts[3]).contains("arrcoc"));
  const json last = json::parse(parts[4]), &usage = last["usage"];
  EXPECT_EQ(usage["image_tokens"]["kept"], upstream.picture_tokens());
  EXPECT_LE(usage["image_tokens"]["kept"], 100);
  EXPECT_EQ(last["arrcoc"]["answer"], "forty two");
  EXPECT_EQ(last["arrcoc"]["tokens"], usage["image_tokens"]["kept"]);
  EXPECT_EQ(parts[5], "[DONE]");
}

TEST(Proxy, StreamsTheMapBeforeTheAnswer) {
  Double upstream({});
  Running proxy(proxy_to(upstream.url()));
  json body = qwen_question(100);
  body["stream"] = true;
  body["arrcoc"]["map"] = true;
  const auto parts = events(proxy.post("/v1/chat/completions", body)->body);
  ASSERT_EQ(parts.size(), 6U);
  const json look = json::parse(parts[0]), last = json::parse(parts[4]);
  EXPECT_TRUE(look["choices"].empty());
  EXPECT_FALSE(look["arrcoc"].contains("answer"));
  EXPECT_EQ(look["arrcoc"]["map"], last["arrcoc"]["map"]);
  EXPECT_EQ(look["arrcoc"]["crops"], last["arrcoc"]["crops"]);
  EXPECT_EQ(last["arrcoc"]["answer"], "forty two");
}

TEST(Proxy, SaysWhatWasSentAlsoWithoutUsage) {
  Double upstream({.no_usage = true});
  Running proxy(proxy_to(upstream.url()));
  json body = qwen_question(100);
  json extra = proxy.ask(body)["arrcoc"];
  EXPECT_EQ(extra["tokens"], upstream.picture_tokens());
  body["stream"] = true;
  const auto parts = events(proxy.post("/v1/chat/completions", body)->body);
  ASSERT_EQ(parts.size(), 5U);
  extra = json::parse(parts[3])["arrcoc"];
  EXPECT_EQ(extra["tokens"], upstream.picture_tokens());
  EXPECT_EQ(extra["answer"], "forty two");
}

TEST(Proxy, SharesTheBudgetAmongThePicturesOfAConversation) {
  Double upstream({.reports_images = true});
  Running proxy(proxy_to(upstream.url()));
  json body = qwen_question(120);
  body["messages"].push_back({{"role", "assistant"}, {"content", "A receipt."}});
  body["messages"].push_back(
      {{"role", "user"}, {"content", {text("And this?"), image(picture_url("street.jpg"))}}});
  const json reply = proxy.ask(body);
  EXPECT_LE(upstream.picture_tokens(), 120);
  ASSERT_EQ(reply["arrcoc"]["pictures"].size(), 2U);
  int sum = 0;
  for (const json& picture : reply["arrcoc"]["pictures"]) sum += picture["tokens"].get<int>();
  EXPECT_LE(reply["arrcoc"]["pictures"][0]["tokens"], 30) << "of an earlier turn";
  EXPECT_EQ(sum, upstream.picture_tokens());
  const json sent = upstream.last()["messages"];
  EXPECT_EQ(sent[1], body["messages"][1]) << "words stay where they were";
  EXPECT_EQ(sent[2]["content"][0], text("And this?"));
}

// The upstream behind the interface of every model.
TEST(UpstreamModelTest, ReadsAsAnyModel) {
  {
    Double upstream({});
    Metrics metrics;
    const Upstream server(proxy_to(upstream.url()), metrics);
    const auto model =
        std::make_shared<UpstreamModel>(server, "Qwen2.5-VL-double", family_named("qwen2-vl"));
    auto bundle = std::make_shared<Bundle>();
    bundle->looker = given_map({2, 2, 1, 1, {0.1F, 0.2F, 0.3F, 0.9F}});
    const Asker asker(bundle, model);
    AskOptions options;
    options.budget = "60";
    const Picture picture = media::decode(bytes_of(source("examples/pictures/receipt.jpg")));
    const Answer answer = asker.ask(picture, "What is the total?", options);
    EXPECT_EQ(answer.text, "forty two");
    EXPECT_EQ(answer.tokens, upstream.picture_tokens());
    EXPECT_LE(answer.tokens, 60);
    EXPECT_EQ(answer.model, "Qwen2.5-VL-double");
    EXPECT_EQ(answer.from().answer().reply.prompt_tokens, upstream.picture_tokens() + 20);
    PictureTokens whole;
    whole.picture = &picture;
    whole.allocation.crops = {{{}, picture.width(), picture.height(), 512}};
    Reading reading;
    reading.pictures = {whole};
    reading.question = "What is the total?";
    reading.answer = false;
    const int before = upstream.requests();
    const Reply counted = read_one(*model, reading);
    EXPECT_EQ(counted.kept, std::vector<int64_t>{512});
    EXPECT_GT(counted.prompt_tokens, 512);
    EXPECT_EQ(upstream.requests(), before) << "counting sends nothing";
  }
}

TEST(Proxy, TriesAgainAfterFailures) {
  Double upstream({.failures = 2});
  Running proxy(proxy_to(upstream.url()));
  proxy.ask(qwen_question(100));
  EXPECT_EQ(upstream.requests(), 3);
  EXPECT_EQ(proxy.metric("arrcoc_upstream_retries_total"), "2");
}

TEST(Proxy, SaysWhatIsWrongWithTheUpstream) {
  {
    Double upstream({.always = 500});
    Running proxy(proxy_to(upstream.url()));
    const auto reply = proxy.post("/v1/chat/completions", qwen_question(100));
    EXPECT_EQ(reply->status, 502);
    EXPECT_EQ(error_code(reply), "upstream_failed");
  }
  {
    Double upstream({.always = 429});
    Running proxy(proxy_to(upstream.url()));
    const auto reply = proxy.post("/v1/chat/completions", qwen_question(100));
    EXPECT_EQ(reply->status, 429) << "its own words are passed on";
    EXPECT_EQ(error_code(reply), "double");
  }
  {
    Double upstream({.silent = true});
    Options options = proxy_to(upstream.url());
    options.upstream_seconds = 0.5;
    Running proxy(options);
    const auto reply = proxy.post("/v1/chat/completions", qwen_question(100));
    EXPECT_EQ(reply->status, 504);
  }
  {
    Double upstream({.deep = true});
    Running proxy(proxy_to(upstream.url()));
    const auto reply = proxy.post("/v1/chat/completions", qwen_question(100));
    EXPECT_EQ(reply->status, 502) << "nested deeper than any stack";
  }
  Running proxy(proxy_to("http://127.0.0.1:1"));
  const auto reply = proxy.post("/v1/chat/completions", qwen_question(100));
  EXPECT_EQ(reply->status, 502);
  EXPECT_EQ(error_code(reply), "upstream_unreachable");
}

TEST(Proxy, AnUpstreamThatDiesInTheMiddleIsSaidSo) {
  Double upstream({.dies = true});
  Running proxy(proxy_to(upstream.url()));
  json body = qwen_question(100);
  body["stream"] = true;
  const auto reply = proxy.post("/v1/chat/completions", body);
  ASSERT_TRUE(reply);
  const auto parts = events(reply->body);
  ASSERT_GE(parts.size(), 2U) << reply->body;
  EXPECT_EQ(json::parse(parts.back())["error"]["code"], "upstream_died");
  EXPECT_EQ(reply->body.find("[DONE]"), std::string::npos);
}

TEST(Proxy, LogsAnswersUnderIdsOfItsOwn) {
  Folder folder;
  Double upstream({});
  Options options = proxy_to(upstream.url());
  options.log = folder / "log.db";
  options.log_share = 1;
  Running proxy(options);
  const json first = proxy.ask(qwen_question(100)), second = proxy.ask(qwen_question(100));
  EXPECT_EQ(first["id"], second["id"]) << "this upstream repeats itself";
  EXPECT_NE(first["arrcoc"]["id"], second["arrcoc"]["id"]);
  json body = qwen_question(100);
  body["stream"] = true;
  const auto streamed = proxy.post("/v1/chat/completions", body);
  ASSERT_TRUE(streamed);
  EXPECT_EQ(events(streamed->body).back(), "[DONE]");
  ExampleLog log(folder / "log.db");
  EXPECT_EQ(log.count(), 3) << "none was lost because another has its id";
  const std::string id = first["arrcoc"]["id"];
  EXPECT_EQ(log.show(id).answer, "forty two");
  const auto rate = [&](const json& name) {
    return proxy.post("/v1/feedback", {{"id", name}, {"rating", "up"}})->status;
  };
  EXPECT_EQ(rate(first["id"]), 404) << "others know that one, or choose it";
  EXPECT_EQ(rate(id), 200);
}

TEST(Proxy, ClientsThatHangUpEndTheirStreams) {
  Double upstream({.silent = true});
  Options options = proxy_to(upstream.url());
  options.upstream_seconds = 3600;  // whoever waited for that would not end in time
  Running proxy(options);
  httplib::Client impatient("127.0.0.1", proxy.port());
  impatient.set_read_timeout(3);
  EXPECT_FALSE(
      impatient.Post("/v1/chat/completions", qwen_question(100).dump(), "application/json"));
  proxy.server().stop();  // returns although the upstream never answers
}

TEST(Proxy, KeepsKeysApart) {
  Double upstream({});
  Options options = proxy_to(upstream.url());
  options.api_key = "ours";
  options.upstream_key = "theirs";
  Running proxy(options);
  auto client = proxy.client();
  const auto reply = client.Post("/v1/chat/completions", {{"Authorization", "Bearer ours"}},
                                 qwen_question(100).dump(), "application/json");
  EXPECT_EQ(reply->status, 200) << reply->body;
  EXPECT_EQ(upstream.key(), "Bearer theirs");
  EXPECT_EQ(proxy.lines().find("ours") + proxy.lines().find("theirs"), 2 * std::string::npos);
}

TEST(Proxy, BudgetsFollowTheModelAndImpossibleOnesAreSaidSo) {
  Double upstream({});
  Options options = proxy_to(upstream.url());
  options.upstream_budgets = {"*=300", "Qwen*=70"};
  Running proxy(options);
  EXPECT_EQ(proxy.ask(qwen_question())["arrcoc"]["budget"], 70);
  EXPECT_LE(upstream.picture_tokens(), 70);
  json body = qwen_question(100);
  body["model"] = "llava-1.5-7b";
  const json reply = proxy.ask(body);
  EXPECT_EQ(reply["usage"]["image_tokens"]["kept"], 576) << "whatever its size";
  EXPECT_EQ(reply["arrcoc"]["fallbacks"].size(), 1U);
}

TEST(Proxy, WhatTheUpstreamReportsBeatsTheEstimate) {
  Double upstream({.reports_images = true});
  Running proxy(proxy_to(upstream.url()));
  json body = qwen_question(100);
  body["model"] = "some-new-model";
  const json reply = proxy.ask(body);
  EXPECT_EQ(reply["usage"]["image_tokens"]["kept"], upstream.picture_tokens());
  EXPECT_FALSE(reply["usage"]["image_tokens"].contains("estimated"));
  EXPECT_NE(proxy.metric("arrcoc_upstream_tokens_off_count"), "");
  const auto counted = proxy.post("/v1/chat/completions/input_tokens", body);
  EXPECT_TRUE(json::parse(counted->body)["image_tokens"]["estimated"])
      << "before sending it is a guess";
}

TEST(Proxy, WorksInFrontOfARealServer) {
  Process upstream;
  Running proxy(proxy_to(upstream.url()));
  const json models = json::parse(proxy.client().Get("/v1/models")->body);
  EXPECT_EQ(models["data"][0]["id"], "arrcoc-tiny");
  json body = question();
  body["arrcoc"] = {{"budget", 400}};
  const json reply = proxy.ask(body);
  EXPECT_LE(reply["usage"]["image_tokens"]["kept"], 400);
  EXPECT_EQ(reply["usage"]["image_tokens"]["native"], 1624);
  EXPECT_TRUE(reply["arrcoc"].contains("upstream"));
  body["stream"] = true;
  const auto streamed = proxy.post("/v1/chat/completions", body);
  EXPECT_EQ(events(streamed->body).back(), "[DONE]");
  EXPECT_EQ(upstream.kill(SIGKILL), 128 + SIGKILL);
  EXPECT_EQ(proxy.post("/v1/chat/completions", body)->status, 502);
}

TEST(ServeProcess, SigtermFinishesWhatRunsAndEnds) {
  Process server;
  std::vector<std::thread> clients;
  std::atomic<int> good{0}, over{0};
  for (int i = 0; i < 4; ++i)
    clients.emplace_back([&, i] {
      const auto reply =
          server.post("/v1/chat/completions", question("What is entry " + std::to_string(i) + "?"));
      if (reply && reply->status == 200) ++good;
      ++over;
    });
  wait_until_inside(server.port(), 4, over);
  server.signal(SIGTERM);
  for (std::thread& client : clients) client.join();
  EXPECT_EQ(good, 4);
  EXPECT_EQ(server.read_line(), "stopped");
  EXPECT_EQ(server.wait(), 0);
}

TEST(ServeProcess, WhatWasAcknowledgedSurvivesKill) {
  Folder folder;
  std::string id;
  {
    Process server({"--log", folder / "log.db", "--log-share", "1"});
    const auto reply = server.post("/v1/chat/completions", question());
    ASSERT_EQ(reply->status, 200);
    id = json::parse(reply->body)["id"];
    EXPECT_EQ(server.kill(SIGKILL), 128 + SIGKILL);
  }
  EXPECT_EQ(ExampleLog(folder / "log.db").show(id).answer, "33.10");
  Process again({"--log", folder / "log.db", "--log-share", "1"});
  EXPECT_EQ(again.post("/v1/feedback", {{"id", id}, {"rating", "up"}})->status, 200);
  EXPECT_EQ(again.kill(SIGTERM), 0);
}

}  // namespace
}  // namespace arrcoc::serving::test
