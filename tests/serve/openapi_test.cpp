// What the specification promises, held against what the handlers really say.
#include "json_schema.h"
#include "support.h"

namespace arrcoc::serving::test {
namespace {

class OpenApi : public ::testing::Test {
 protected:
  static Options with_log(const Folder& folder) {
    Options options = usual_options();
    options.log = folder / "log.db";
    options.max_body_mb = 1;
    return options;
  }
  // Sends a request that the specification allows and checks the reply against it.
  json post(const std::string& path, const json& body, int status) {
    if (status == 200) EXPECT_EQ(check.request(body, path), "") << path;
    const auto reply = server.post(path, body);
    EXPECT_EQ(reply->status, status) << reply->body.substr(0, 400);
    const json said = json::parse(reply->body);
    EXPECT_EQ(check.reply(said, path, "post", status), "") << path << " " << status;
    return said;
  }
  json get(const std::string& path, int status) {
    const auto reply = server.client().Get(path);
    EXPECT_EQ(reply->status, status);
    const json said = json::parse(reply->body);
    EXPECT_EQ(check.reply(said, path, "get", status), "") << path;
    return said;
  }

  struct Spoken {
    const char* path;
    json body;
    const char* stream;  // type; "": it has none
  };
  static std::vector<Spoken> spoken() {
    const std::string data = picture_url().substr(picture_url().find(',') + 1);
    const json part = {{"type", "input_image"}, {"image_url", picture_url()}, {"detail", "low"}};
    const json words = {{"type", "input_text"}, {"text", "What is the total?"}};
    const json response = {{"instructions", "Be brief."},
                           {"temperature", 0.5},
                           {"input", {{{"role", "user"}, {"content", {part, words}}}}}};
    const json source = {{"type", "base64"}, {"media_type", "image/jpeg"}, {"data", data}};
    const json blocks = {{{"type", "image"}, {"source", source}}, text("What is the total?")};
    const json message = {{"max_tokens", 99},
                          {"system", "Be brief."},
                          {"messages", {{{"role", "user"}, {"content", blocks}}}}};
    const json turn = {{"role", "user"}, {"content", "What is the total?"}, {"images", {data}}};
    return {{"/v1/responses", response, "text/event-stream"},
            {"/v1/responses/input_tokens", response, ""},
            {"/v1/messages", message, "text/event-stream"},
            {"/v1/messages/count_tokens", message, ""},
            {"/api/chat", {{"messages", {turn}}}, "application/x-ndjson"},
            {"/api/generate",
             {{"prompt", "What is the total?"}, {"images", {data}}},
             "application/x-ndjson"}};
  }

