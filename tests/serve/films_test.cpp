// Films in requests: the frame that says most is asked.
#include "serve/films.h"

#include <ATen/ATen.h>

#include "json_schema.h"
#include "support.h"

namespace arrcoc::serving::test {
namespace {

// Four empty frames, then four of the receipt, as a film.
std::string film_url(const Folder& folder) {
  const Picture receipt = media::decode(bytes_of(source("examples/pictures/receipt.jpg")));
  const std::string path = folder / "film.avi";
  {
    media::VideoWriter writer(path, 25);
    for (int i = 0; i < 4; ++i) writer.write(at::full_like(receipt.rgb, 235));
    for (int i = 0; i < 4; ++i) writer.write(receipt.rgb);
    writer.finish();
  }
  return "data:video/x-msvideo;base64," + to_base64(bytes_of(path));
}

json film_question(const std::string& url) {
  return {
      {"messages",
       {{{"role", "user"},
         {"content",
          {{{"type", "video_url"}, {"video_url", {{"url", url}}}}, text("What is the total?")}}}}}};
}

TEST(Films, TheFrameThatSaysMostIsAsked) {
  Folder folder;
  Running server;
  const std::string url = film_url(folder);
  const json reply = server.ask(film_question(url));
  const json& film = reply["arrcoc"]["films"][0];
  EXPECT_GE(film["frame"], 4) << "not an empty one";
  EXPECT_EQ(film["frames"], 8);
  EXPECT_EQ(reply["choices"][0]["message"]["content"], "33.10");
  json body = film_question(url);
  body["messages"][0]["content"][0]["video_url"] = url;  // as a string
  body["arrcoc"] = {{"budget", 64}};
  EXPECT_LE(server.ask(body)["usage"]["image_tokens"]["kept"], 64);
}

TEST(Films, TheTimelineSaysWhereTheTokensWent) {
  Folder folder;
  Running server;
  json body = film_question(film_url(folder));
  const json plain = server.ask(body)["arrcoc"];
  EXPECT_FALSE(plain["films"][0].contains("timeline")) << "only where maps are asked for";
  body["arrcoc"] = {{"map", true}};
  json& content = body["messages"][0]["content"];
  content.insert(content.begin(), image(picture_url("street.jpg")));
  const json reply = server.ask(body);
  const SchemaCheck check(json::parse(server.client().Get("/openapi.json")->body));
  EXPECT_EQ(check.request(body, "/v1/chat/completions"), "");
  EXPECT_EQ(check.reply(reply, "/v1/chat/completions", "post", 200), "");
  const json& film = reply["arrcoc"]["films"][0];
  EXPECT_EQ(film["picture"], 2) << "the street is the first";
  EXPECT_EQ(film["fps"], 25);
  EXPECT_EQ(film["more"], false);
  const json& time = film["timeline"];
  ASSERT_EQ(time["tokens"].size(), 8U);
  ASSERT_EQ(time["relevance"].size(), 8U);
  int64_t all = 0;
  for (const json& tokens : time["tokens"]) all += tokens.get<int64_t>();
  EXPECT_EQ(film["tokens"], all);
  EXPECT_GT(all, 0);
  EXPECT_EQ(time["cuts"], json::array({4})) << "the receipt comes after four empty frames";
  EXPECT_LT(time["relevance"][0], time["relevance"][4]);
  ASSERT_EQ(film["strip"].size(), 8U);
  EXPECT_EQ(film["strip"][7]["frame"], 7);
  const std::string small = film["strip"][7]["image"];
  const Picture decoded = media::decode(data_url_bytes(small));
  EXPECT_LE(std::max(decoded.width(), decoded.height()), 160);
  const std::string name = reply["arrcoc"]["pictures"][1]["name"];
  const auto frame = server.client().Get("/v1/pictures/" + name);
  ASSERT_EQ(frame->status, 200) << "the frame that was asked";
  EXPECT_EQ(reply["arrcoc"]["pictures"][1]["width"], 456) << "films have even sides";
}

TEST(Films, ALongOneIsWatchedSoFarAndSaysSo) {
  Folder folder;
  const std::string path = folder / "film.avi";
  {
    media::VideoWriter writer(path, 25);
    const at::Tensor frame = at::full({3, 48, 64}, 90, at::kByte);
    for (int64_t i = 0; i < kMostFrames + 1; ++i) writer.write(frame);
    writer.finish();
  }
  Running server;
  json body = film_question("data:video/x-msvideo;base64," + to_base64(bytes_of(path)));
  body["arrcoc"] = {{"map", true}};
  const json film = server.ask(body)["arrcoc"]["films"][0];
  EXPECT_EQ(film["frames"], kMostFrames);
  EXPECT_EQ(film["more"], true);
  ASSERT_LE(film["strip"].size(), kMostSmall);
  EXPECT_GE(film["strip"].size(), kMostSmall / 2);
  const int64_t step = film["strip"][1]["frame"];
  for (size_t i = 0; i < film["strip"].size(); ++i)
    EXPECT_EQ(film["strip"][i]["frame"], static_cast<int64_t>(i) * step);
}

TEST(Films, WhatIsNoFilmIsRefusedInOneLine) {
  Running server;
  for (const char* url : {"https://example.com/a.mp4", "file:///a.mp4", "data:video/mp4,xx",
                          "data:video/mp4;base64,????", "data:video/mp4;base64,AAAA", ""}) {
    const auto reply = server.post("/v1/chat/completions", film_question(url));
    ASSERT_TRUE(reply) << url;
    EXPECT_EQ(reply->status / 100, 4) << url << reply->body;
    EXPECT_EQ(reply->body.find("/proc/"), std::string::npos) << reply->body;
    EXPECT_EQ(reply->body.find('\n'), std::string::npos);
  }
}

}  // namespace
}  // namespace arrcoc::serving::test
