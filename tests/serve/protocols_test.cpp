// OpenAI's Responses, Anthropic's Messages and Ollama, as their clients see them.
#include "serve/protocols/protocol.h"

#include "support.h"

namespace arrcoc::serving::test {
namespace {

std::string base64() { return picture_url().substr(picture_url().find(',') + 1); }

json response(const std::string& words = "What is the total?") {
  return {{"model", "arrcoc-tiny"},
          {"input",
           {{{"role", "user"},
             {"content",
              {{{"type", "input_image"}, {"image_url", picture_url()}},
               {{"type", "input_text"}, {"text", words}}}}}}}};
}

json message(const std::string& words = "What is the total?") {
  const json source = {{"type", "base64"}, {"media_type", "image/jpeg"}, {"data", base64()}};
  return {
      {"model", "arrcoc-tiny"},
      {"max_tokens", 64},
      {"messages",
       {{{"role", "user"}, {"content", {{{"type", "image"}, {"source", source}}, text(words)}}}}}};
}

json ollama(const std::string& words = "What is the total?") {
  return {{"model", "arrcoc-tiny"},
          {"messages", {{{"role", "user"}, {"content", words}, {"images", {base64()}}}}}};
}

json generate(const std::string& words = "What is the total?") {
  return {{"model", "arrcoc-tiny"}, {"prompt", words}, {"images", {base64()}}};
}

// Name and data of every event.
std::vector<std::pair<std::string, json>> named(const std::string& body) {
  std::vector<std::pair<std::string, json>> out;
  std::istringstream in(body);
  for (std::string line, name; std::getline(in, line);) {
    if (line.rfind("event: ", 0) == 0) name = line.substr(7);
    if (line.rfind("data: ", 0) == 0) out.emplace_back(name, json::parse(line.substr(6)));
  }
  return out;
}

std::string refusal(const Protocol& protocol, const json& request) {
  try {
    const ChatRequest read = protocol.parse(request, false);
    read.question();
    return "accepted";
  } catch (const ApiError& e) {
    EXPECT_EQ(e.status(), 400) << e.what();
    EXPECT_EQ(std::string(e.what()).find('\n'), std::string::npos);
    return e.what();
  }
}

// Every protocol puts one thing to a pointer of a good request; the refusal must say `about`.
struct Mistake {
  const char* pointer;
  json value;
  const char* about;
};
void expect_refused(const Protocol& protocol, const json& good,
                    const std::vector<Mistake>& mistakes) {
  EXPECT_EQ(refusal(protocol, good), "accepted");
  EXPECT_NE(refusal(protocol, json::array()), "accepted");
  EXPECT_NE(refusal(protocol, json::object()), "accepted");
  for (const Mistake& m : mistakes) {
    json bad = good;
    bad[json::json_pointer(m.pointer)] = m.value;
    EXPECT_NE(refusal(protocol, bad).find(m.about), std::string::npos)
        << m.pointer << ": " << refusal(protocol, bad);
  }
}

TEST(ProtocolParts, MistakesInResponsesAreNamed) {
  expect_refused(openai_responses(), response(),
                 {{"/previous_response_id", "resp_1", "whole conversation"},
                  {"/conversation", "conv_1", "whole conversation"},
                  {"/store", true, "'store'"},
                  {"/background", true, "'background'"},
                  {"/input", 7, "'input'"},
                  {"/input", json::array(), "'input'"},
                  {"/input/0", "hello", "'input'"},
                  {"/input/0/type", "function_call_output", "function_call_output"},
                  {"/input/0/role", "tool", "'role'"},
                  {"/input/0/content/0/type", "input_audio", "input_audio"},
                  {"/input/0/content/0/type", "input_video", "films"},
                  {"/input/0/content/0/image_url", nullptr, "image_url"},
                  {"/input/0/content/0/image_url", json::object(), "'image_url'"},
                  {"/input/0/content/0/detail", "sharp", "'detail'"},
                  {"/instructions", 3, "'instructions'"},
                  {"/max_output_tokens", 0, "'max_output_tokens'"},
                  {"/stream", "yes", "'stream'"},
                  {"/arrcoc/colour", 1, "arrcoc.colour"}});
  json fine = response();
  fine["store"] = false;
  fine["previous_response_id"] = nullptr;
  fine["input"].insert(fine["input"].begin(),
                       json{{"type", "reasoning"}, {"summary", json::array()}});
  EXPECT_EQ(refusal(openai_responses(), fine), "accepted");
}

TEST(ProtocolParts, MistakesInMessagesAreNamed) {
  expect_refused(anthropic_messages(), message(),
                 {{"/max_tokens", 0, "'max_tokens'"},
                  {"/messages", json::array(), "'messages'"},
                  {"/messages/0/role", "system", "'role'"},
                  {"/messages/0/content", 7, "'content'"},
                  {"/messages/0/content/0/type", "tool_result", "tool_result"},
                  {"/messages/0/content/0/type", "video", "films"},
                  {"/messages/0/content/0/source", "x", "'source'"},
                  {"/messages/0/content/0/source/type", "url", "base64"},
                  {"/messages/0/content/0/source/type", "file", "base64"},
                  {"/messages/0/content/0/source/media_type", "text/html", "'media_type'"},
                  {"/messages/0/content/0/source/data", 3, "'data'"},
                  {"/system", 3, "'system'"},
                  {"/stop_sequences", json::array({""}), "'stop_sequences'"},
                  {"/stop_sequences", 3, "'stop_sequences'"},
                  {"/temperature", 3, "'temperature'"}});
  json no_limit = message();
  no_limit.erase("max_tokens");
  EXPECT_NE(refusal(anthropic_messages(), no_limit).find("'max_tokens'"), std::string::npos);
  EXPECT_NO_THROW(anthropic_messages().parse(no_limit, true));
  json blocks = message();
  blocks["system"] = json::array({text("Be brief."), text("Be kind.")});
  EXPECT_EQ(anthropic_messages().parse(blocks, false).messages[0].text, "Be brief.\nBe kind.");
}

TEST(ProtocolParts, MistakesInOllamasRequestsAreNamed) {
  expect_refused(ollama_chat(), ollama(),
                 {{"/messages/0/role", "king", "'role'"},
                  {"/messages/0/content", json::array(), "'content'"},
                  {"/messages/0/images", "x", "'images'"},
                  {"/messages/0/images/0", 3, "'images'"},
                  {"/options", 3, "'options'"},
                  {"/options/num_predict", "x", "'num_predict'"},
                  {"/options/seed", 0.5, "'seed'"},
                  {"/stream", 1, "'stream'"}});
  expect_refused(ollama_generate(), generate(),
                 {{"/prompt", 3, "'prompt'"},
                  {"/context", {1, 2}, "'context'"},
                  {"/suffix", "x", "'suffix'"},
                  {"/system", 3, "'system'"}});
  EXPECT_TRUE(ollama_chat().parse(ollama(), false).stream);
  json body = generate();
  body["stream"] = false;
  body["options"] = {{"num_predict", -1}, {"stop", "x"}};
  const ChatRequest read = ollama_generate().parse(body, false);
  EXPECT_FALSE(read.stream);
  EXPECT_EQ(read.max_tokens, 0);
  EXPECT_EQ(read.stop, std::vector<std::string>{"x"});
}

TEST(ProtocolParts, StopSequencesAreHeldBackUntilTheyAreCertain) {
  std::string found;
  EXPECT_EQ(before_stop("one, two; three", {"; ", ", "}, found), "one");
  EXPECT_EQ(found, ", ");
  EXPECT_EQ(before_stop("one", {"x"}, found), "one");
  EXPECT_EQ(found, "");
  EXPECT_EQ(without_beginnings("abc##", {"###"}), "abc");
  EXPECT_EQ(without_beginnings("abc##", {"#x", "####"}), "abc");
  EXPECT_EQ(without_beginnings("abc", {"###"}), "abc");
  EXPECT_EQ(without_beginnings("##", {"###"}), "");
  EXPECT_EQ(without_beginnings("", {"###"}), "");
}

TEST(ProtocolParts, AStreamThatFailsEndsWithAnErrorInItsForm) {
  const ApiError late(504, "timeout", "the answer took longer than allowed");
  const ChatRequest request;
  const auto last = [&](const Protocol& protocol) {
    const auto events = protocol.events(request, "x");
    events->start();
    events->text("ab");
    return events->error(late);
  };
  EXPECT_EQ(json::parse(events(last(openai_chat())).back())["error"]["code"], "timeout");
  const auto failed = named(last(openai_responses()));
  ASSERT_EQ(failed.size(), 2U);
  EXPECT_EQ(failed[0].first, "error");
  EXPECT_EQ(failed[0].second["code"], "timeout");
  EXPECT_EQ(failed[0].second["sequence_number"], 5);
  EXPECT_EQ(failed[1].first, "response.failed");
  EXPECT_EQ(failed[1].second["response"]["status"], "failed");
  const auto error = named(last(anthropic_messages()));
  ASSERT_EQ(error.size(), 1U);
  EXPECT_EQ(error[0].first, "error");
  EXPECT_EQ(error[0].second["error"]["type"], "timeout_error");
  EXPECT_EQ(last(ollama_chat()), "{\"error\":\"the answer took longer than allowed\"}\n");
}

// One answer, five ways to ask for it, whole and in pieces.
TEST(Protocols, AllGiveTheSameAnswer) {
  Running server;
  const std::string words = "What is the date?";
  const std::string answer = server.ask(question(words))["choices"][0]["message"]["content"];
  const auto whole = [&](const char* path, json body) {
    body["stream"] = false;
    const auto reply = server.post(path, body);
    EXPECT_EQ(reply->status, 200) << reply->body.substr(0, 200);
    return json::parse(reply->body);
  };
  EXPECT_EQ(whole("/v1/responses", response(words))["output"][0]["content"][0]["text"], answer);
  EXPECT_EQ(whole("/v1/messages", message(words))["content"][0]["text"], answer);
  EXPECT_EQ(whole("/api/chat", ollama(words))["message"]["content"], answer);
  EXPECT_EQ(whole("/api/generate", generate(words))["response"], answer);
  const auto streamed = [&](const char* path, json body) {
    body["stream"] = true;
    return server.post(path, body)->body;
  };
  std::string said;
  int number = 0;
  for (const auto& [name, data] : named(streamed("/v1/responses", response(words)))) {
    EXPECT_EQ(name, data["type"]);
    EXPECT_EQ(data["sequence_number"], number++);
    if (name == "response.output_text.delta") said += data["delta"];
  }
  EXPECT_EQ(said, answer);
  said.clear();
  std::vector<std::string> names;
  for (const auto& [name, data] : named(streamed("/v1/messages", message(words)))) {
    EXPECT_EQ(name, data["type"]);
    if (names.empty() || names.back() != name) names.push_back(name);
    if (name == "content_block_delta") said += data["delta"]["text"];
  }
  EXPECT_EQ(said, answer);
  EXPECT_EQ(names, (std::vector<std::string>{"message_start", "content_block_start", "ping",
                                             "content_block_delta", "content_block_stop",
                                             "message_delta", "message_stop"}));
  said.clear();
  std::istringstream lines(streamed("/api/generate", generate(words)));
  for (std::string line; std::getline(lines, line);) said += json::parse(line)["response"];
  EXPECT_EQ(said, answer);
}

TEST(Protocols, ErrorsAreInTheirOwnForm) {
  Options options = usual_options();
  options.api_key = "secret";
  options.max_body_mb = 1;
  Running server(options);
  const httplib::Headers key = {{"x-api-key", "secret"}};
  const auto post = [&](const char* path, const std::string& body, const httplib::Headers& with) {
    return server.client().Post(path, with, body, "application/json");
  };
  const std::string large(2 << 20, ' ');
  using Case = std::tuple<std::string, httplib::Headers, int, std::string>;
  const std::string other =
      R"({"model":"x","max_tokens":1,"messages":[{"role":"user","content":"a"}]})";
  const std::vector<Case> cases = {{"{", key, 400, "invalid_request_error"},
                                   {"{}", {}, 401, "authentication_error"},
                                   {"{}", {{"x-api-key", "other"}}, 401, "authentication_error"},
                                   {large, key, 413, "request_too_large"},
                                   {other, key, 404, "not_found_error"}};
  for (const char* path : {"/v1/messages", "/v1/messages/count_tokens"})
    for (const auto& [body, with, status, type] : cases) {
      const auto reply = post(path, body, with);
      ASSERT_EQ(reply->status, status) << path;
      const json said = json::parse(reply->body);
      EXPECT_EQ(said["type"], "error");
      EXPECT_EQ(said["error"]["type"], type);
      EXPECT_TRUE(said["error"]["message"].is_string());
    }
  for (const char* path : {"/api/chat", "/api/generate", "/api/show"}) {
    const auto broken = post(path, "{", key);
    EXPECT_EQ(broken->status, 400);
    EXPECT_TRUE(json::parse(broken->body)["error"].is_string()) << path;
    EXPECT_EQ(post(path, "{}", {})->status, 401);
    EXPECT_EQ(server.client().Get(path, key)->status, 405);
  }
  EXPECT_EQ(post("/v1/responses", "{}", key)->status, 400);
  EXPECT_EQ(error_code(post("/v1/responses", "{}", {})), "invalid_api_key");
  EXPECT_EQ(server.lines().find("secret"), std::string::npos);
}

TEST(Protocols, PicturesAreNeverFetchedInAnyOfThem) {
  Running server;
  json r = response();
  r["input"][0]["content"][0]["image_url"] = "http://127.0.0.1:1/x.png";
  EXPECT_EQ(error_code(server.post("/v1/responses", r)), "unsupported");
  r["input"][0]["content"][0]["image_url"] = "file:///etc/passwd";
  EXPECT_EQ(error_code(server.post("/v1/responses", r)), "unsupported");
  json o = ollama();
  for (const char* bad : {"http://127.0.0.1:1/x.png", "file:///etc/passwd", "/etc/passwd", ""}) {
    o["messages"][0]["images"][0] = bad;
    EXPECT_EQ(server.post("/api/chat", o)->status, 400) << bad;
  }
  json c = question();
  c["messages"][0]["content"][0]["image_url"] = picture_url();  // a string is a URL, too
  EXPECT_EQ(server.ask(c)["choices"][0]["message"]["content"], "33.10");
  c["messages"][0]["content"][0] = {{"type", "video_url"}, {"video_url", {{"url", "x"}}}};
  EXPECT_EQ(error_code(server.post("/v1/chat/completions", c)), "unsupported");
}

TEST(Protocols, TheServerSaysWhatItIs) {
  Running server;
  const auto get = [&](const char* path) { return json::parse(server.client().Get(path)->body); };
  EXPECT_EQ(get("/v1/models/arrcoc-tiny"), get("/v1/models")["data"][0]);
  EXPECT_EQ(server.client().Get("/v1/models/gpt-4o")->status, 404);
  EXPECT_EQ(server.client().Get("/v1/models/")->status, 404);
  EXPECT_EQ(get("/version"), get("/api/version"));
  const json props = get("/props");
  EXPECT_EQ(props["model_alias"], "arrcoc-tiny");
  EXPECT_EQ(props["arrcoc"]["token_pixels"], 16);
  const json tags = get("/api/tags")["models"];
  ASSERT_EQ(tags.size(), 1U);
  EXPECT_EQ(tags[0]["name"], "arrcoc-tiny:latest");
  const auto show = [&](const json& body) { return server.post("/api/show", body); };
  EXPECT_EQ(json::parse(show({{"model", "arrcoc-tiny"}})->body)["capabilities"][1], "vision");
  EXPECT_EQ(show({{"name", "arrcoc-tiny:latest"}})->status, 200);
  EXPECT_EQ(show({{"model", "llava"}})->status, 404);
  EXPECT_EQ(show(json::object())->status, 400);
  // Its characters are its tokens.
  const json tokens = json::parse(server.post("/tokenize", {{"prompt", "abba"}})->body);
  EXPECT_EQ(tokens["count"], 4);
  EXPECT_EQ(tokens["tokens"][0], tokens["tokens"][3]);
  for (const json& bad : {json::object(), json{{"prompt", 3}}, json::array(),
                          json{{"content", "a"}, {"with_pieces", true}},
                          json{{"prompt", std::string((1 << 20) + 1, 'x')}}})
    EXPECT_EQ(server.post("/tokenize", bad)->status, 400);
}

}  // namespace
}  // namespace arrcoc::serving::test
