// OpenAI chat completions, as vLLM, SGLang, LMDeploy and llama-server speak it too.
#include <algorithm>
#include <cmath>

#include "serve/encoding.h"
#include "serve/relay/dialects.h"

namespace arrcoc::serving {

namespace {

constexpr size_t kMostProbabilities = 65536;

class OpenAiChat : public Dialect {
 public:
  Conversation read(const json& request) const override {
    Conversation out;
    if (const std::string* model = string_at(request, "model")) out.model = *model;
    out.stream = flag_at(request, "stream");
    if (const json* options = object_at(request, "stream_options"))
      out.include_usage = flag_at(*options, "include_usage");
    if (const json* wishes = object_at(request, "mm_processor_kwargs"))
      read_limits(*wishes, out.limits);
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
    // A server that keeps features by this name would show one view for another.
    out.erase("uuid");
    json& image = out["image_url"];
    (image.is_object() ? image["url"] : image) = "data:image/png;base64," + png_base64;
    return out;
  }

  json words(const std::string& text) const override { return {{"type", "text"}, {"text", text}}; }

  void append(const RelayMessage& message, const std::vector<json>& parts,
              std::vector<JsonEdit>& edits) const override {
    append_parts(message, words(message.text), parts, edits);
  }

  void hear(const json& data, Heard& heard) const override {
    std::string text, reason;
    read_at(data, "/choices/0/message/content", text);
    read_at(data, "/choices/0/delta/content", text);
    add_text(&text, heard);
    add_probabilities(data, heard);
    read_at(data, "/choices/0/finish_reason", reason);
    heard.cut = heard.cut || reason == "length";
    read_at(data, "/usage/prompt_tokens", heard.prompt_tokens);
    read_at(data, "/usage/completion_tokens", heard.completion_tokens);
    for (const char* place : {"/usage/image_tokens", "/usage/image_tokens/kept",
                              "/usage/prompt_tokens_details/image_tokens",
                              "/usage/prompt_tokens_details/multimodal_tokens/image"})
      read_at(data, place, heard.picture_tokens);
  }

  std::optional<JsonEdit> wish_probabilities(const json& request) const override {
    if (request.contains("logprobs")) return std::nullopt;
    for (const auto& [key, value] : request.items())  // beside one that nobody changes
      if (!value.is_structured())
        return JsonEdit{json::json_pointer() / key, JsonEdit::How::after, R"(,"logprobs":true)"};
    return std::nullopt;
  }

  bool drop_probabilities(json& data) const override {
    bool found = false;
    const auto choices = data.find("choices");
    if (choices == data.end() || !choices->is_array()) return false;
    for (json& choice : *choices)
      if (choice.is_object() && choice.contains("logprobs") && !choice["logprobs"].is_null()) {
        choice["logprobs"] = nullptr;
        found = true;
      }
    return found;
  }

  json* extended(json& data, bool stream, bool include_usage) const override {
    if (!stream) return &data;
    const auto reason = "/choices/0/finish_reason"_json_pointer;
    const bool last = include_usage
                          ? data.contains("usage") && data.value("choices", json()).empty()
                          : data.contains(reason) && !data[reason].is_null();
    return last ? &data : nullptr;
  }

 private:
  static void add_probabilities(const json& data, Heard& heard) {
    const auto place = "/choices/0/logprobs/content"_json_pointer;
    if (!data.contains(place) || !data[place].is_array()) return;
    for (const json& token : data[place]) {
      const auto number = token.is_object() ? token.find("logprob") : token.end();
      if (number == token.end() || !number->is_number()) continue;
      if (heard.probabilities.size() >= kMostProbabilities) return;
      const double log = std::min(0.0, number->get<double>());
      heard.probabilities.push_back(static_cast<float>(std::exp(log)));
    }
  }

  static void read_part(const json& part, PicturePart picture, RelayMessage& message,
                        Conversation& out) {
    const std::string* type = string_at(part, "type");
    if (type == nullptr) return;
    if (*type == "text" || *type == "input_text") add_words(string_at(part, "text"), message);
    if (*type != "image_url" && *type != "input_image") return;
    const json* inner = object_at(part, "image_url");
    const std::string* url = inner ? string_at(*inner, "url") : string_at(part, "image_url");
    if (url == nullptr) return;
    picture.data = *url;
    picture.detail = detail_of(inner ? *inner : part);
    read_limits(part, picture.limits);
    if (inner) read_limits(*inner, picture.limits);
    out.pictures.push_back(std::move(picture));
  }
};

}  // namespace

const Dialect& relay_openai_chat() {
  static const OpenAiChat dialect;
  return dialect;
}

}  // namespace arrcoc::serving
