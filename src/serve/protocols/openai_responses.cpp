// OpenAI's Responses: POST /v1/responses. Nothing is kept here, so every request brings all it
// needs.
#include <ctime>

#include "serve/encoding.h"
#include "serve/protocols/fields.h"
#include "serve/protocols/protocol.h"

namespace arrcoc::serving {

namespace {

using namespace fields;

constexpr const char* kParts = "input_text, input_image and output_text";

void add_part(const json& part, Message& message) {
  if (!part.is_object()) wrong("content", "a string or a list of parts");
  const std::string type = need_words(part, "type");
  if (type == "input_text" || type == "output_text" || type == "text") {
    add_text(need_words(part, "text"), message);
  } else if (type == "input_image") {
    const json* url = find(part, "image_url");
    if (!url) unsupported("an input_image needs an 'image_url': files are not kept here");
    add_picture(words(*url, "image_url"), {&part}, message);
  } else {
    refuse_part(type, kParts);
  }
}

Message parse_item(const json& item) {
  Message out;
  out.role = role(item, {ChatRole::system, ChatRole::user, ChatRole::assistant});
  const json& content = need(item, "content");
  if (content.is_string()) {
    out.text = content.get<std::string>();
  } else if (content.is_array()) {
    for (const json& part : content) add_part(part, out);
  } else {
    wrong("content", "a string or a list of parts");
  }
  return out;
}

void add_input(const json& request, ChatRequest& to) {
  if (const json& input = need(request, "input"); input.is_string()) {
    to.messages.push_back({ChatRole::user, input.get<std::string>(), {}, {}});
    return;
  }
  for (const json& item : messages(request, "input")) {
    const std::string type = item.contains("type") ? need_words(item, "type") : "message";
    if (type == "reasoning") continue;  // of a model that thought aloud before
    if (type != "message")
      unsupported("input items of type '" + type.substr(0, 40) + "' are not supported");
    to.messages.push_back(parse_item(item));
  }
}

void refuse_memory(const json& request) {
  for (const char* key : {"previous_response_id", "conversation", "prompt"})
    if (find(request, key))
      unsupported("'" + std::string(key) + "': nothing is kept here, send the whole conversation");
  if (flag(request, "store")) unsupported("'store': nothing is kept here, leave it out or false");
  if (flag(request, "background")) unsupported("'background': answers come with their request");
}

ordered_json usage_of(const Usage& u) {
  return {{"input_tokens", u.kept + u.text},
          {"input_tokens_details", {{"cached_tokens", 0}}},
          {"output_tokens", u.completion},
          {"output_tokens_details", {{"reasoning_tokens", 0}}},
          {"total_tokens", u.kept + u.text + u.completion},
          {"image_tokens", u.image_tokens()}};
}

template <class T>
ordered_json or_null(const T& value, bool given) {
  return given ? ordered_json(value) : ordered_json();
}

// The response object; `status` is in_progress, completed, incomplete or failed.
ordered_json response_of(const ChatRequest& r, const std::string& id, int64_t created,
                         const std::string& status) {
  return {{"id", id},
          {"object", "response"},
          {"created_at", created},
          {"status", status},
          {"background", false},
          {"error", nullptr},
          {"incomplete_details", nullptr},
          {"instructions", or_null(r.instructions, !r.instructions.empty())},
          {"max_output_tokens", or_null(r.max_tokens, r.max_tokens > 0)},
          {"metadata", ordered_json::object()},
          {"model", r.model},
          {"output", ordered_json::array()},
          {"parallel_tool_calls", false},
          {"previous_response_id", nullptr},
          {"reasoning", {{"effort", nullptr}, {"summary", nullptr}}},
          {"store", false},
          {"temperature", or_null(r.temperature.value_or(0), r.temperature.has_value())},
          {"text", {{"format", {{"type", "text"}}}}},
          {"tool_choice", "auto"},
          {"tools", ordered_json::array()},
          {"top_p", or_null(r.top_p.value_or(0), r.top_p.has_value())},
          {"truncation", "disabled"},
          {"usage", nullptr},
          {"user", nullptr}};
}

ordered_json part_of(const std::string& text) {
  return {{"type", "output_text"},
          {"text", text},
          {"annotations", ordered_json::array()},
          {"logprobs", ordered_json::array()}};
}

ordered_json item_of(const std::string& id, const char* status, const ordered_json& content) {
  return {{"type", "message"},
          {"id", id},
          {"status", status},
          {"role", "assistant"},
          {"content", content}};
}

const char* status_of(Finish finish) {
  return finish == Finish::length ? "incomplete" : "completed";
}

void finish_response(const Said& said, const std::string& item, ordered_json& response) {
  const char* status = status_of(said.finish);
  response["status"] = status;
  if (said.finish == Finish::length)
    response["incomplete_details"] = {{"reason", "max_output_tokens"}};
  response["output"] =
      ordered_json::array({item_of(item, status, ordered_json::array({part_of(said.text)}))});
  response["usage"] = usage_of(said.usage);
  response["arrcoc"] = said.extension;
}

class ResponseEvents : public Events {
 public:
  ResponseEvents(const ChatRequest& request, const std::string& id)
      : response_(
            response_of(request, id, static_cast<int64_t>(std::time(nullptr)), "in_progress")),
        item_(random_id("msg_")) {}

