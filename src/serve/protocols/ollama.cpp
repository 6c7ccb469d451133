// Ollama's POST /api/chat and POST /api/generate: lines of JSON, and streams unless told otherwise.
#include "serve/protocols/ollama.h"

#include <algorithm>
#include <chrono>

#include "serve/encoding.h"
#include "serve/protocols/fields.h"
#include "serve/protocols/protocol.h"

namespace arrcoc::serving {

namespace {

using namespace fields;

std::string utc_time(std::time_t when) {
  std::tm parts{};
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", ::gmtime_r(&when, &parts));
  return text;
}

std::string utc_now() {
  using namespace std::chrono;
  const auto now = system_clock::now().time_since_epoch();
  const int64_t micro = duration_cast<microseconds>(now).count() % 1000000;
  const std::string digits = std::to_string(1000000 + micro).substr(1);
  return utc_time(duration_cast<seconds>(now).count()) + "." + digits + "Z";
}

ordered_json error_of(const ApiError& problem) { return {{"error", problem.what()}}; }

void add_images(const json& object, Message& message) {
  const json* images = find(object, "images");
  if (!images) return;
  if (!images->is_array()) wrong("images", "a list of base64 strings");
  for (const json& image : *images) {
    const std::string data = words(image, "images");
    if (data.rfind("data:", 0) == 0) {
      add_picture(data, {}, message);
    } else {
      add_base64(data, "image/png", message);  // its bytes say what it is
    }
  }
}

// model, options and what both endpoints share.
ChatRequest begin(const json& request) {
  require_object(request);
  ChatRequest out;
  add_model(request, out);
  if (!find(request, "stream")) out.stream = true;
  const json* options = find(request, "options");
  if (!options) return out;
  if (!options->is_object()) wrong("options", "an object");
  add_sampling(*options, out);
  add_stop(*options, "stop", out);
  if (const json* most = find(*options, "num_predict"))
    out.max_tokens = std::max(0, whole(*most, "num_predict", -2, 1 << 30));  // below 0: no limit
  return out;
}

ordered_json details_of(const ModelCard& card) {
  std::string millions = std::to_string(card.parameters / 100000);  // tenths
  if (millions.size() < 2) millions.insert(0, 2 - millions.size(), '0');
  millions.insert(millions.size() - 1, ".");
  return {{"parent_model", ""},
          {"format", "safetensors"},
          {"family", card.family},
          {"families", {card.family}},
          {"parameter_size", millions + "M"},
          {"quantization_level", card.dtype}};
}

// Clients take its first digits for a name: the same model, the same digits.
std::string digest_of(const ModelCard& card) {
  const std::string text = card.name + "/" + std::to_string(card.bytes) + "/" +
                           std::to_string(card.parameters) + "/" + std::to_string(card.changed);
  return to_hex(sha256(text));
}

// Where the text of a reply stands.
using Text = ordered_json (*)(const std::string& text);
ordered_json as_message(const std::string& text) {
  return {{"message", {{"role", "assistant"}, {"content", text}}}};
}
ordered_json as_response(const std::string& text) { return {{"response", text}}; }

ordered_json piece_of(const std::string& model, const ordered_json& text, bool done) {
  ordered_json out = {{"model", model}, {"created_at", utc_now()}};
  out.update(text);
  out["done"] = done;
  return out;
}

int64_t nanoseconds(double seconds) { return static_cast<int64_t>(1e9 * seconds); }

void finish(const Said& said, ordered_json& out) {
  out["done_reason"] = said.finish == Finish::length ? "length" : "stop";
  out["total_duration"] = nanoseconds(said.seconds);
  out["load_duration"] = 0;
  out["prompt_eval_count"] = said.usage.kept + said.usage.text;
  out["prompt_eval_duration"] = nanoseconds(said.looking_seconds);
  out["eval_count"] = said.usage.completion;
  out["eval_duration"] = nanoseconds(said.reading_seconds);
  out["image_tokens"] = said.usage.image_tokens();
  out["id"] = said.id;  // for /v1/feedback
  out["arrcoc"] = said.extension;
}

class Lines : public Events {
 public:
  Lines(const ChatRequest& request, Text place) : model_(request.model), place_(place) {}
  std::string start() override { return ""; }
  std::string text(const std::string& piece) override {
    return dump(piece_of(model_, place_(piece), false)) + "\n";
  }
  std::string end(const Said& said) override {
    ordered_json out = piece_of(model_, place_(""), true);
    finish(said, out);
    return dump(out) + "\n";
  }
  std::string error(const ApiError& problem) override { return dump(error_of(problem)) + "\n"; }

