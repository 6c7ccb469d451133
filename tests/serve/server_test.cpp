// The server as clients meet it, with the bundled model.
#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <limits>
#include <set>
#include <thread>

#include "arrcoc/ask.h"
#include "arrcoc/error.h"
#include "arrcoc/media.h"
#include "models/tiny/files.h"
#include "serve/routes.h"
#include "support.h"

namespace arrcoc::serving::test {
namespace {

TEST(ServerChat, AnswersAQuestionAboutAPicture) {
  Running server;
  const json reply = server.ask(question("What is the total?"));
  EXPECT_EQ(reply["object"], "chat.completion");
  EXPECT_EQ(reply["model"], "arrcoc-tiny");
  EXPECT_EQ(reply["choices"][0]["message"]["role"], "assistant");
  EXPECT_EQ(reply["choices"][0]["message"]["content"], "33.10");
  EXPECT_EQ(reply["choices"][0]["finish_reason"], "stop");
  const json &usage = reply["usage"], &extra = reply["arrcoc"];
  EXPECT_LE(usage["image_tokens"]["kept"], extra["budget"]);
  EXPECT_EQ(usage["image_tokens"]["native"], 1624);
  EXPECT_EQ(usage["total_tokens"],
            usage["prompt_tokens"].get<int>() + usage["completion_tokens"].get<int>());
  EXPECT_GT(extra["confidence"], 0.5);
  EXPECT_EQ(extra["picture"], 1);
  EXPECT_EQ(extra["stopped"], "sure");
  EXPECT_EQ(extra["passes"].size(), 1U);
  EXPECT_FALSE(extra["pictures"][0]["boxes"].empty());
  for (const char* large : {"map", "leaves"}) {
    EXPECT_FALSE(extra.contains(large));
    EXPECT_FALSE(extra["passes"][0].contains(large));
  }
}

TEST(ServerChat, KeepsToTheBudgetOfEachRequest) {
  Running server;
  for (const json& budget : {json(16), json(64), json(301), json("fast"), json("accurate"),
                             json("auto"), json("learned")}) {
    json body = question();
    body["arrcoc"] = {{"budget", budget}};
    const json reply = server.ask(body);
    EXPECT_LE(reply["usage"]["image_tokens"]["kept"], reply["arrcoc"]["budget"]) << budget;
    if (budget.is_number()) EXPECT_EQ(reply["arrcoc"]["budget"], budget);
  }
  json body = question();
  body["arrcoc"] = {{"budget", "plenty"}};
  const auto refused = server.post("/v1/chat/completions", body);
  EXPECT_EQ(refused->status, 400) << refused->body;
}

TEST(ServerChat, SaysWhenAQuestionIsShortened) {
  Running server;
  const json cut = server.ask(question("What is the total?" + std::string(300, '!')));
  const auto fallbacks = cut["arrcoc"]["fallbacks"];
  EXPECT_NE(std::find(fallbacks.begin(), fallbacks.end(), json(kShortened)), fallbacks.end())
      << fallbacks;
}

TEST(ServerChat, TheThresholdIsTheOperators) {
  Options options = usual_options();
  options.threshold = 1;
  EXPECT_TRUE(Running(options).ask(question())["arrcoc"]["unsure"]);
  options.threshold = 0;
  EXPECT_FALSE(Running(options).ask(question())["arrcoc"]["unsure"]);
}

TEST(ServerChat, SharesTheBudgetAmongSeveralPictures) {
  Running server;
  json body = question("What is the total?");
  body["messages"][0]["content"].insert(body["messages"][0]["content"].begin(),
                                        image(picture_url("street.jpg")));
  body["arrcoc"] = {{"budget", 360}};
  const json reply = server.ask(body);
  EXPECT_LE(reply["usage"]["image_tokens"]["kept"], 360);
  ASSERT_EQ(reply["arrcoc"]["pictures"].size(), 2U);
  int sum = 0;
  for (const json& picture : reply["arrcoc"]["pictures"]) sum += picture["tokens"].get<int>();
  EXPECT_EQ(sum, reply["usage"]["image_tokens"]["kept"]);
  EXPECT_EQ(reply["arrcoc"]["picture"], 2) << "the receipt knows its total, the street does not";
  EXPECT_EQ(reply["choices"][0]["message"]["content"], "33.10");
  body["arrcoc"] = {{"budget", 1}};
  EXPECT_EQ(error_code(server.post("/v1/chat/completions", body)), "budget_too_small");
}

TEST(ServerChat, FollowsAConversation) {
  Running server;
  json body = question("What is the total?");
  body["messages"].insert(body["messages"].begin(),
                          json{{"role", "system"}, {"content", "Be brief."}});
  body["messages"].push_back({{"role", "assistant"}, {"content", "33.10"}});
  body["messages"].push_back({{"role", "user"}, {"content", "What is the date?"}});
  const json reply = server.ask(body);
  EXPECT_EQ(reply["choices"][0]["message"]["content"], "10 jul 2024");
}

TEST(ServerChat, StreamsTheSameAnswer) {
  Running server;
  json body = question();
  body["stream"] = true;
  body["stream_options"] = {{"include_usage", true}};
  const auto reply = server.post("/v1/chat/completions", body);
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->get_header_value("Content-Type"), "text/event-stream");
  const auto parts = events(reply->body);
  ASSERT_GE(parts.size(), 4U);
  EXPECT_EQ(parts.back(), "[DONE]");
  std::string said, finish;
  std::set<std::string> ids;
  for (size_t i = 0; i + 1 < parts.size(); ++i) {
    const json chunk = json::parse(parts[i]);
    EXPECT_EQ(chunk["object"], "chat.completion.chunk");
    ids.insert(chunk["id"].get<std::string>());
    if (chunk["choices"].empty()) continue;
    said += chunk["choices"][0]["delta"].value("content", "");
    if (!chunk["choices"][0]["finish_reason"].is_null())
      finish = chunk["choices"][0]["finish_reason"];
  }
  EXPECT_EQ(said, "33.10");
  EXPECT_EQ(finish, "stop");
  EXPECT_EQ(ids.size(), 1U);
  EXPECT_EQ(json::parse(parts[0])["choices"][0]["delta"]["role"], "assistant");
  const json usage = json::parse(parts[parts.size() - 2]);
  EXPECT_TRUE(usage["choices"].empty());
  EXPECT_GT(usage["usage"]["image_tokens"]["kept"], 0);
}

TEST(ServerChat, CutsAtMaxTokens) {
  Running server;
  json body = question();
  body["max_tokens"] = 2;
  const json reply = server.ask(body);
  EXPECT_EQ(reply["choices"][0]["message"]["content"], "33");
  EXPECT_EQ(reply["choices"][0]["finish_reason"], "length");
}

TEST(ServerChat, LooksAgainWithinTheTotalBudgetWhenUnsure) {
  Running server;
  json body = question("What is the price of the first item?");
  body["arrcoc"] = {{"passes", 3}, {"budget", 100}, {"total_budget", 140}, {"map", true}};
  const json reply = server.ask(body);
  const json& extra = reply["arrcoc"];
  ASSERT_GE(extra["passes"].size(), 2U) << extra["confidence"];
  EXPECT_EQ(extra["pictures"][0]["passes"], extra["passes"]);
  int sum = 0;
  for (const json& pass : extra["passes"]) {
    sum += pass["tokens"].get<int>();
    EXPECT_EQ(pass["leaves"].size(), pass["tokens"]);
  }
  EXPECT_EQ(sum, reply["usage"]["image_tokens"]["kept"]);
  EXPECT_LE(sum, 140);
  EXPECT_NE(extra["passes"][0]["leaves"], extra["passes"][1]["leaves"]);
  EXPECT_EQ(
      extra["pictures"][0]["homunculus"].get<std::string>().rfind("data:image/png;base64,iVBOR", 0),
      0U);
}

TEST(ServerChat, RefusesWhatItCannotDo) {
  Running server;
  json body = question();
  body["model"] = "gpt-4o";
  auto reply = server.post("/v1/chat/completions", body);
  EXPECT_EQ(reply->status, 404);
  EXPECT_EQ(error_code(reply), "model_not_found");
  body = question();
  body["messages"][0]["content"] = "no picture";
  EXPECT_EQ(error_code(server.post("/v1/chat/completions", body)), "no_picture");
  body = question("   ");
  EXPECT_EQ(server.post("/v1/chat/completions", body)->status, 400);
  body = question("What?", "https://example.org/x.png");
  EXPECT_EQ(error_code(server.post("/v1/chat/completions", body)), "unsupported");
  body = question("What?", "data:image/png;base64,AAAA");
  EXPECT_EQ(error_code(server.post("/v1/chat/completions", body)), "bad_image");
  body = question();
  for (int i = 0; i < 9; ++i) body["messages"][0]["content"].push_back(image(picture_url()));
  EXPECT_EQ(error_code(server.post("/v1/chat/completions", body)), "too_many_pictures");
  body = question();
  body["arrcoc"] = {{"policy", "none such"}};
  EXPECT_EQ(server.post("/v1/chat/completions", body)->status, 400);
}

TEST(ServerCount, SaysWhatARequestWillCost) {
  Running server;
  json body = question();
  body["arrcoc"] = {{"budget", 100}};
  const auto counted = server.post("/v1/chat/completions/input_tokens", body);
  ASSERT_EQ(counted->status, 200) << counted->body;
  const json count = json::parse(counted->body), reply = server.ask(body);
  EXPECT_EQ(count["image_tokens"], reply["usage"]["image_tokens"]);
  EXPECT_EQ(count["input_tokens"], reply["usage"]["prompt_tokens"]);
}

TEST(ServerChat, StreamsTheMapBeforeTheAnswer) {
  Running server;
  json body = question();
  body["stream"] = true;
  const auto chunks = [&] {
    std::vector<json> out;
    auto parts = events(server.post("/v1/chat/completions", body)->body);
    EXPECT_EQ(parts.back(), "[DONE]");
    parts.pop_back();
    for (const std::string& part : parts) out.push_back(json::parse(part));
    return out;
  };
  for (const json& chunk : chunks())
    EXPECT_FALSE(chunk["choices"].empty()) << "only when asked for";
  for (int passes : {1, 3}) {
    body["arrcoc"] = {{"map", true}, {"passes", passes}, {"budget", 100}};
    const std::vector<json> said = chunks();
    ASSERT_GE(said.size(), 4U);
    EXPECT_EQ(said[0]["choices"][0]["delta"]["content"], "");
    EXPECT_TRUE(said[1]["choices"].empty());
    const json &look = said[1]["arrcoc"], &last = said.back()["arrcoc"];
    EXPECT_FALSE(look.contains("answer"));
    EXPECT_EQ(last["answer"], "33.10");
    EXPECT_EQ(look["map"], last["map"]);
    EXPECT_EQ(look["pictures"][0]["name"], last["pictures"][0]["name"]);
    EXPECT_EQ(look["passes"][0]["leaves"], last["passes"][0]["leaves"]);
    EXPECT_EQ(look["tokens"], last["passes"][0]["tokens"]);
    const std::string name = last["pictures"][0]["name"];
    EXPECT_EQ(server.client().Get("/v1/pictures/" + name)->status, 200);
  }
}

TEST(ServerRelevance, FollowsTheQuestion) {
  Running server;
  const auto look = [&](const std::string& words) {
    const auto reply = server.post("/v1/relevance", {{"image", picture_url()},
                                                     {"question", words},
                                                     {"arrcoc", {{"budget", 100}, {"map", true}}}});
    EXPECT_EQ(reply->status, 200) << reply->body;
    return json::parse(reply->body);
  };
  const json total = look("What is the total?"), date = look("What is the date?");
  EXPECT_EQ(total["map"]["values"].size(),
            total["map"]["rows"].get<size_t>() * total["map"]["cols"].get<size_t>());
  EXPECT_NE(total["map"], date["map"]);
  EXPECT_NE(total["leaves"], date["leaves"]);
  EXPECT_EQ(total["leaves"].size(), total["tokens"]);
  EXPECT_LE(total["leaves"].size(), 100U);
  for (const char* key : {"homunculus", "relevance", "quadtree"})
    EXPECT_EQ(total[key].get<std::string>().rfind("data:image/png;base64,", 0), 0U) << key;
}

TEST(ServerCache, APictureIsReadOnce) {
  Running server;
  server.ask(question("What is the total?"));
  server.ask(question("What is the date?"));
  EXPECT_EQ(server.metric("arrcoc_cache_misses_total"), "1");
  EXPECT_EQ(server.metric("arrcoc_cache_hits_total"), "1");
  EXPECT_EQ(server.metric("arrcoc_stage_seconds_count{stage=\"seeing\"}"), "1");
  EXPECT_NE(server.metric("arrcoc_cache_bytes"), "0");
}

TEST(ServerCache, ForgetsWhatDoesNotFit) {
  Options options = usual_options();
  options.cache_mb = 0;
  Running server(options);
  server.ask(question());
  server.ask(question());
  EXPECT_EQ(server.metric("arrcoc_cache_misses_total"), "2");
  EXPECT_EQ(server.metric("arrcoc_cache_bytes"), "0");
}

TEST(ServerBatching, TogetherOrAloneTheAnswersAreTheSame) {
  const std::vector<std::string> questions = {"What is the total?", "What is the date?",
                                              "What is the total?",
                                              "What is the name of the company?"};
  std::vector<std::vector<std::string>> all;
  for (bool batching : {false, true}) {
    Options options = usual_options();
    options.batching = batching;
    options.workers = 1;
    Running server(options);
    server.ask(question());  // the picture is known from here on
    std::vector<std::string> answers(questions.size());
    std::vector<std::thread> clients;
    for (size_t i = 0; i < questions.size(); ++i)
      clients.emplace_back([&, i] {
        answers[i] = server.ask(question(questions[i]))["choices"][0]["message"]["content"];
      });
    for (std::thread& client : clients) client.join();
    all.push_back(answers);
  }
  EXPECT_EQ(all[0], all[1]);
  EXPECT_EQ(all[0][0], all[0][2]);
}

TEST(ServerKey, IsNeededWhereOneIsSet) {
  Options options = usual_options();
  options.api_key = "correct horse";
  Running server(options);
  auto client = server.client();
  for (const char* path : {"/v1/models", "/metrics"})
    EXPECT_EQ(client.Get(path)->status, 401) << path;
  for (const char* path : {"/health", "/", "/openapi.json", "/page.js"})
    EXPECT_EQ(client.Get(path)->status, 200) << path;
  EXPECT_EQ(server.post("/v1/chat/completions", question())->status, 401);
  for (const char* wrong :
       {"Bearer wrong", "correct horse", "Bearer correct hors", "Basic correct horse", "bearer"})
    EXPECT_EQ(client.Get("/v1/models", {{"Authorization", wrong}})->status, 401) << wrong;
  EXPECT_EQ(client.Get("/v1/models", {{"Authorization", "Bearer correct horse"}})->status, 200);
  EXPECT_EQ(server.lines().find("horse"), std::string::npos) << "no key in the log";
}

TEST(ServerHttp, EveryRouteOfTheSpecificationExistsAndNoOther) {
  Running server;
  const auto spec = json::parse(server.client().Get("/openapi.json")->body);
  std::set<std::string> written, served;
  for (const auto& [path, methods] : spec["paths"].items())
    for (const auto& [method, operation] : methods.items()) {
      std::string upper = method;
      for (char& c : upper) c = static_cast<char>(std::toupper(c));
      written.insert(upper + " " + path);
      EXPECT_TRUE(operation.contains("responses")) << path;
    }
  for (const Route& route : routes()) served.insert(std::string(route.method) + " " + route.path);
  EXPECT_EQ(written, served);
}

TEST(ServerHttp, SendsSecurityHeadersAndKnowsItsPaths) {
  Running server;
  auto client = server.client();
  const auto page = client.Get("/");
  ASSERT_EQ(page->status, 200);
  const std::string policy = page->get_header_value("Content-Security-Policy");
  EXPECT_NE(policy.find("default-src 'none'"), std::string::npos);
  EXPECT_EQ(policy.find("unsafe"), std::string::npos);
  EXPECT_EQ(page->get_header_value("X-Content-Type-Options"), "nosniff");
  EXPECT_EQ(page->get_header_value("X-Frame-Options"), "DENY");
  EXPECT_EQ(page->body.find("style="), std::string::npos) << "inline styles would be blocked";
  EXPECT_EQ(client.Get("/v2")->status, 404);
  EXPECT_EQ(error_code(client.Get("/v2")), "not_found");
  const auto wrong = client.Get("/v1/chat/completions");
  EXPECT_EQ(wrong->status, 405);
  EXPECT_EQ(wrong->get_header_value("Allow"), "POST");
  EXPECT_EQ(client.Delete("/v1/models")->status, 405);
  EXPECT_EQ(client.Get("/health", {{"Host", "evil.example"}})->status, 403) << "DNS rebinding";
}

TEST(ServerHttp, HealthSaysWhenItIsReady) {
  Running server;
  const auto reply = server.client().Get("/health");
  EXPECT_EQ(reply->status, 200);
  EXPECT_EQ(json::parse(reply->body)["status"], "ok");
  const json models = json::parse(server.client().Get("/v1/models")->body);
  EXPECT_EQ(models["data"][0]["id"], "arrcoc-tiny");
}

TEST(ServerHttp, AModelThatIsMissingIsSaidSo) {
  Options options = usual_options();
  options.tiny = "/nonexistent";
  Server server(options);
  server.start();
  EXPECT_THROW(server.wait_ready(), Error);
  httplib::Client client("127.0.0.1", server.port());
  EXPECT_EQ(client.Get("/health")->status, 503);
  EXPECT_EQ(client.Post("/v1/chat/completions", question().dump(), "application/json")->status,
            503);
}

TEST(ServerHttp, ATakenPortIsAnError) {
  Running first;
  Options options = usual_options();
  options.port = first.port();
  Server second(options);
  EXPECT_THROW(second.start(), Error);
}

TEST(ServerFaults, ABrokenRealizerCostsDetailNotTheAnswer) {
  tiny::NetworkWeights bundle = tiny::load_networks(source("models/tiny"));
  const tiny::RealizerNet network(bundle.shape);
  const auto& specs = network.layout().specs();
  for (size_t i = 0; i < specs.size(); ++i)
    if (specs[i].name.rfind("relevance", 0) == 0)
      bundle.realizer[i].fill_(std::numeric_limits<float>::quiet_NaN());
  Folder folder;
  tiny::save_networks(folder / "model", bundle, "t");
  Options options = usual_options();
  options.tiny = folder / "model";
  Running server(options);
  const json reply = server.ask(question());
  EXPECT_LE(reply["usage"]["image_tokens"]["kept"], 180);
  EXPECT_GT(reply["usage"]["image_tokens"]["kept"], 100);
  const json& fallbacks = reply["arrcoc"]["fallbacks"];
  ASSERT_FALSE(fallbacks.empty());
  EXPECT_EQ(fallbacks[0].get<std::string>().rfind(kLookerFailed, 0), 0U);
  EXPECT_EQ(server.metric("arrcoc_fallbacks_total{kind=\"realizer\"}"), "1");
}

TEST(ServerLoad, AFullQueueIsRefusedByDesign) {
  Options options = usual_options();
  options.workers = 1;
  options.queue = 1;
  options.batching = false;
  Running server(options);
  server.ask(question());
  std::atomic<int> good{0}, refused{0}, other{0};
  std::vector<std::thread> clients;
  for (int i = 0; i < 12; ++i)
    clients.emplace_back([&, i] {
      const auto reply = server.post("/v1/chat/completions",
                                     question("What is number " + std::to_string(i) + "?"));
      if (reply && reply->status == 200) {
        ++good;
      } else if (reply && reply->status == 429 && reply->has_header("Retry-After")) {
        ++refused;
      } else {
        ++other;
      }
    });
  for (std::thread& client : clients) client.join();
  EXPECT_GT(good, 0);
  EXPECT_GT(refused, 0);
  EXPECT_EQ(other, 0);
}

TEST(ServerStop, FinishesWhatRuns) {
  auto server = std::make_unique<Running>();
  std::vector<std::thread> clients;
  std::atomic<int> good{0}, over{0};
  for (int i = 0; i < 4; ++i)
    clients.emplace_back([&, i] {
      const auto reply =
          server->post("/v1/chat/completions", question("What is line " + std::to_string(i) + "?"));
      if (reply && reply->status == 200) ++good;
      ++over;
    });
  wait_until_inside(server->port(), 4, over);
  server->server().stop();
  for (std::thread& client : clients) client.join();
  EXPECT_EQ(good, 4);
}

TEST(ServerStop, ClientsThatHangUpCostNothing) {
  Options options = usual_options();
  options.workers = 1;
  Running server(options);
  server.ask(question());
  for (int i = 0; i < 6; ++i) {
    httplib::Client impatient("127.0.0.1", server.port());
    impatient.set_read_timeout(0, 20000);
    impatient.Post("/v1/chat/completions",
                   question("What is row " + std::to_string(i) + "?").dump(), "application/json");
  }
  EXPECT_EQ(server.ask(question())["choices"][0]["message"]["content"], "33.10");
}

}  // namespace
}  // namespace arrcoc::serving::test
