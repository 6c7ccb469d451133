// Looking again through the proxy: by probabilities where the upstream gives them, else by
// agreement.
#include <ATen/ATen.h>

#include "arrcoc/media.h"
#include "ask/models.h"
#include "proxied.h"
#include "recording.h"
#include "serve/upstream_model.h"

namespace arrcoc::serving::test {
namespace {

json look_at(int passes, int budget = 100) {
  json body = question();
  body["model"] = "Qwen2.5-VL-double";
  body["arrcoc"] = {{"budget", budget}};
  if (passes > 0) body["arrcoc"]["passes"] = passes;
  return body;
}

// Says these answers one after the other, the last again and again.
struct Voice {
  struct Words {
    std::string text;
    double logprob = 0;  // of each of its two tokens
  };
  std::vector<Words> answers;
  bool probabilities = true;  // gives them when asked
  bool refuses = false;       // 400 for whoever asks for them
  int fails_from = 1000;      // 500 from this answer on
  mutable std::atomic<size_t> said{0};
  mutable std::mutex mutex;
  mutable std::vector<json> heard;

  json logprobs(const Words& words) const {
    return {{"content",
             {{{"token", "a"}, {"logprob", words.logprob}},
              {{"token", "b"}, {"logprob", words.logprob}}}}};
  }
  void operator()(const Recording::Got& got, httplib::Response& response) const {
    if (got.method != "POST")
      return response.set_content(R"({"object":"list","data":[]})", "application/json");
    const json body = json::parse(got.body);
    {
      const std::scoped_lock lock(mutex);
      heard.push_back(body);
    }
    if (refuses && body.contains("logprobs")) {
      response.status = 400;
      return response.set_content(R"({"error":{"message":"no logprobs"}})", "application/json");
    }
    const size_t n = said++;
    if (static_cast<int>(n) >= fails_from) {
      response.status = 500;
      return response.set_content("{}", "application/json");
    }
    const Words& words = answers[std::min(n, answers.size() - 1)];
    const bool tell = probabilities && body.value("logprobs", false);
    if (!body.value("stream", false)) {
      json choice = {{"index", 0},
                     {"message", {{"role", "assistant"}, {"content", words.text}}},
                     {"finish_reason", "stop"}};
      if (tell) choice["logprobs"] = logprobs(words);
      const json reply = {{"id", "r"},
                          {"object", "chat.completion"},
                          {"model", body["model"]},
                          {"choices", json::array({choice})}};
      return response.set_content(reply.dump(), "application/json");
    }
    json chunk = {{"id", "r"}, {"object", "chat.completion.chunk"}, {"model", body["model"]}};
    chunk["choices"] = {
        {{"index", 0}, {"delta", {{"content", words.text}}}, {"finish_reason", nullptr}}};
    if (tell) chunk["choices"][0]["logprobs"] = logprobs(words);
    json last = chunk;
    last["choices"] = {{{"index", 0}, {"delta", json::object()}, {"finish_reason", "stop"}}};
    response.set_content(
        "data: " + chunk.dump() + "\n\ndata: " + last.dump() + "\n\ndata: [DONE]\n\n",
        "text/event-stream");
  }
  Recording::Answer answer() const {
    return
        [this](const Recording::Got& got, httplib::Response& response) { (*this)(got, response); };
  }
};

TEST(ProxyLooks, AgainWhereTheUpstreamIsUnsureByItsOwnProbabilities) {
  const Voice voice{{{"seven", std::log(0.4)}, {"eight", std::log(0.9)}}};
  Recording upstream(voice.answer());
  Running proxy(proxy_to(upstream.url()));
  const json reply = proxy.ask(look_at(3));
  EXPECT_EQ(voice.said, 2U);
  for (const json& body : voice.heard) {
    EXPECT_EQ(body["logprobs"], true);
    EXPECT_FALSE(body.contains("arrcoc"));
  }
  EXPECT_NE(picture_sizes(voice.heard[0]), picture_sizes(voice.heard[1])) << "another look";
  EXPECT_EQ(reply["choices"][0]["message"]["content"], "eight");
  EXPECT_TRUE(reply["choices"][0]["logprobs"].is_null()) << "the client did not ask for them";
  const json& extra = reply["arrcoc"];
  ASSERT_EQ(extra["passes"].size(), 2U);
  EXPECT_EQ(extra["passes"][0]["answer"], "seven");
  EXPECT_NEAR(extra["passes"][0]["uncertainty"], 0.6, 1e-3);
  EXPECT_EQ(extra["passes"][1]["manner"], "elsewhere");
  EXPECT_NEAR(extra["confidence"], 0.9, 1e-3);
  EXPECT_EQ(extra["best_pass"], 2);
  EXPECT_EQ(extra["stopped"], "sure");
  const int64_t tokens = tokens_in(family_named("qwen2-vl"), voice.heard[0]) +
                         tokens_in(family_named("qwen2-vl"), voice.heard[1]);
  EXPECT_EQ(extra["tokens"], tokens);
  EXPECT_EQ(extra["conversation"]["tokens"], tokens);
}

TEST(ProxyLooks, OnceWhereItIsSureOrNobodyAskedForMore) {
  const Voice voice{{{"seven", std::log(0.95)}}};
  Recording upstream(voice.answer());
  Running proxy(proxy_to(upstream.url()));
  proxy.ask(look_at(3));
  EXPECT_EQ(voice.said, 1U);
  for (int passes : {0, 1}) {
    const json reply = proxy.ask(look_at(passes));
    EXPECT_FALSE(voice.heard.back().contains("logprobs"));
    EXPECT_FALSE(reply["arrcoc"].contains("confidence"));
  }
  EXPECT_EQ(voice.said, 3U);
}

// Whether it ignores the wish or refuses it: the answers of two looks are held against each other.
TEST(ProxyLooks, TwoAnswersThatAgreeStandForProbabilities) {
  for (const bool refuses : {false, true}) {
    Voice voice{{{"RM 7", 0}, {"rm 7", 0}}};
    voice.probabilities = false;
    voice.refuses = refuses;
    Recording upstream(voice.answer());
    Running proxy(proxy_to(upstream.url()));
    const json reply = proxy.ask(look_at(4));
    EXPECT_EQ(voice.said, 2U);
    EXPECT_EQ(voice.heard.size(), refuses ? 3U : 2U);
    const json& extra = reply["arrcoc"];
    EXPECT_EQ(extra["confidence"], 1);
    EXPECT_EQ(extra["passes"][1]["agreement"], 1);
    EXPECT_EQ(extra["best_pass"], 1);
    EXPECT_EQ(reply["choices"][0]["message"]["content"], "RM 7");
    EXPECT_NE(extra["fallbacks"].dump().find("agree"), std::string::npos);
  }
  Voice never{{{"one", 0}, {"two", 0}, {"three", 0}}};
  never.probabilities = false;
  Recording upstream(never.answer());
  Running proxy(proxy_to(upstream.url()));
  const json reply = proxy.ask(look_at(3));
  EXPECT_EQ(never.said, 3U);
  EXPECT_EQ(reply["choices"][0]["message"]["content"], "one");
  EXPECT_TRUE(reply["arrcoc"]["unsure"]);
}

TEST(ProxyLooks, AStreamIsThatOfTheBestLook) {
  const Voice voice{{{"seven", std::log(0.4)}, {"eight", std::log(0.9)}}};
  Recording upstream(voice.answer());
  Running proxy(proxy_to(upstream.url()));
  json body = look_at(2);
  body["stream"] = true;
  const auto reply = proxy.post("/v1/chat/completions", body);
  ASSERT_EQ(reply->status, 200) << reply->body;
  const auto parts = events(reply->body);
  ASSERT_EQ(parts.size(), 3U) << reply->body;
  EXPECT_EQ(json::parse(parts[0])["choices"][0]["delta"]["content"], "eight");
  EXPECT_EQ(reply->body.find("logprob\""), std::string::npos);
  EXPECT_EQ(json::parse(parts[1])["arrcoc"]["passes"].size(), 2U);
  EXPECT_EQ(parts[2], "[DONE]");
  EXPECT_NE(reply->get_header_value("X-Arrcoc-Image-Tokens"), "");
}

TEST(ProxyLooks, AFurtherLookThatFailsCostsNoAnswer) {
  Voice voice{{{"seven", std::log(0.4)}}};
  voice.fails_from = 1;
  Recording upstream(voice.answer());
  Running proxy(proxy_to(upstream.url()));
  const json reply = proxy.ask(look_at(3));
  EXPECT_EQ(reply["choices"][0]["message"]["content"], "seven");
  EXPECT_NE(reply["arrcoc"]["fallbacks"].dump().find("a further look failed"), std::string::npos);
  EXPECT_EQ(reply["arrcoc"]["passes"].size(), 1U);
}

// What a turn was answered from is what later turns send again.
TEST(ProxyLooks, TheNextTurnSendsTheViewsOfTheBestLook) {
  const Voice voice{{{"seven", std::log(0.4)}, {"eight", std::log(0.9)}}};
  Recording upstream(voice.answer());
  Running proxy(proxy_to(upstream.url()));
  json body = look_at(2);
  proxy.ask(body);
  const json sent = voice.heard.back()["messages"][0];
  body["messages"].push_back({{"role", "assistant"}, {"content", "eight"}});
  body["messages"].push_back({{"role", "user"}, {"content", "Thank you."}});
  proxy.ask(body);
  EXPECT_EQ(voice.heard.back()["messages"][0], sent);
}

TEST(ProxyLooks, OtherProtocolsGoByAgreement) {
  std::atomic<int> asked{0};
  Recording upstream([&](const Recording::Got& got, httplib::Response& response) {
    if (got.method == "POST") ++asked;
    response.set_content(
        R"({"type":"message","content":[{"type":"text","text":"7"}],"usage":{"input_tokens":9,"output_tokens":1}})",
        "application/json");
  });
  Running proxy(proxy_to(upstream.url()));
  const std::string url = picture_url();
  const json source = {
      {"type", "base64"}, {"media_type", "image/jpeg"}, {"data", url.substr(url.find(',') + 1)}};
  const json body = {
      {"model", "claude-sonnet-4-5"},
      {"max_tokens", 9},
      {"arrcoc", {{"budget", 300}, {"passes", 2}}},
      {"messages",
       {{{"role", "user"},
         {"content", {{{"type", "image"}, {"source", source}}, text("What is the total?")}}}}}};
  const auto reply = proxy.post("/v1/messages", body);
  ASSERT_EQ(reply->status, 200) << reply->body;
  EXPECT_EQ(asked, 2);
  EXPECT_EQ(json::parse(reply->body)["arrcoc"]["passes"][1]["agreement"], 1);
}

TEST(ProxyLooks, TheUpstreamIsAModelThatLooksAgain) {
  const Voice voice{{{"seven", std::log(0.4)}, {"eight", std::log(0.9)}}};
  Recording upstream(voice.answer());
  Metrics metrics;
  const Upstream server(proxy_to(upstream.url()), metrics);
  const auto model =
      std::make_shared<UpstreamModel>(server, "Qwen2.5-VL-double", family_named("qwen2-vl"));
  AskOptions options = policy("saliency");
  options.budget = "100";
  options.passes.passes = 2;
  const Picture picture = media::decode(bytes_of(source("examples/pictures/receipt.jpg")));
  const Answer answer = Asker(nullptr, model).ask(picture, "What is the total?", options);
  ASSERT_EQ(answer.from().passes.size(), 2U);
  EXPECT_EQ(answer.text, "eight");
  EXPECT_NEAR(answer.confidence, 0.9, 1e-4);
  EXPECT_EQ(answer.stop, Stop::sure);
}

}  // namespace
}  // namespace arrcoc::serving::test
