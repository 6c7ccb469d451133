#include "serve/protocols/protocol.h"

namespace arrcoc::serving {

const std::vector<Endpoint>& endpoints() {
  static const std::vector<Endpoint> all = {
      {"/v1/chat/completions", openai_chat()},
      {"/v1/chat/completions/input_tokens", openai_chat(), true},
      {"/v1/responses", openai_responses()},
      {"/v1/responses/input_tokens", openai_responses(), true},
      {"/v1/messages", anthropic_messages()},
      {"/v1/messages/count_tokens", anthropic_messages(), true},
      {"/api/chat", ollama_chat()},
      {"/api/generate", ollama_generate()},
  };
  return all;
}

const Protocol& spoken_at(const std::string& path) {
  if (path.rfind("/api/", 0) == 0) return ollama_chat();
  if (path.rfind("/v1/messages", 0) == 0) return anthropic_messages();
  return openai_chat();
}

ordered_json Protocol::count(const Usage& usage) const {
  return {{"object", "response.input_tokens"},
          {"input_tokens", usage.kept + usage.text},
          {"text_tokens", usage.text},
          {"image_tokens", usage.image_tokens()}};
}

std::string named_event(const std::string& name, const ordered_json& data) {
  return "event: " + name + "\ndata: " + dump(data) + "\n\n";
}

}  // namespace arrcoc::serving
