// `serve --model DIR`: small random checkpoints of the golden families answer.
#include <cstdlib>
#include <thread>

#include "arrcoc/error.h"
#include "arrcoc/model.h"
#include "hf/small_folder.h"
#include "process.h"

namespace arrcoc::serving::test {
namespace {

// A folder as one downloads it, with random weights.
std::string checkpoint(const Folder& folder, const std::string& family) {
  const std::string goldens = source("tests/data/goldens"), out = folder / ("small-" + family);
  std::ofstream(folder / "config.json") << testing_support::small_config(goldens, family).dump();
  init_checkpoint(folder / "config.json", out, "float32", 1);
  std::ofstream(out + "/tokenizer.json")
      << testing_support::small_tokenizer(goldens, family).dump();
  return out;
}

class Hosting : public ::testing::TestWithParam<const char*> {
 protected:
  Options options(ReadMode mode = ReadMode::automatic) {
    Options out = usual_options();
    out.model = checkpoint(folder_, GetParam());
    out.mode = mode;
    out.max_new_tokens = 6;
    return out;
  }
  std::string name() const { return std::string("small-") + GetParam(); }
  json ask_for(const std::string& words) const {
    json body = question(words);
    body["model"] = name();
    return body;
  }
  Folder folder_;
};

TEST_P(Hosting, AnswersInAnyModeWithinTheBudget) {
  for (ReadMode mode : {ReadMode::automatic, ReadMode::prune, ReadMode::patches}) {
    Running server(options(mode));
    for (int budget : {9, 40}) {
      json body = ask_for("What is the total?");
      body["arrcoc"] = {{"budget", budget}, {"map", true}};
      const json reply = server.ask(body);
      EXPECT_EQ(reply["model"], name());
      EXPECT_EQ(reply["choices"][0]["finish_reason"], "length");
      const json& usage = reply["usage"];
      EXPECT_GE(usage["image_tokens"]["kept"], 1);
      EXPECT_LE(usage["image_tokens"]["kept"], budget) << to_string(mode);
      EXPECT_GE(usage["image_tokens"]["native"], usage["image_tokens"]["kept"]);
      EXPECT_GT(usage["prompt_tokens"], usage["image_tokens"]["kept"]);
      EXPECT_EQ(usage["completion_tokens"], 6);
      const json& picture = reply["arrcoc"]["pictures"][0];
      EXPECT_EQ(picture["tokens"], usage["image_tokens"]["kept"]);
      EXPECT_FALSE(reply["arrcoc"]["map"]["values"].empty());
    }
  }
}

TEST_P(Hosting, StreamsTheSameAnswer) {
  Running server(options());
  json body = ask_for("Where is the red car?");
  const json whole = server.ask(body);
  body["stream"] = true;
  body["stream_options"] = {{"include_usage", true}};
  const auto reply = server.post("/v1/chat/completions", body);
  const auto parts = events(reply->body);
  ASSERT_GE(parts.size(), 4U);
  EXPECT_EQ(parts.back(), "[DONE]");
  std::string said;
  for (size_t i = 0; i + 1 < parts.size(); ++i) {
    const json chunk = json::parse(parts[i]);
    if (!chunk["choices"].empty()) said += chunk["choices"][0]["delta"].value("content", "");
  }
  EXPECT_EQ(said, whole["choices"][0]["message"]["content"]);
  EXPECT_EQ(json::parse(parts[parts.size() - 2])["usage"], whole["usage"]);
}

TEST_P(Hosting, ReadsTheWholeConversation) {
  Running server(options());
  json body = ask_for("What is the total?");
  const auto words = [](const json& reply) {
    const json& usage = reply["usage"];
    return usage["prompt_tokens"].get<int>() - usage["image_tokens"]["kept"].get<int>();
  };
  const int alone = words(server.ask(body));
  body["messages"].insert(body["messages"].begin(),
                          json{{"role", "system"}, {"content", "Be brief."}});
  body["messages"].push_back({{"role", "assistant"}, {"content", "33.10"}});
  body["messages"].push_back(
      {{"role", "user"},
       {"content", {image(picture_url("street.jpg")), text("And what is in this one?")}}});
  body["arrcoc"] = {{"budget", 60}};
  const json reply = server.ask(body);
  EXPECT_GT(words(reply), alone + 10);
  EXPECT_LE(reply["usage"]["image_tokens"]["kept"], 60);
  EXPECT_EQ(reply["arrcoc"]["pictures"].size(), 2U);
  const auto counted = server.post("/v1/chat/completions/input_tokens", body);
  ASSERT_EQ(counted->status, 200) << counted->body;
  const json count = json::parse(counted->body);
  EXPECT_EQ(count["input_tokens"], reply["usage"]["prompt_tokens"]);
  EXPECT_EQ(count["image_tokens"], reply["usage"]["image_tokens"]);
}

// Weights are random: it is hardly ever sure, and looks again as often as it may.
TEST_P(Hosting, LooksAgainAndSaysSoAsTheBundledModelDoes) {
  Running server(options(ReadMode::prune));
  json body = ask_for("What is the total?");
  body["arrcoc"] = {{"passes", 3}, {"budget", 60}, {"total_budget", 130}, {"policy", "passes"}};
  const json reply = server.ask(body);
  const json& extra = reply["arrcoc"];
  ASSERT_GE(extra["passes"].size(), 1U);
  int sum = 0;
  for (const json& pass : extra["passes"]) {
    for (const char* key : {"manner", "answer", "uncertainty", "confidence", "gathered", "tokens"})
      EXPECT_TRUE(pass.contains(key)) << key;
    sum += pass["tokens"].get<int>();
  }
  EXPECT_LE(sum, 130);
  EXPECT_EQ(reply["usage"]["image_tokens"]["kept"], sum);
  const json& best = extra["passes"][extra["best_pass"].get<size_t>() - 1];
  EXPECT_EQ(best["answer"], extra["answer"]);
  EXPECT_FALSE(extra["calibrated"]);
  EXPECT_FALSE(extra["box"].is_null());
  // The same words are read whatever was seen: what is no picture counts the same.
  const json once = server.ask(ask_for("What is the total?"));
  const auto words = [](const json& usage, int shown) {
    return usage["prompt_tokens"].get<int>() - shown;
  };
  EXPECT_EQ(words(reply["usage"], sum),
            words(once["usage"], once["usage"]["image_tokens"]["kept"].get<int>()));
  body["stream"] = true;
  const auto parts = events(server.post("/v1/chat/completions", body)->body);
  std::string said;
  for (size_t i = 0; i + 1 < parts.size(); ++i) {
    const json chunk = json::parse(parts[i]);
    if (!chunk["choices"].empty()) said += chunk["choices"][0]["delta"].value("content", "");
  }
  EXPECT_EQ(said, reply["choices"][0]["message"]["content"]);
}

TEST_P(Hosting, SharesOneBudgetAmongThePicturesOfAMessage) {
  Running server(options());
  json body = ask_for("Compare them");
  body["messages"][0]["content"].insert(body["messages"][0]["content"].begin(),
                                        image(picture_url("street.jpg")));
  body["arrcoc"] = {{"budget", 80}};
  const json reply = server.ask(body);
  ASSERT_EQ(reply["arrcoc"]["pictures"].size(), 2U);
  int sum = 0;
  for (const json& picture : reply["arrcoc"]["pictures"]) {
    EXPECT_GE(picture["tokens"], 1);
    sum += picture["tokens"].get<int>();
  }
  EXPECT_LE(sum, 80);
  EXPECT_EQ(reply["usage"]["image_tokens"]["kept"], sum);
}

TEST_P(Hosting, TellsItsTokens) {
  Running server(options());
  const auto tokens = [&](const json& body) {
    const auto reply = server.post("/tokenize", body);
    EXPECT_EQ(reply->status, 200) << reply->body;
    return json::parse(reply->body);
  };
  const json plain = tokens({{"content", "What is the total?"}});
  EXPECT_GT(plain["count"], 0);
  EXPECT_EQ(plain["count"], plain["tokens"].size());
  EXPECT_EQ(tokens({{"prompt", "What is the total?"}, {"add_special_tokens", false}}), plain);
}

TEST_P(Hosting, EndsAtAStopSequence) {
  Running server(options());
  json body = ask_for("What is the total?");
  const json whole = server.ask(body);
  const std::string text = whole["choices"][0]["message"]["content"];
  ASSERT_GE(text.size(), 4U);
  size_t at = 1;
  while ((static_cast<unsigned char>(text[at]) & 0xC0) == 0x80) ++at;
  size_t end = at + 1;
  while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) ++end;
  const std::string stop = text.substr(at, end - at);
  body["stop"] = stop;
  const json cut = server.ask(body);
  EXPECT_EQ(cut["choices"][0]["message"]["content"], text.substr(0, text.find(stop)));
  EXPECT_EQ(cut["choices"][0]["finish_reason"], "stop");
  EXPECT_LE(cut["usage"]["completion_tokens"], whole["usage"]["completion_tokens"]);
}

INSTANTIATE_TEST_SUITE_P(Each, Hosting, ::testing::Values("qwen3_vl", "llava", "ovis2"));

class HostedQwen : public Hosting {};

TEST_P(HostedQwen, SamplesAsAsked) {
  Running server(options());
  const auto say = [&](int seed) {
    json body = ask_for("What is this?");
    body["temperature"] = 1.5;
    body["seed"] = seed;
    return server.ask(body)["choices"][0]["message"]["content"];
  };
  const auto first = say(1);
  EXPECT_EQ(say(1), first);
  bool other = false;
  for (int seed = 2; seed < 6; ++seed) other = other || say(seed) != first;
  EXPECT_TRUE(other);
  json body = ask_for("What is this?");
  body["max_tokens"] = 2;
  EXPECT_EQ(server.ask(body)["usage"]["completion_tokens"], 2);
}

TEST_P(HostedQwen, RefusesWhatItCannotDo) {
  Running server(options());
  EXPECT_EQ(json::parse(server.client().Get("/v1/models")->body)["data"][0]["id"], name());
  const auto refused = [&](const json& body) {
    return error_code(server.post("/v1/chat/completions", body));
  };
  EXPECT_EQ(refused(question()), "model_not_found") << "the bundled model does not answer here";
  json body = ask_for("What?");
  body["temperature"] = "hot";
  EXPECT_EQ(refused(body), "invalid_request");
  body = ask_for("What?");
  body["messages"].push_back({{"role", "assistant"}, {"content", "This."}});
  EXPECT_EQ(refused(body), "invalid_request");
  body["messages"][1]["role"] = "tool";
  EXPECT_EQ(refused(body), "unsupported");
}

TEST_P(HostedQwen, ServesSeveralClientsAtOnce) {
  Running server(options());
  std::vector<std::string> alone, together(4);
  const auto say = [&](size_t i) {
    return server
        .ask(ask_for("What is number " + std::to_string(i) +
                     "?"))["choices"][0]["message"]["content"]
        .get<std::string>();
  };
  for (size_t i = 0; i < together.size(); ++i) alone.push_back(say(i));
  std::vector<std::thread> clients;
  for (size_t i = 0; i < together.size(); ++i)
    clients.emplace_back([&, i] { together[i] = say(i); });
  for (std::thread& client : clients) client.join();
  EXPECT_EQ(alone, together);
}

TEST_P(HostedQwen, WorksFromTheCommandLine) {
  Process server({"--model", checkpoint(folder_, GetParam()), "--mode", "patches",
                  "--max-new-tokens", "3", "--relevance", "attention"});
  const auto reply = server.post("/v1/chat/completions", ask_for("What is the total?"));
  ASSERT_TRUE(reply);
  ASSERT_EQ(reply->status, 200) << reply->body;
  EXPECT_EQ(json::parse(reply->body)["usage"]["completion_tokens"], 3);
  EXPECT_EQ(server.kill(SIGTERM), 0);
}

INSTANTIATE_TEST_SUITE_P(Each, HostedQwen, ::testing::Values("qwen3_vl"));

TEST(HostedModel, AFolderThatIsNoModelIsSaidSo) {
  Folder folder;
  Options options = usual_options();
  options.model = folder / "nothing";
  Server server(options);
  server.start();
  EXPECT_THROW(server.wait_ready(), Error);
  options.mode = ReadMode::native;
  EXPECT_THROW(Server{options}, Error) << "native keeps to no budget";
}

}  // namespace
}  // namespace arrcoc::serving::test
