// OpenAI Responses.
#include "serve/relay/dialects.h"

namespace arrcoc::serving {

namespace {

class OpenAiResponses : public Dialect {
 public:
  Conversation read(const json& request) const override {
    Conversation out;
    if (const std::string* model = string_at(request, "model")) out.model = *model;
    out.stream = flag_at(request, "stream");
    if (const std::string* input = string_at(request, "input"))
      out.messages.push_back({ChatRole::user, json::json_pointer("/input"), nullptr, *input});
    // output: of a function that was called
    read_messages(
        request, "input", {"content", "output"}, role_of_item,
        [&](const json& part, PicturePart at, RelayMessage& message) {
          read_part(part, std::move(at), message, out);
        },
        out);
    return out;
  }

  json view(const json& part, const std::string& png_base64) const override {
    json out = part;
    out["image_url"] = "data:image/png;base64," + png_base64;
    return out;
  }

  json words(const std::string& text) const override {
    return {{"type", "input_text"}, {"text", text}};
  }

  void append(const RelayMessage& message, const std::vector<json>& parts,
              std::vector<JsonEdit>& edits) const override {
    if (message.message) append_parts(message, words(message.text), parts, edits);
  }

  void hear(const json& data, Heard& heard) const override {
    const std::string* type = string_at(data, "type");
    if (type && *type == "response.output_text.delta") add_text(string_at(data, "delta"), heard);
    const json* response = object_at(data, "response");
    if (const json& whole = response ? *response : data; response || !type) {
      read_at(whole, "/usage/input_tokens", heard.prompt_tokens);
      read_at(whole, "/usage/output_tokens", heard.completion_tokens);
      read_at(whole, "/usage/input_tokens_details/image_tokens", heard.picture_tokens);
      const json* output = list_at(whole, "output");
      if (!response && output)
        for (const json& item : *output)
          if (const json* content = list_at(item, "content"))
            for (const json& part : *content) add_text(string_at(part, "text"), heard);
      const std::string* status = string_at(whole, "status");
      heard.cut = heard.cut || (status && *status == "incomplete");
    }
    if (type) heard.finished = heard.finished || last(*type);
  }

  json* extended(json& data, bool stream, bool) const override {
    if (!stream) return &data;
    const std::string* type = string_at(data, "type");
    return type && last(*type) && object_at(data, "response") ? &data["response"] : nullptr;
  }

  std::string error_event(const ApiError& error) const override {
    const json data = {{"type", "error"}, {"code", error.code()}, {"message", error.what()}};
    return "event: error\ndata: " + data.dump() + "\n\n";
  }

 private:
  static bool last(const std::string& type) {
    return type == "response.completed" || type == "response.incomplete" ||
           type == "response.failed";
  }

  static ChatRole role_of_item(const json& item) {
    const std::string* type = string_at(item, "type");
    if (type == nullptr || *type == "message") return role_of(item);
    return type->ends_with("_output") ? ChatRole::tool : ChatRole::assistant;
  }

  static void read_part(const json& part, PicturePart picture, RelayMessage& message,
                        Conversation& out) {
    const std::string* type = string_at(part, "type");
    if (type && (*type == "input_text" || *type == "output_text"))
      add_words(string_at(part, "text"), message);
    const std::string* url = string_at(part, "image_url");
    if (!type || *type != "input_image" || !url) return;
    picture.data = *url;
    picture.detail = detail_of(part);
    out.pictures.push_back(std::move(picture));
  }
};

}  // namespace

const Dialect& relay_openai_responses() {
  static const OpenAiResponses dialect;
  return dialect;
}

}  // namespace arrcoc::serving