 private:
  const std::string model_;
  const Text place_;
};

class Ollama : public Protocol {
 public:
  explicit Ollama(Text place) : place_(place) {}
  const char* id_prefix() const override { return "ollama-"; }
  ordered_json whole(const ChatRequest&, const Said& said) const override {
    ordered_json out = piece_of(said.model, place_(said.text), true);
    finish(said, out);
    return out;
  }
  std::unique_ptr<Events> events(const ChatRequest& request, const std::string&) const override {
    return std::make_unique<Lines>(request, place_);
  }
  const char* stream_type() const override { return "application/x-ndjson"; }
  std::string error(const ApiError& problem) const override { return dump(error_of(problem)); }
  std::string alias(const std::string& model) const override { return model + kLatest; }

 private:
  const Text place_;
};

class OllamaChat : public Ollama {
 public:
  OllamaChat() : Ollama(as_message) {}
  ChatRequest parse(const json& request, bool) const override {
    ChatRequest out = begin(request);
    for (const json& given : messages(request, "messages")) {
      Message message;
      message.role =
          role(given, {ChatRole::system, ChatRole::user, ChatRole::assistant, ChatRole::tool});
      if (const json* content = find(given, "content")) message.text = words(*content, "content");
      add_images(given, message);
      out.messages.push_back(std::move(message));
    }
    return out;
  }
};

class OllamaGenerate : public Ollama {
 public:
  OllamaGenerate() : Ollama(as_response) {}
  ChatRequest parse(const json& request, bool) const override {
    ChatRequest out = begin(request);
    for (const char* key : {"context", "suffix", "template"})
      if (const json* given = find(request, key); given && !given->empty() && *given != "")
        unsupported("'" + std::string(key) + "' is not supported");
    if (const json* system = find(request, "system"); system && *system != "")
      out.messages.push_back({ChatRole::system, words(*system, "system"), {}, {}});
    Message question{ChatRole::user, need_words(request, "prompt"), {}, {}};
    add_images(request, question);
    out.messages.push_back(std::move(question));
    return out;
  }
};

}  // namespace

const Protocol& ollama_chat() {
  static const OllamaChat protocol;
  return protocol;
}

const Protocol& ollama_generate() {
  static const OllamaGenerate protocol;
  return protocol;
}

// ---- About the model

ordered_json ollama_tags(const ModelCard& card) {
  const std::string name = card.name + kLatest;
  ordered_json model = {{"name", name},
                        {"model", name},
                        {"modified_at", utc_time(card.changed) + "Z"},
                        {"size", card.bytes},
                        {"digest", digest_of(card)},
                        {"details", details_of(card)}};
  return {{"models", ordered_json::array({std::move(model)})}};
}

ordered_json ollama_show(const ModelCard& card, const json& request) {
  require_object(request);
  const std::string name = need_words(request, request.contains("name") ? "name" : "model");
  if (name != card.name && name != card.name + kLatest)
    throw ApiError(404, "model_not_found", "there is no such model, only " + card.name);
  return {{"modelfile", ""},
          {"parameters", ""},
          {"template", ""},
          {"details", details_of(card)},
          {"model_info",
           {{"general.architecture", card.family},
            {"general.basename", card.name},
            {"general.parameter_count", card.parameters}}},
          {"capabilities", {"completion", "vision"}},
          {"modified_at", utc_time(card.changed) + "Z"}};
}

}  // namespace arrcoc::serving
