// Anthropic's Messages: POST /v1/messages and /v1/messages/count_tokens
#include "serve/protocols/fields.h"
#include "serve/protocols/protocol.h"

namespace arrcoc::serving {

namespace {

using namespace fields;

void add_source(const json& block, const std::string& type, Message& message) {
  const json& source = need(block, "source");
  if (!source.is_object()) wrong("source", "an object");
  const std::string kind = need_words(source, "type");
  if (kind != "base64")
    unsupported("sources of type '" + kind.substr(0, 40) + "' are not fetched: send the " + type +
                " as base64");
  const std::string media = need_words(source, "media_type");
  const bool known = type == "image" ? media.rfind("image/", 0) == 0 : media == "application/pdf";
  if (!known || media.size() > 64)
    wrong("media_type", type == "image" ? "image/..." : "application/pdf");
  add_base64(need_words(source, "data"), media, message);
}

void add_block(const json& block, Message& message) {
  if (!block.is_object()) wrong("content", "a string or a list of blocks");
  const std::string type = need_words(block, "type");
  if (type == "text") {
    add_text(need_words(block, "text"), message);
  } else if (type == "image" || type == "document") {
    add_source(block, type, message);
  } else if (type != "thinking" && type != "redacted_thinking") {  // of another model's turn
    refuse_part(type, "text, image and document");
  }
}

Message parse_content(ChatRole role, const json& content, const char* field) {
  Message out;
  out.role = role;
  if (content.is_string()) {
    out.text = content.get<std::string>();
  } else if (content.is_array()) {
    for (const json& block : content) add_block(block, out);
  } else {
    wrong(field, "a string or a list of blocks");
  }
  return out;
}

const char* error_type(int status) {
  switch (status) {
    case 401:
      return "authentication_error";
    case 403:
      return "permission_error";
    case 404:
      return "not_found_error";
    case 413:
      return "request_too_large";
    case 429:
      return "rate_limit_error";
    case 503:
      return "overloaded_error";
    case 504:
      return "timeout_error";
    default:
      return status < 500 ? "invalid_request_error" : "api_error";
  }
}

ordered_json error_of(const ApiError& problem) {
  return {{"type", "error"},
          {"error", {{"type", error_type(problem.status())}, {"message", problem.what()}}}};
}

ordered_json usage_of(const Usage& u) {
  return {{"input_tokens", u.kept + u.text},
          {"cache_creation_input_tokens", 0},
          {"cache_read_input_tokens", 0},
          {"output_tokens", u.completion},
          {"image_tokens", u.image_tokens()}};
}

const char* stop_reason(Finish finish) {
  return finish == Finish::length     ? "max_tokens"
         : finish == Finish::sequence ? "stop_sequence"
                                      : "end_turn";
}

ordered_json sequence_of(const Said& said) {
  return said.finish == Finish::sequence ? ordered_json(said.sequence) : ordered_json();
}

ordered_json message_of(const std::string& id, const std::string& model) {
  return {{"id", id},
          {"type", "message"},
          {"role", "assistant"},
          {"model", model},
          {"content", ordered_json::array()},
          {"stop_reason", nullptr},
          {"stop_sequence", nullptr}};
}

class MessageEvents : public Events {
 public:
  MessageEvents(const ChatRequest& request, const std::string& id)
      : message_(message_of(id, request.model)) {}

  std::string start() override {
    message_["usage"] = usage_of({});  // known at the end only
    message_["usage"].erase("image_tokens");
    return event("message_start", {{"message", message_}}) +
           event("content_block_start",
                 {{"index", 0}, {"content_block", {{"type", "text"}, {"text", ""}}}}) +
           event("ping", ordered_json::object());
  }
  std::string text(const std::string& piece) override {
    return event("content_block_delta",
                 {{"index", 0}, {"delta", {{"type", "text_delta"}, {"text", piece}}}});
  }
  std::string end(const Said& said) override {
    const ordered_json delta = {{"stop_reason", stop_reason(said.finish)},
                                {"stop_sequence", sequence_of(said)}};
    return event("content_block_stop", {{"index", 0}}) +
           event("message_delta",
                 {{"delta", delta}, {"usage", usage_of(said.usage)}, {"arrcoc", said.extension}}) +
           event("message_stop", ordered_json::object());
  }
  std::string error(const ApiError& problem) override {
    return named_event("error", error_of(problem));
  }

 private:
  static std::string event(const char* type, const ordered_json& fields) {
    ordered_json out = {{"type", type}};
    out.update(fields);
    return named_event(type, out);
  }
  ordered_json message_;
};

class Messages : public Protocol {
 public:
  ChatRequest parse(const json& request, bool counted) const override {
    require_object(request);
    ChatRequest out;
    add_model(request, out);
    if (const json* system = find(request, "system"))
      out.messages.push_back(parse_content(ChatRole::system, *system, "system"));
    for (const json& message : messages(request, "messages"))
      out.messages.push_back(parse_content(role(message, {ChatRole::user, ChatRole::assistant}),
                                           need(message, "content"), "content"));
    if (!counted)
      out.max_tokens = fields::whole(need(request, "max_tokens"), "max_tokens", 1, 1 << 30);
    add_sampling(request, out);
    add_stop(request, "stop_sequences", out);
    return out;
  }
  const char* id_prefix() const override { return "msg_"; }
  ordered_json whole(const ChatRequest&, const Said& said) const override {
    ordered_json out = message_of(said.id, said.model);
    out["content"] = ordered_json::array({{{"type", "text"}, {"text", said.text}}});
    out["stop_reason"] = stop_reason(said.finish);
    out["stop_sequence"] = sequence_of(said);
    out["usage"] = usage_of(said.usage);
    out["arrcoc"] = said.extension;
    return out;
  }
  std::unique_ptr<Events> events(const ChatRequest& request, const std::string& id) const override {
    return std::make_unique<MessageEvents>(request, id);
  }
  ordered_json count(const Usage& u) const override {
    return {{"input_tokens", u.kept + u.text},
            {"text_tokens", u.text},
            {"image_tokens", u.image_tokens()}};
  }
  std::string error(const ApiError& problem) const override { return dump(error_of(problem)); }
};

}  // namespace

const Protocol& anthropic_messages() {
  static const Messages protocol;
  return protocol;
}

}  // namespace arrcoc::serving
