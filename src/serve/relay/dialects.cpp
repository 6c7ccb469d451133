#include "serve/relay/dialects.h"

namespace arrcoc::serving {

namespace {
constexpr size_t kLongestAnswer = 65536;
}

const std::string* string_at(const json& object, const char* key) {
  const auto found = object.is_object() ? object.find(key) : object.end();
  return found != object.end() && found->is_string() ? &found->get_ref<const std::string&>()
                                                     : nullptr;
}

const json* object_at(const json& object, const char* key) {
  const auto found = object.is_object() ? object.find(key) : object.end();
  return found != object.end() && found->is_object() ? &*found : nullptr;
}

const json* list_at(const json& object, const char* key) {
  const auto found = object.is_object() ? object.find(key) : object.end();
  return found != object.end() && found->is_array() ? &*found : nullptr;
}

bool flag_at(const json& object, const char* key) {
  const auto found = object.is_object() ? object.find(key) : object.end();
  return found != object.end() && found->is_boolean() && found->get<bool>();
}

void add_text(const std::string* text, Heard& heard) {
  if (text && heard.text.size() < kLongestAnswer) heard.text += *text;
}

Detail detail_of(const json& object) {
  const std::string* detail = string_at(object, "detail");
  if (detail && *detail == "low") return Detail::low;
  return detail && *detail == "high" ? Detail::high : Detail::automatic;
}

void read_limits(const json& object, PictureLimits& limits) {
  read_at(object, "/min_pixels", limits.min_pixels);
  read_at(object, "/max_pixels", limits.max_pixels);
}

ChatRole role_of(const json& message) {
  const std::string* role = string_at(message, "role");
  for (const auto& [known, name] : EnumNames<ChatRole>::kNames)
    if (role && *role == name) return known;
  return ChatRole::tool;
}

void add_words(const std::string* text, RelayMessage& message) {
  if (text == nullptr || text->empty()) return;
  if (!message.text.empty()) message.text += "\n";
  message.text += *text;
}

void each_part(const json& content, const json::json_pointer& place,
               const std::function<void(const json&, const json::json_pointer&)>& part) {
  if (!content.is_array()) return;
  for (size_t i = 0; i < content.size(); ++i) {
    const json& one = content[i];
    if (!one.is_object()) continue;
    part(one, place / i);
    if (const json* inner = list_at(one, "content")) each_part(*inner, place / i / "content", part);
  }
}

void read_messages(const json& request, const char* key,
                   std::initializer_list<const char*> contents, ChatRole (*role)(const json&),
                   const ReadPart& part, Conversation& out) {
  const json* messages = list_at(request, key);
  for (size_t i = 0; messages && i < messages->size(); ++i) {
    const json& given = (*messages)[i];
    RelayMessage message{role(given), json::json_pointer() / key / i, &given, ""};
    add_words(string_at(given, "content"), message);
    for (const char* content : contents)
      if (const json* parts = list_at(given, content))
        each_part(*parts, message.place / content,
                  [&](const json& one, const json::json_pointer& place) {
                    PicturePart at;
                    at.message = i;
                    at.place = place;
                    at.part = &one;
                    part(one, std::move(at), message);
                  });
    out.messages.push_back(std::move(message));
  }
}

std::string joined(const std::vector<json>& parts) {
  std::string out;
  for (const json& part : parts) {
    if (!out.empty()) out += ',';
    out += part.dump(-1, ' ', false, json::error_handler_t::replace);
  }
  return out;
}

void append_parts(const RelayMessage& message, const json& words, const std::vector<json>& parts,
                  std::vector<JsonEdit>& edits) {
  const json::json_pointer place = message.place / "content";
  const auto content = message.message->find("content");
  if (content == message.message->end()) return;
  if (content->is_array() && !content->empty()) {
    std::string more = ",";
    edits.push_back({place / (content->size() - 1), JsonEdit::How::after, more += joined(parts)});
  } else if (content->is_string()) {
    std::vector<json> all = {words};
    all.insert(all.end(), parts.begin(), parts.end());
    edits.push_back({place, JsonEdit::How::replace,
                     json(all).dump(-1, ' ', false, json::error_handler_t::replace)});
  }
}

}  // namespace arrcoc::serving
