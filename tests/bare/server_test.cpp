// The server as it is without OpenCV and SQLite (docs/packages.md): it answers the same, and what
// it has not it says in one line. This program links what stands in for both there, so it does not
// link at all when the server begins to use something that they do not have.
#include "arrcoc/ask.h"
#include "arrcoc/bundle.h"
#include "arrcoc/error.h"
#include "arrcoc/media.h"
#include "serve/json_schema.h"
#include "serve/support.h"
#include "serve/upstream.h"

namespace arrcoc::serving::test {
namespace {

struct Demo {
  const char *picture, *question;
};
// Those of ./run demo.
constexpr Demo kDemo[] = {{"receipt", "What is the total?"},
                          {"receipt", "What is the date?"},
                          {"chart", "What is the value of South Africa?"},
                          {"street", "Which platform is this?"}};

bool names(const json& notes, const std::string& words) {
  return std::any_of(notes.begin(), notes.end(), [&](const json& note) {
    return note.get<std::string>().find(words) != std::string::npos;
  });
}

std::string message(const httplib::Result& reply) {
  return json::parse(reply->body)["error"]["message"];
}

json relevance_of_receipt() {
  return {
      {"image", picture_url()}, {"question", "What is the total?"}, {"arrcoc", {{"map", true}}}};
}

TEST(BareServer, AnswersAsTheProgramDoes) {
  const Running server;
  const Asker asker(load_bundle(source("models/tiny")));
  for (const Demo& demo : kDemo) {
    const std::string file = std::string(demo.picture) + ".jpg";
    const Picture picture = media::decode(bytes_of(source("examples/pictures/" + file)));
    const std::string wanted = asker.ask(picture, demo.question).text;
    EXPECT_FALSE(wanted.empty());
    const json reply = server.ask(question(demo.question, picture_url(file)));
    EXPECT_EQ(reply["choices"][0]["message"]["content"], wanted) << demo.question;
  }
}

TEST(BareServer, WhatCannotBeDrawnIsLeftOutAndNamed) {
  const Running server;
  json body = question();
  body["arrcoc"] = {{"map", true}};
  const json reply = server.ask(body);
  const json& said = reply["arrcoc"];
  EXPECT_EQ(reply["choices"][0]["message"]["content"], "33.10");
  EXPECT_FALSE(said["pictures"][0].contains("homunculus"));
  EXPECT_TRUE(names(said["fallbacks"], "heat maps: not in this build")) << said["fallbacks"];
  EXPECT_FALSE(said["pictures"][0]["passes"][0]["map"]["values"].empty())
      << "its numbers are there";
  const auto looked = server.post("/v1/relevance", relevance_of_receipt());
  ASSERT_EQ(looked->status, 200) << looked->body;
  const json drawn = json::parse(looked->body);
  for (const char* what : {"heat maps", "relevance maps", "quadtrees"})
    EXPECT_TRUE(names(drawn["fallbacks"], std::string(what) + ": not in this build")) << what;
  for (const char* drawing : {"homunculus", "relevance", "quadtree"})
    EXPECT_FALSE(drawn.contains(drawing)) << drawing;
  const SchemaCheck check(json::parse(server.client().Get("/openapi.json")->body));
  EXPECT_EQ(check.reply(reply, "/v1/chat/completions", "post", 200), "");
  EXPECT_EQ(check.reply(drawn, "/v1/relevance", "post", 200), "");
}

TEST(BareServer, PartsOfPicturesAreGivenAsPng) {
  const Running server;
  json body = question();
  body["arrcoc"] = {{"map", true}};
  const std::string name = server.ask(body)["arrcoc"]["pictures"][0]["name"];
  const auto part = server.client().Get("/v1/pictures/" + name + "?box=10,20,110,70");
  ASSERT_EQ(part->status, 200) << part->body;
  const Picture cut = media::decode({part->body.begin(), part->body.end()});
  EXPECT_EQ(cut.width(), 100);
  EXPECT_EQ(cut.height(), 50);
}

TEST(BareServer, FilmsAndPoliciesOfOthersAreRefusedInOneLine) {
  const Running server;
  json film = question();
  film["messages"][0]["content"][0] = {{"type", "video_url"},
                                       {"video_url", {{"url", "data:video/mp4;base64,AAAA"}}}};
  auto refused = server.post("/v1/chat/completions", film);
  EXPECT_EQ(refused->status, 400);
  EXPECT_EQ(error_code(refused), "unsupported");
  EXPECT_NE(message(refused).find("films are not in this build"), std::string::npos);
  for (const char* policy : {"full", "reader"}) {
    json body = question();
    body["arrcoc"] = {{"policy", policy}};
    refused = server.post("/v1/chat/completions", body);
    EXPECT_EQ(refused->status, 400) << policy << refused->body;
    EXPECT_NE(message(refused).find("not in this build"), std::string::npos) << refused->body;
  }
}

TEST(BareServer, AgentsGetMapsAsALineAndCropsAsPictures) {
  const Running server;
  const auto speak = [&](const std::string& method, const json& params,
                         const httplib::Headers& headers = {}) {
    const json body = {{"jsonrpc", "2.0"}, {"id", 1}, {"method", method}, {"params", params}};
    return server.client().Post("/mcp", headers, body.dump(), "application/json");
  };
  const auto greeted = speak("initialize", {{"protocolVersion", "2025-11-25"},
                                            {"capabilities", json::object()},
                                            {"clientInfo", json::object()}});
  ASSERT_EQ(greeted->status, 200) << greeted->body;
  const httplib::Headers session = {
      {"Mcp-Session-Id", greeted->get_header_value("Mcp-Session-Id")}};
  const auto call = [&](const std::string& tool, json arguments) {
    arguments["data"] = picture_url();
    return speak("tools/call", {{"name", tool}, {"arguments", arguments}}, session);
  };
  const auto look = call("look", {{"question", "What is the total?"}, {"map", true}});
  EXPECT_NE(look->body.find("relevance maps: not in this build"), std::string::npos) << look->body;
  const auto zoom = call("zoom", {{"question", "What is the total?"}});
  EXPECT_NE(zoom->body.find("image/png"), std::string::npos) << zoom->body.substr(0, 500);
}

TEST(BareServer, AnExampleLogIsRefusedBeforeItServes) {
  const Folder folder;
  Options options = usual_options();
  options.log = folder / "log.db";
  Server server(options);
  try {
    server.start();
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::unsupported);
    EXPECT_NE(std::string(e.what()).find("made without SQLite"), std::string::npos) << e.what();
  }
  EXPECT_FALSE(std::filesystem::exists(options.log));
  const Running without;
  const auto rated = without.post("/v1/feedback", {{"id", "chatcmpl-1"}, {"rating", "up"}});
  EXPECT_EQ(rated->status, 501) << rated->body;
}

TEST(BareServer, HttpsUpstreamsAreRefusedWithoutOpenSsl) {
  EXPECT_EQ(parse_address("http://host/v1", false).origin, "http://host");
  try {
    parse_address("https://host/v1", false);
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::unsupported);
    EXPECT_NE(std::string(e.what()).find("made without OpenSSL"), std::string::npos) << e.what();
  }
}

}  // namespace
}  // namespace arrcoc::serving::test
