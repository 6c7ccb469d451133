#include "serve/replies.h"

#include <algorithm>

namespace arrcoc::serving {

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

std::string dump(const ordered_json& data) {
  return data.dump(-1, ' ', false, json::error_handler_t::replace);
}

std::string event(const ordered_json& data) { return "data: " + dump(data) + "\n\n"; }

std::string before_stop(const std::string& text, const std::vector<std::string>& stop,
                        std::string& found) {
  size_t end = text.size();
  found.clear();
  for (const std::string& one : stop)
    if (const size_t at = text.find(one); at < end) {
      end = at;
      found = one;
    }
  return text.substr(0, end);
}

std::string without_beginnings(std::string text, const std::vector<std::string>& stop) {
  size_t held = 0;
  for (const std::string& one : stop)
    for (size_t size = std::min(one.size() - 1, text.size()); size > held; --size)
      if (text.compare(text.size() - size, size, one, 0, size) == 0) held = size;
  text.resize(text.size() - held);
  return text;
}

std::string last_bytes(const std::string& text, size_t most) {
  if (text.size() <= most) return text;
  size_t at = text.size() - most;
  while (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80) ++at;
  return text.substr(at);
}

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
