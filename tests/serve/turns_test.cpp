// Conversations through the proxy: what earlier turns sent stays as it was, and every count is the
// upstream's own.
#include <ATen/ATen.h>

#include <random>

#include "recording.h"
#include "serve/relay/json_text.h"
#include "serve/relay/view_memory.h"

namespace arrcoc::serving::test {
namespace {

// Blocks of colour on paper.
std::string drawn_url(int width, int height, uint64_t seed) {
  std::mt19937_64 rng(seed);
  at::Tensor rgb = at::full({3, height, width}, 240, at::kByte);
  for (int i = 0; i < 12; ++i) {
    const int64_t w = 8 + static_cast<int64_t>(rng() % static_cast<uint64_t>(width / 4));
    const int64_t h = 8 + static_cast<int64_t>(rng() % static_cast<uint64_t>(height / 4));
    const int64_t x = static_cast<int64_t>(rng() % static_cast<uint64_t>(width - w));
    const int64_t y = static_cast<int64_t>(rng() % static_cast<uint64_t>(height - h));
    rgb.slice(1, y, y + h).slice(2, x, x + w).fill_(static_cast<int64_t>(rng() % 255));
  }
  return png_url(media::encode_png(rgb));
}

struct Drawn {
  int width, height;
  std::string url;
};

const std::vector<Drawn>& drawings() {
  static const std::vector<Drawn> all = [] {
    std::vector<Drawn> out;
    for (const auto& [w, h] : {std::pair{640, 480}, {1200, 300}, {700, 1000}, {300, 300}, {90, 60}})
      out.push_back({w, h, drawn_url(w, h, static_cast<uint64_t>(w))});
    return out;
  }();
  return all;
}

// The least that this picture can cost at any size.
int64_t floor_of(const Family& family, const Drawn& picture) {
  int64_t least = picture_tokens(family, picture.width, picture.height);
  for (double scale = 1; scale > 1.0 / 64; scale *= 0.9)
    least = std::min(least, picture_tokens(family, std::max(1, int(picture.width * scale)),
                                           std::max(1, int(picture.height * scale))));
  return least;
}

std::vector<std::string> messages_in(const std::string& body) {
  std::vector<std::string> out;
  const size_t count = json::parse(body)["messages"].size();
  for (size_t i = 0; i < count; ++i)
    out.emplace_back(value_at(body, json::json_pointer("/messages") / i));
  return out;
}

class Turns : public ::testing::Test {
 protected:
  static void answer(const Recording::Got&, httplib::Response& response) {
    response.set_content(
        R"({"id":"c-1","choices":[{"index":0,"message":{"role":"assistant","content":"ok"},)"
        R"("finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":1}})",
        "application/json");
  }
  static Options options(const Recording& upstream) {
    Options out = usual_options();
    out.upstream = upstream.url();
    return out;
  }
};

TEST_F(Turns, RepeatEveryByteAndKeepToTheBudget) {
  Recording upstream(answer);
  Running proxy(options(upstream));
  std::mt19937 rng(11);
  int turns = 0;
  for (const char* model : {"Qwen2.5-VL-7B", "Qwen3-VL-8B", "pixtral-12b", "InternVL3-8B", "gpt-4o",
                            "claude-sonnet-4", "gemma-3-4b-it", "llava-1.5-7b"}) {
    const Family family = family_of(model);
    for (const int budget : {70, 150, 400}) {
      json talk = json::array();
      std::vector<std::string> before;
      int64_t spent = 0, native = 0;
      const int length = 3 + static_cast<int>(rng() % 4);
      for (int turn = 0; turn < length; ++turn) {
        const bool brings = turn == 0 || rng() % 3 == 0;
        const Drawn& picture = drawings()[rng() % drawings().size()];
        const std::string words = "What colour is block " + std::to_string(rng() % 9) + "?";
        json message = {{"role", "user"}, {"content", words}};
        if (brings) message["content"] = {image(picture.url), text(words)};
        talk.push_back(message);
        json request = {{"model", model}, {"messages", talk}, {"arrcoc", {{"budget", budget}}}};
        const json reply = proxy.ask(request);
        const json sent = json::parse(upstream.last().body);
        const std::vector<std::string> now = messages_in(upstream.last().body);
        for (size_t i = 0; i < before.size(); ++i)
          ASSERT_EQ(now[i], before[i]) << model << " turn " << turn << " message " << i;
        before = now;
        const int64_t cost = tokens_in(family, sent);
        if (brings) native += picture_tokens(family, picture.width, picture.height);
        EXPECT_EQ(reply["usage"]["image_tokens"]["kept"], cost) << model;
        EXPECT_EQ(reply["usage"]["image_tokens"]["native"], native) << model;
        EXPECT_LE(cost, native) << model << ": never dearer than the original";
        const int64_t most = std::max<int64_t>(budget, brings ? floor_of(family, picture) : 0);
        EXPECT_LE(cost - spent, most) << model << " budget " << budget;
        spent = cost;
        talk.push_back({{"role", "assistant"}, {"content", "ok"}});
        ++turns;
      }
    }
  }
  EXPECT_GE(turns, 70);
}

TEST_F(Turns, ANewQuestionGetsNewViewsOfAnOldPicture) {
  Recording upstream(answer);
  Running proxy(options(upstream));
  json talk = {{{"role", "user"}, {"content", {image(picture_url()), text("What is the total?")}}}};
  const auto ask = [&] {
    return proxy.ask(
        {{"model", "Qwen2.5-VL-7B"}, {"messages", talk}, {"arrcoc", {{"budget", 100}}}});
  };
  ask();
  const std::vector<std::string> before = messages_in(upstream.last().body);
  talk.push_back({{"role", "assistant"}, {"content", "33.10"}});
  talk.push_back({{"role", "user"}, {"content", "What is the date?"}});
  const json reply = ask();
  const std::string body = upstream.last().body;
  EXPECT_EQ(messages_in(body)[0], before[0]);
  const json last = json::parse(body)["messages"][2];
  ASSERT_TRUE(last["content"].is_array());
  EXPECT_EQ(last["content"][0], text("What is the date?"));
  EXPECT_GE(picture_sizes(last).size(), 1U);
  EXPECT_LE(tokens_in(family_of("Qwen2.5-VL"), last), 100);
  EXPECT_EQ(reply["usage"]["image_tokens"]["kept"],
            tokens_in(family_of("Qwen2.5-VL"), json::parse(body)));
  const std::vector<std::string> second = messages_in(body);
  talk.push_back({{"role", "assistant"}, {"content", "10 jul"}});
  talk.push_back({{"role", "user"}, {"content", "Thanks"}});
  ask();
  const std::vector<std::string> third = messages_in(upstream.last().body);
  for (size_t i = 0; i < second.size(); ++i) EXPECT_EQ(third[i], second[i]);
}

TEST_F(Turns, MarksThatMoveFromTurnToTurnAreNoNewConversation) {
  Recording upstream([](const Recording::Got&, httplib::Response& response) {
    response.set_content(R"({"id":"m","type":"message","content":[{"type":"text","text":"ok"}]})",
                         "application/json");
  });
  Running proxy(options(upstream));
  const std::string data = drawings()[2].url.substr(drawings()[2].url.find(',') + 1);
  json picture = {{"type", "image"},
                  {"source", {{"type", "base64"}, {"media_type", "image/png"}, {"data", data}}},
                  {"cache_control", {{"type", "ephemeral"}}}};
  json body = {{"model", "claude-sonnet-4"},
               {"arrcoc", {{"budget", 100}}},
               {"messages", {{{"role", "user"}, {"content", {picture, text("What is blue?")}}}}}};
  proxy.post("/v1/messages", body);
  const json first = json::parse(upstream.last().body)["messages"][0]["content"];
  body["messages"][0]["content"][0].erase("cache_control");
  body["messages"].push_back({{"role", "assistant"}, {"content", "ok"}});
  body["messages"].push_back({{"role", "user"}, {"content", "And what is red?"}});
  proxy.post("/v1/messages", body);
  const json second = json::parse(upstream.last().body)["messages"][0]["content"];
  ASSERT_EQ(first.size(), second.size());
  for (size_t i = 0; i < first.size(); ++i)
    if (first[i].contains("source")) EXPECT_EQ(first[i]["source"], second[i]["source"]);
}

TEST_F(Turns, OldPicturesOverTheCapAreLeftOutOldestFirst) {
  Recording upstream(answer);
  Options wanted = options(upstream);
  wanted.upstream_old_pictures = 1;
  Running proxy(wanted);
  json talk = json::array();
  for (int turn = 0; turn < 4; ++turn) {
    talk.push_back(
        {{"role", "user"},
         {"content", {image(drawings()[static_cast<size_t>(turn)].url), text("What?")}}});
    const json reply =
        proxy.ask({{"model", "Qwen2.5-VL-7B"}, {"messages", talk}, {"arrcoc", {{"budget", 2000}}}});
    const json sent = json::parse(upstream.last().body);
    EXPECT_EQ(picture_sizes(sent).size(), turn == 0 ? 1U : 2U);
    EXPECT_EQ(reply["arrcoc"]["fallbacks"].size(), turn > 1 ? 1U : 0U) << "it is said";
    EXPECT_EQ(reply["usage"]["image_tokens"]["kept"], tokens_in(family_of("Qwen2.5-VL"), sent));
    if (turn == 3) EXPECT_EQ(sent["messages"][0]["content"][0]["type"], "text");
    talk.push_back({{"role", "assistant"}, {"content", "ok"}});
  }
}

TEST_F(Turns, ARestartIsAMissAndNotAFault) {
  Recording upstream(answer);
  json talk = json::array();
  talk.push_back({{"role", "user"}, {"content", {image(drawings()[0].url), text("What?")}}});
  talk.push_back({{"role", "assistant"}, {"content", "ok"}});
  talk.push_back({{"role", "user"}, {"content", {image(drawings()[2].url), text("And here?")}}});
  Running fresh(options(upstream));
  const json reply =
      fresh.ask({{"model", "Qwen2.5-VL-7B"}, {"messages", talk}, {"arrcoc", {{"budget", 200}}}});
  EXPECT_LE(reply["usage"]["image_tokens"]["kept"], 200);
  EXPECT_EQ(reply["arrcoc"]["conversation"]["remembered"], 0);
  EXPECT_EQ(reply["arrcoc"]["conversation"]["pictures"], 2);
}

TEST(ViewMemoryTest, KeepsToItsBytesAndForgetsTheOldestFirst) {
  const auto of = [](size_t bytes) {
    auto out = std::make_shared<SentMessage>();
    out->pictures.resize(1);
    out->pictures[0].views.push_back({std::string(bytes, 'x'), {}, 1, 1, 1});
    return out;
  };
  ViewMemory memory(10000);
  memory.keep("a", of(3000));
  memory.keep("b", of(3000));
  EXPECT_TRUE(memory.find("a"));
  memory.keep("c", of(3000));
  EXPECT_TRUE(memory.find("a")) << "used last";
  EXPECT_FALSE(memory.find("b"));
  memory.keep("d", of(20000));
  EXPECT_FALSE(memory.find("d")) << "larger than all of it";
  EXPECT_LE(memory.bytes(), 10000U);
  memory.keep("a", of(100));
  EXPECT_LT(memory.bytes(), 8000U) << "replaced";
}

}  // namespace
}  // namespace arrcoc::serving::test
