#include "serve/replies.h"

#include <ctime>

#include "arrcoc/media.h"
#include "serve/encoding.h"

namespace arrcoc::serving {

namespace {

std::string url_of(const at::Tensor& rgb) { return png_url(media::encode_png(rgb)); }

}  // namespace

ordered_json Usage::image_tokens() const {
  ordered_json out = {{"kept", kept}, {"native", native}};
  if (estimated) out["estimated"] = true;
  return out;
}

ordered_json to_json(const Usage& u) {
  return {{"prompt_tokens", u.kept + u.text},
          {"completion_tokens", u.completion},
          {"total_tokens", u.kept + u.text + u.completion},
          {"image_tokens", u.image_tokens()}};
}

ordered_json counted(const Usage& u) {
  return {{"object", "response.input_tokens"},
          {"input_tokens", u.kept + u.text},
          {"text_tokens", u.text},
          {"image_tokens", u.image_tokens()}};
}

void add_homunculi(const Answer& answer,
                   const std::vector<std::shared_ptr<const SeenPicture>>& pictures,
                   ordered_json& out) {
  for (size_t i = 0; i < pictures.size(); ++i)
    out["pictures"][i]["homunculus"] = url_of(media::draw_homunculus(
        pictures[i]->pyramid->picture(), answer.pictures[i].answer().allocation));
}

void add_drawings(const Answer& answer, const SeenPicture& picture, ordered_json& out) {
  const Picture& canvas = picture.pyramid->picture();
  const Allocation& allocation = answer.from().answer().allocation;
  out["homunculus"] = url_of(media::draw_homunculus(canvas, allocation));
  out["relevance"] = url_of(media::draw_relevance(canvas, answer.from().look.relevance));
  out["quadtree"] = url_of(media::draw_quadtree(canvas, allocation));
}

ordered_json completion(const std::string& id, const std::string& model, const std::string& text,
                        const char* finish) {
  return {{"id", id},
          {"object", "chat.completion"},
          {"created", static_cast<int64_t>(std::time(nullptr))},
          {"model", model},
          {"choices",
           {{{"index", 0},
             {"message", {{"role", "assistant"}, {"content", text}, {"refusal", nullptr}}},
             {"logprobs", nullptr},
             {"finish_reason", finish}}}}};
}

ordered_json chunk(const std::string& id, const std::string& model) {
  return {{"id", id},
          {"object", "chat.completion.chunk"},
          {"created", static_cast<int64_t>(std::time(nullptr))},
          {"model", model},
          {"choices",
           {{{"index", 0},
             {"delta", ordered_json::object()},
             {"logprobs", nullptr},
             {"finish_reason", nullptr}}}}};
}

std::string dump(const ordered_json& data) {
  return data.dump(-1, ' ', false, json::error_handler_t::replace);
}

std::string event(const ordered_json& data) { return "data: " + dump(data) + "\n\n"; }

std::string first_characters(const std::string& text, int limit, bool& cut) {
  cut = false;
  if (limit <= 0) return text;
  size_t at = 0;
  for (int seen = 0; at < text.size(); ++at)
    if ((static_cast<unsigned char>(text[at]) & 0xC0) != 0x80 && seen++ == limit) break;
  cut = at < text.size();
  return text.substr(0, at);
}

}  // namespace arrcoc::serving
