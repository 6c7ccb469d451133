// Anthropic Messages.
#include <algorithm>

#include "serve/relay/dialects.h"

namespace arrcoc::serving {

namespace {

class AnthropicMessages : public Dialect {
 public:
  Conversation read(const json& request) const override {
    Conversation out;
    if (const std::string* model = string_at(request, "model")) out.model = *model;
    out.stream = flag_at(request, "stream");
    read_messages(
        request, "messages", {"content"}, role_of,
        [&](const json& part, PicturePart at, RelayMessage& message) {
          read_part(part, std::move(at), message, out);
        },
        out);
    return out;
  }

  json view(const json& part, const std::string& png_base64) const override {
    json out = part;
    out["source"] = {{"type", "base64"}, {"media_type", "image/png"}, {"data", png_base64}};
    return out;
  }

  json words(const std::string& text) const override { return {{"type", "text"}, {"text", text}}; }

  void append(const RelayMessage& message, const std::vector<json>& parts,
              std::vector<JsonEdit>& edits) const override {
    append_parts(message, words(message.text), parts, edits);
  }

  void hear(const json& data, Heard& heard) const override {
    const std::string* type = string_at(data, "type");
    for (const char* at : {"/usage/input_tokens", "/message/usage/input_tokens", "/input_tokens"})
      read_at(data, at, heard.prompt_tokens);
    for (const char* from : {"/usage", "/message/usage"}) {
      int64_t made = 0, found = 0;
      read_at(data, (std::string(from) + "/cache_creation_input_tokens").c_str(), made);
      read_at(data, (std::string(from) + "/cache_read_input_tokens").c_str(), found);
      heard.cached_tokens = std::max(heard.cached_tokens, made + found);
    }
    for (const char* at : {"/usage/output_tokens", "/message/usage/output_tokens"})
      read_at(data, at, heard.completion_tokens);
    if (const json* content = list_at(data, "content"))
      for (const json& block : *content) add_text(string_at(block, "text"), heard);
    if (const json* delta = object_at(data, "delta")) add_text(string_at(*delta, "text"), heard);
    std::string reason;
    for (const char* at : {"/stop_reason", "/delta/stop_reason"}) read_at(data, at, reason);
    heard.cut = heard.cut || reason == "max_tokens";
    heard.finished = heard.finished || (type && (*type == "message_stop" || *type == "error"));
  }

  json* extended(json& data, bool stream, bool) const override {
    const std::string* type = string_at(data, "type");
    return !stream || (type && *type == "message_delta") ? &data : nullptr;
  }

  std::string error_event(const ApiError& error) const override {
    const json data = {{"type", "error"},
                       {"error", {{"type", "api_error"}, {"message", error.what()}}}};
    return "event: error\ndata: " + data.dump() + "\n\n";
  }

 private:
  static void read_part(const json& part, PicturePart picture, RelayMessage& message,
                        Conversation& out) {
    const std::string* type = string_at(part, "type");
    if (type && *type == "text") add_words(string_at(part, "text"), message);
    const json* source = object_at(part, "source");
    if (!type || *type != "image" || !source) return;
    const std::string* kind = string_at(*source, "type");
    picture.base64 = kind && *kind == "base64";
    const std::string* data = string_at(*source, picture.base64 ? "data" : "url");
    if (data == nullptr) return;
    picture.data = *data;
    out.pictures.push_back(std::move(picture));
  }
};

}  // namespace

const Dialect& relay_anthropic_messages() {
  static const AnthropicMessages dialect;
  return dialect;
}

}  // namespace arrcoc::serving
