// Ollama: pictures are base64 in a list beside the words, streams are lines of JSON.
#include "serve/relay/dialects.h"

namespace arrcoc::serving {

namespace {

class Ollama : public Dialect {
 public:
  explicit Ollama(bool chat) : chat_(chat) {}

  Conversation read(const json& request) const override {
    Conversation out;
    if (const std::string* model = string_at(request, "model")) out.model = *model;
    const auto stream = request.is_object() ? request.find("stream") : request.end();
    out.stream = stream == request.end() || *stream != false;
    if (!chat_) {
      read_message(request, json::json_pointer(), "prompt", out);
      out.messages.back().role = ChatRole::user;
      return out;
    }
    const json* messages = list_at(request, "messages");
    for (size_t i = 0; messages && i < messages->size(); ++i)
      read_message((*messages)[i], json::json_pointer("/messages") / i, "content", out);
    return out;
  }

  json view(const json&, const std::string& png_base64) const override { return png_base64; }
  json words(const std::string&) const override { return nullptr; }

  void append(const RelayMessage& message, const std::vector<json>& parts,
              std::vector<JsonEdit>& edits) const override {
    const json* images = list_at(*message.message, "images");
    std::string more = ",";
    if (images && !images->empty()) {
      more += joined(parts);
      edits.push_back(
          {message.place / "images" / (images->size() - 1), JsonEdit::How::after, more});
    } else if (!images && message.message->contains("content")) {
      more += "\"images\":[";
      more += joined(parts);
      more += "]";
      edits.push_back({message.place / "content", JsonEdit::How::after, more});
    }
  }

  std::string_view payload(std::string_view line) const override { return line; }

  void hear(const json& data, Heard& heard) const override {
    if (const json* message = object_at(data, "message"))
      add_text(string_at(*message, "content"), heard);
    add_text(string_at(data, "response"), heard);
    read_at(data, "/prompt_eval_count", heard.prompt_tokens);
    read_at(data, "/eval_count", heard.completion_tokens);
    const std::string* reason = string_at(data, "done_reason");
    heard.cut = heard.cut || (reason && *reason == "length");
    heard.finished = heard.finished || flag_at(data, "done") || data.contains("error");
  }

  json* extended(json& data, bool, bool) const override {
    return flag_at(data, "done") ? &data : nullptr;
  }

  std::string error_event(const ApiError& error) const override {
    return json{{"error", error.what()}}.dump() + "\n";
  }

 private:
  static void read_message(const json& given, const json::json_pointer& place, const char* words,
                           Conversation& out) {
    RelayMessage message{role_of(given), place, &given, ""};
    add_words(string_at(given, words), message);
    const json* images = list_at(given, "images");
    for (size_t i = 0; images && i < images->size(); ++i) {
      if (!(*images)[i].is_string()) continue;
      PicturePart picture;
      picture.message = out.messages.size();
      picture.place = place / "images" / i;
      picture.part = &(*images)[i];
      picture.data = (*images)[i].get_ref<const std::string&>();
      picture.base64 = picture.data.rfind("data:", 0) != 0;
      out.pictures.push_back(std::move(picture));
    }
    out.messages.push_back(std::move(message));
  }

  bool chat_;
};

}  // namespace

const Dialect& relay_ollama_chat() {
  static const Ollama dialect(true);
  return dialect;
}

const Dialect& relay_ollama_generate() {
  static const Ollama dialect(false);
  return dialect;
}

}  // namespace arrcoc::serving
