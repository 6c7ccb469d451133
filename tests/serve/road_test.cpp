// One road: chat and /v1/relevance say exactly what Asker::ask and Asker::look say.
#include "arrcoc/ask.h"
#include "arrcoc/json.h"
#include "arrcoc/media.h"
#include "support.h"

namespace arrcoc::serving::test {
namespace {

struct Case {
  std::vector<std::string> pictures;
  std::string question;
  json extension;
};

Picture picture_of(const std::string& name) {
  return media::decode(bytes_of(source("examples/pictures/" + name)), "the picture");
}

// What a request's extension object stands for.
AskOptions options_of(const json& extension) {
  AskOptions out = policy(extension.value("policy", "realized"));
  if (extension.contains("budget"))
    out.budget = extension["budget"].is_string() ? extension["budget"].get<std::string>()
                                                 : extension["budget"].dump();
  out.passes.passes = extension.value("passes", out.passes.passes);
  out.passes.total_budget = extension.value("total_budget", 0);
  return out;
}

// Without what only the server knows, and without times.
json alike(json said) {
  for (const char* key :
       {"object", "id", "logged", "milliseconds", "homunculus", "relevance", "quadtree"})
    said.erase(key);
  for (json& picture : said["pictures"])
    for (const char* key : {"homunculus", "name"}) picture.erase(key);
  return said;
}

class OneRoad : public ::testing::Test {
 protected:
  Running server;
  Asker asker{load_bundle(source("models/tiny"))};
};

TEST_F(OneRoad, ChatIsAsk) {
  const std::string receipt = "receipt.jpg", street = "street.jpg", chart = "chart.jpg";
  const std::vector<Case> cases = {
      {{receipt}, "What is the total?", json::object()},
      {{receipt}, "What is the price of the first item?", {{"budget", "auto"}}},
      {{receipt}, "What is the price of the first item?", {{"budget", 100}}},
      {{receipt}, "What is the date?", {{"budget", "auto:64-128"}}},
      {{receipt}, "What is the date?", {{"budget", "fast"}, {"policy", "lexical"}}},
      {{receipt}, "What is the date?", {{"policy", "learned"}}},
      {{receipt}, "What is the price of the first item?", {{"passes", 3}}},
      {{receipt}, "What is the price of the first item?", {{"policy", "passes"}, {"budget", 90}}},
      {{receipt},
       "What is the price of the first item?",
       {{"passes", 4}, {"budget", 150}, {"total_budget", 220}}},
      {{street, receipt}, "What is the total?", json::object()},
      {{street, receipt}, "What is the total?", {{"budget", 300}}},
      {{street, receipt}, "What is the price of the first item?", {{"passes", 2}, {"budget", 200}}},
      {{chart, receipt, street}, "What is the date in the second picture?", {{"budget", 256}}},
      {{chart, receipt}, "Which picture shows the total?", {{"budget", 300}}}};
  for (const Case& one : cases) {
    SCOPED_TRACE(one.question + one.extension.dump() + std::to_string(one.pictures.size()));
    std::vector<Picture> pictures;
    json body = question(one.question);
    body["messages"][0]["content"] = json::array({text(one.question)});
    for (const std::string& name : one.pictures) {
      pictures.push_back(picture_of(name));
      body["messages"][0]["content"].push_back(image(picture_url(name)));
    }
    body["arrcoc"] = one.extension;
    body["arrcoc"]["map"] = true;
    const Answer answer = asker.ask(pictures, one.question, options_of(one.extension));
    const json asked = to_json(answer, {true});
    const json reply = server.ask(body);
    EXPECT_EQ(reply["choices"][0]["message"]["content"], answer.text);
    EXPECT_EQ(reply["usage"]["image_tokens"],
              json({{"kept", answer.tokens}, {"native", answer.native_tokens}}));
    EXPECT_EQ(reply["arrcoc"]["logged"], false);
    EXPECT_EQ(json::diff(alike(asked), alike(reply["arrcoc"])), json::array());
    body["stream"] = true;
    const auto parts = events(server.post("/v1/chat/completions", body)->body);
    const json last = json::parse(parts[parts.size() - 2]);
    EXPECT_EQ(json::diff(alike(asked), alike(last["arrcoc"])), json::array());
  }
}

TEST_F(OneRoad, RelevanceIsLook) {
  for (const json& extension :
       {json::object(), json({{"budget", 100}}), json({{"policy", "lexical"}}),
        json({{"policy", "saliency"}, {"budget", "accurate"}}), json({{"passes", 2}})}) {
    SCOPED_TRACE(extension.dump());
    const Answer answer =
        asker.look(picture_of("receipt.jpg"), "What is the total?", options_of(extension));
    json body = {{"image", picture_url()}, {"question", "What is the total?"}};
    body["arrcoc"] = extension;
    const auto reply = server.post("/v1/relevance", body);
    ASSERT_EQ(reply->status, 200) << reply->body;
    EXPECT_EQ(json::diff(alike(to_json(answer, {true})), alike(json::parse(reply->body))),
              json::array());
  }
}

TEST_F(OneRoad, WeightsAndTensionsAreThoseThatMadeTheMap) {
  const auto look = [&](const char* policy) {
    return json::parse(server
                           .post("/v1/relevance", {{"image", picture_url()},
                                                   {"question", "What is the total?"},
                                                   {"arrcoc", {{"policy", policy}}}})
                           ->body);
  };
  const json network = look("realized"), scorers = look("lexical");
  EXPECT_EQ(network["weights"], json({{"information", 0.0}, {"salience", 0.0}, {"coupling", 1.0}}));
  EXPECT_FALSE(network.contains("tensions"));
  EXPECT_TRUE(scorers.contains("tensions"));
}

}  // namespace
}  // namespace arrcoc::serving::test
