// Films in requests: the frame that says most is asked.
#include "serve/films.h"

#include <ATen/ATen.h>

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
