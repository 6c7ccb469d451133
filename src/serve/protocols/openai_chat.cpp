// OpenAI's chat completions: POST /v1/chat/completions
#include <ctime>

#include "serve/films.h"
#include "serve/protocols/fields.h"
#include "serve/protocols/protocol.h"

namespace arrcoc::serving {

namespace {

using namespace fields;

void add_part(const json& part, Message& message) {
  if (!part.is_object()) wrong("content", "a string or a list of parts");
  const std::string type = need_words(part, "type");
  if (type == "text") {
    add_text(need_words(part, "text"), message);
  } else if (type == "image_url") {
    const json& image = need(part, "image_url");
    if (image.is_string()) return add_picture(image.get<std::string>(), {&part}, message);
    if (!image.is_object()) wrong("image_url", "a URL or an object with a 'url'");
    add_picture(need_words(image, "url"), {&part, &image}, message);
  } else if (type == "video_url") {
    const json& film = need(part, "video_url");
    std::string url = film.is_string() ? film.get<std::string>() : need_words(film, "url");
    if (!is_film(url)) unsupported("a film must be a data:video/...;base64 URL");
    add_picture(std::move(url), {&part}, message);
  } else {
    refuse_part(type, "text, image_url and video_url");
  }
}

Message parse_message(const json& given) {
  Message out;
  out.role = role(given, {ChatRole::system, ChatRole::user, ChatRole::assistant, ChatRole::tool});
  const json* content = find(given, "content");
  if (!content) {
    if (out.role == ChatRole::user) throw ApiError(400, "invalid_request", "'content' is missing");
  } else if (content->is_string()) {
    out.text = content->get<std::string>();
  } else if (content->is_array()) {
    for (const json& part : *content) add_part(part, out);
  } else {
    wrong("content", "a string or a list of parts");
  }
  return out;
}

const char* finish_reason(Finish finish) { return finish == Finish::length ? "length" : "stop"; }

// What chunks and completions begin with.
ordered_json head(const std::string& id, const char* object, const std::string& model) {
  return {{"id", id},
          {"object", object},
          {"created", static_cast<int64_t>(std::time(nullptr))},
          {"model", model}};
}

class ChatEvents : public Events {
 public:
  ChatEvents(const ChatRequest& request, const std::string& id)
      : include_usage_(request.include_usage),
        head_(head(id, "chat.completion.chunk", request.model)) {}

  std::string start() override {
    return event(chunk({{"role", "assistant"}, {"content", ""}}, nullptr));
  }
  std::string looked(const ordered_json& extension) override {
    ordered_json out = head_;
    out["choices"] = ordered_json::array();
    out["arrcoc"] = extension;
    return event(out);
  }
  std::string text(const std::string& piece) override {
    return event(chunk({{"content", piece}}, nullptr));
  }
  std::string end(const Said& said) override {
    ordered_json last = chunk(ordered_json::object(), finish_reason(said.finish));
    last["arrcoc"] = said.extension;
    std::string out = event(last);
    if (include_usage_) {
      ordered_json usage = head_;
      usage["choices"] = ordered_json::array();
      usage["usage"] = to_json(said.usage);
      out += event(usage);
    }
    return out + "data: [DONE]\n\n";
  }
  std::string error(const ApiError& problem) override { return "data: " + problem.body() + "\n\n"; }

 private:
  ordered_json chunk(const ordered_json& delta, const ordered_json& finish) const {
    ordered_json out = head_;
    out["choices"] = ordered_json::array(
        {{{"index", 0}, {"delta", delta}, {"logprobs", nullptr}, {"finish_reason", finish}}});
    return out;
  }

  const bool include_usage_;
  const ordered_json head_;
};

class Chat : public Protocol {
 public:
  ChatRequest parse(const json& request, bool) const override { return parse_chat(request); }
  const char* id_prefix() const override { return "chatcmpl-"; }
  ordered_json whole(const ChatRequest&, const Said& said) const override {
    ordered_json out = head(said.id, "chat.completion", said.model);
    const ordered_json message = {
        {"role", "assistant"}, {"content", said.text}, {"refusal", nullptr}};
    out["choices"] = ordered_json::array({{{"index", 0},
                                           {"message", message},
                                           {"logprobs", nullptr},
                                           {"finish_reason", finish_reason(said.finish)}}});
    out["usage"] = to_json(said.usage);
    out["arrcoc"] = said.extension;
    return out;
  }
  std::unique_ptr<Events> events(const ChatRequest& request, const std::string& id) const override {
    return std::make_unique<ChatEvents>(request, id);
  }
};

}  // namespace

ChatRequest parse_chat(const json& request) {
  require_object(request);
  ChatRequest out;
  add_model(request, out);
  for (const json& message : messages(request, "messages"))
    out.messages.push_back(parse_message(message));
  if (const json* options = find(request, "stream_options")) {
    if (!options->is_object()) wrong("stream_options", "an object");
    out.include_usage = flag(*options, "include_usage");
  }
  for (const char* key : {"max_tokens", "max_completion_tokens"})
    if (const json* limit = find(request, key)) out.max_tokens = whole(*limit, key, 1, 1 << 30);
  add_sampling(request, out);
  add_stop(request, "stop", out);
  if (const json* n = find(request, "n"); n && *n != 1) wrong("n", "1");
  return out;
}

const Protocol& openai_chat() {
  static const Chat protocol;
  return protocol;
}

}  // namespace arrcoc::serving