  Folder folder;
  Running server{with_log(folder)};
  SchemaCheck check{json::parse(server.client().Get("/openapi.json")->body)};
};

TEST_F(OpenApi, RepliesAreAsWritten) {
  get("/health", 200);
  get("/v1/models", 200);
  get("/openapi.json", 200);
  json body = question();
  const json plain = post("/v1/chat/completions", body, 200);
  body["arrcoc"] = {{"budget", "fast"},
                    {"policy", "realized"},
                    {"passes", 3},
                    {"total_budget", 120},
                    {"map", true}};
  body["max_tokens"] = 3;
  body["temperature"] = 0.5;
  body["messages"].push_back({{"role", "user"}, {"content", "What is the cashier's name?"}});
  post("/v1/chat/completions", body, 200);
  post("/v1/chat/completions/input_tokens", question(), 200);
  for (bool map : {false, true})
    post("/v1/relevance",
         {{"image", picture_url()}, {"question", "What?"}, {"arrcoc", {{"map", map}}}}, 200);
  post("/v1/feedback", {{"id", plain["id"]}, {"rating", "up"}, {"comment", "right"}}, 200);
}

TEST_F(OpenApi, RepliesInOtherProtocolsAreAsWritten) {
  for (const char* path :
       {"/v1/models/arrcoc-tiny", "/props", "/version", "/api/version", "/api/tags"}) {
    const auto reply = server.client().Get(path);
    EXPECT_EQ(reply->status, 200) << path;
    const std::string written =
        std::string(path).starts_with("/v1/models/") ? "/v1/models/{id}" : path;
    EXPECT_EQ(check.reply(json::parse(reply->body), written, "get", 200), "") << path;
  }
  for (const auto& [path, body, type] : spoken()) {
    json request = body;
    if (*type != 0) request["stream"] = false;
    request["arrcoc"] = {{"map", true}, {"budget", 64}};
    if (std::string(path).ends_with("/generate")) request["options"] = {{"num_predict", 3}};
    post(path, request, 200);
    post(path, json::array(), 400);
    request["model"] = "another";
    post(path, request, 404);
  }
  post("/tokenize", {{"prompt", "abc"}}, 200);
  post("/tokenize", {{"prompt", 3}}, 400);
  post("/api/show", {{"model", "arrcoc-tiny"}}, 200);
  post("/api/show", {{"model", "another"}}, 404);
}

TEST_F(OpenApi, EveryEventInOtherProtocolsIsAsWritten) {
  for (const auto& [path, body, type] : spoken()) {
    if (*type == 0) continue;
    json request = body;
    request["stream"] = true;
    const auto reply = server.post(path, request);
    ASSERT_EQ(reply->status, 200) << path;
    EXPECT_EQ(reply->get_header_value("Content-Type"), type);
    std::istringstream lines(reply->body);
    int seen = 0;
    for (std::string line; std::getline(lines, line);) {
      if (line.rfind("data: ", 0) == 0) line = line.substr(6);
      if (line[0] != '{') continue;  // names of events
      ++seen;
      EXPECT_EQ(check.reply(json::parse(line), path, "post", 200, type), "") << line.substr(0, 300);
    }
    EXPECT_GE(seen, 2) << path;
  }
}

TEST_F(OpenApi, EveryEventOfAStreamIsAsWritten) {
  json body = question();
  body["stream"] = true;
  body["stream_options"] = {{"include_usage", true}};
  body["arrcoc"] = {{"map", true}};
  EXPECT_EQ(check.request(body, "/v1/chat/completions"), "");
  const auto reply = server.post("/v1/chat/completions", body);
  const auto parts = events(reply->body);
  ASSERT_GE(parts.size(), 4U);
  for (size_t i = 0; i + 1 < parts.size(); ++i)
    EXPECT_EQ(check.reply(json::parse(parts[i]), "/v1/chat/completions", "post", 200,
                          "text/event-stream"),
              "")
        << parts[i].substr(0, 300);
}

TEST_F(OpenApi, ErrorsAreAsWritten) {
  json body = question();
  body["model"] = "another";
  post("/v1/chat/completions", body, 404);
  post("/v1/chat/completions", json::array(), 400);
  post("/v1/relevance", {{"image", "x"}, {"question", "What?"}}, 400);
  post("/v1/relevance", {{"image", std::string(2 << 20, 'x')}, {"question", "What?"}}, 413);
  post("/v1/feedback", {{"id", "chatcmpl-none"}, {"rating", "up"}}, 404);
  post("/v1/feedback", {{"id", "x"}, {"rating", "sideways"}}, 400);
  const auto plain = server.client().Post("/v1/relevance", "{}", "text/plain");
  EXPECT_EQ(check.reply(json::parse(plain->body), "/v1/relevance", "post", 415), "");
}

// The check itself can fail.
TEST_F(OpenApi, TheCheckFindsWhatIsMissingWrongOrUnwritten) {
  const json good = post("/v1/chat/completions", question(), 200);
  const auto wrong = [&](const char* pointer, const json& value) {
    json bad = good;
    bad[json::json_pointer(pointer)] = value;
    return check.reply(bad, "/v1/chat/completions", "post", 200);
  };
  EXPECT_EQ(wrong("/usage/prompt_tokens", "12"),
            "$.usage.prompt_tokens is no \"integer\" but \"12\"");
  EXPECT_EQ(wrong("/usage/more", 1), "$.usage.more is not written down");
  EXPECT_EQ(wrong("/object", "text"), "$.object is not \"chat.completion\"");
  EXPECT_EQ(wrong("/arrcoc/pictures/0/passes/0", json::object()),
            "$.arrcoc.pictures[0].passes[0] has no \"manner\"");
  EXPECT_EQ(check.reply(good, "/v1/chat/completions", "post", 418),
            "/v1/chat/completions: status 418 is not written down");
}

}  // namespace
}  // namespace arrcoc::serving::test