  std::string start() override {
    std::string out = event("response.created", {{"response", response_}});
    out += event("response.in_progress", {{"response", response_}});
    const ordered_json item = item_of(item_, "in_progress", ordered_json::array());
    out += event("response.output_item.added", {{"output_index", 0}, {"item", item}});
    out += event("response.content_part.added", placed({{"part", part_of("")}}));
    return out;
  }
  std::string text(const std::string& piece) override {
    return event("response.output_text.delta",
                 placed({{"delta", piece}, {"logprobs", ordered_json::array()}}));
  }
  std::string end(const Said& said) override {
    finish_response(said, item_, response_);
    std::string out = event("response.output_text.done",
                            placed({{"text", said.text}, {"logprobs", ordered_json::array()}}));
    out += event("response.content_part.done", placed({{"part", part_of(said.text)}}));
    out +=
        event("response.output_item.done", {{"output_index", 0}, {"item", response_["output"][0]}});
    out += event(said.finish == Finish::length ? "response.incomplete" : "response.completed",
                 {{"response", response_}});
    return out;
  }
  std::string error(const ApiError& problem) override {
    const ordered_json words = {{"code", problem.code()}, {"message", problem.what()}};
    response_["status"] = "failed";
    response_["error"] = words;
    ordered_json named = words;
    named["param"] = nullptr;
    std::string out = event("error", named);
    out += event("response.failed", {{"response", response_}});
    return out;
  }

 private:
  std::string event(const char* type, const ordered_json& fields) {
    ordered_json out = {{"type", type}, {"sequence_number", number_++}};
    out.update(fields);
    return named_event(type, out);
  }
  ordered_json placed(const ordered_json& fields) const {
    ordered_json out = {{"item_id", item_}, {"output_index", 0}, {"content_index", 0}};
    out.update(fields);
    return out;
  }

  ordered_json response_;
  const std::string item_;
  int number_ = 0;
};

class Responses : public Protocol {
 public:
  ChatRequest parse(const json& request, bool) const override {
    require_object(request);
    refuse_memory(request);
    ChatRequest out;
    add_model(request, out);
    if (const json* instructions = find(request, "instructions")) {
      out.instructions = words(*instructions, "instructions");
      out.messages.push_back({ChatRole::system, out.instructions, {}, {}});
    }
    add_input(request, out);
    if (const json* most = find(request, "max_output_tokens"))
      out.max_tokens = fields::whole(*most, "max_output_tokens", 1, 1 << 30);
    add_sampling(request, out);
    return out;
  }
  const char* id_prefix() const override { return "resp_"; }
  ordered_json whole(const ChatRequest& request, const Said& said) const override {
    ordered_json out =
        response_of(request, said.id, static_cast<int64_t>(std::time(nullptr)), "completed");
    finish_response(said, random_id("msg_"), out);
    return out;
  }
  std::unique_ptr<Events> events(const ChatRequest& request, const std::string& id) const override {
    return std::make_unique<ResponseEvents>(request, id);
  }
};

}  // namespace

const Protocol& openai_responses() {
  static const Responses protocol;
  return protocol;
}

}  // namespace arrcoc::serving
