#include "serve/relay/dialect.h"

#include <algorithm>
#include <array>

#include "serve/relay/dialects.h"

namespace arrcoc::serving {

size_t Conversation::newest() const {
  size_t end = messages.size();
  while (end > 0 && messages[end - 1].role == ChatRole::assistant) --end;  // words put into its mouth
  while (end > 0 && messages[end - 1].role != ChatRole::assistant) --end;
  return end;
}

const std::string& Conversation::question() const {
  static const std::string none;
  for (auto message = messages.rbegin(); message != messages.rend(); ++message)
    if (message->role == ChatRole::user && !message->text.empty()) return message->text;
  return none;
}

int64_t Conversation::text_tokens() const {
  int64_t out = 0;
  for (const RelayMessage& message : messages)
    out += static_cast<int64_t>(message.text.size() + 3) / 4;
  return out;
}

std::string_view Dialect::payload(std::string_view line) const {
  if (line.rfind("data:", 0) != 0) return {};
  line.remove_prefix(5);
  while (!line.empty() && line.front() == ' ') line.remove_prefix(1);
  while (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  return line;
}

std::string Dialect::error_event(const ApiError& error) const {
  return "data: " + error.body() + "\n\n";
}

const Dialect* dialect_at(const std::string& path) {
  using Made = const Dialect& (*)();
  static const std::vector<std::pair<const char*, Made>> all = {
      {"/v1/chat/completions", relay_openai_chat},
      {"/v1/responses", relay_openai_responses},
      {"/v1/responses/input_tokens", relay_openai_responses},
      {"/v1/messages", relay_anthropic_messages},
      {"/v1/messages/count_tokens", relay_anthropic_messages},
      {"/api/chat", relay_ollama_chat},
      {"/api/generate", relay_ollama_generate},
  };
  for (const auto& [where, made] : all)
    if (path == where) return &made();
  return nullptr;
}

bool only_counts(const std::string& path) {
  return path.ends_with("/count_tokens") || path.ends_with("/input_tokens");
}

bool may_hold_pictures(std::string_view body) {
  // \u00XX spells ASCII letters in another way; "arrcoc" is taken out of requests.
  for (const char* mark : {"image", "arrcoc", "file:", "\\u00", "FILE:", "File:"})
    if (body.find(mark) != std::string_view::npos) return true;
  return false;
}

namespace {

bool names_file(const std::string& value) {
  const size_t at = value.find_first_not_of(" \t\r\n");
  if (at == std::string::npos || value.size() < at + 5) return false;
  std::string scheme = value.substr(at, 5);
  for (char& c : scheme) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
  return scheme == "file:";
}

// Words may speak of files; only these places hold no words.
bool fetched(const std::string& key) {
  static const std::array<const char*, 12> keys = {"url",   "uri",   "image_url", "video_url", "audio_url",
                                                   "image", "video", "audio",     "images",    "videos",
                                                   "path",  "file_url"};
  return std::find(keys.begin(), keys.end(), key) != keys.end();
}

std::string file_url_under(const json& value, bool here) {
  if (value.is_string()) {
    const auto& text = value.get_ref<const std::string&>();
    return here && names_file(text) ? text : "";
  }
  if (value.is_array())
    for (const json& one : value)
      if (std::string found = file_url_under(one, here); !found.empty()) return found;
  if (value.is_object())
    for (const auto& [key, one] : value.items())
      if (std::string found = file_url_under(one, fetched(key)); !found.empty()) return found;
  return "";
}

void write_canonical(const json& value, std::string& out) {
  if (value.is_string()) {
    const auto& text = value.get_ref<const std::string&>();
    out += '"' + std::to_string(text.size()) + ':' + text;
  } else if (value.is_array()) {
    out += '[';
    for (const json& one : value) write_canonical(one, out);
    out += ']';
  } else if (value.is_object()) {
    out += '{';
    for (const auto& [key, one] : value.items()) {
      if (key == "cache_control") continue;
      out += '"' + std::to_string(key.size()) + ':' + key;
      write_canonical(one, out);
    }
    out += '}';
  } else {
    out += value.dump() + ' ';
  }
}

}  // namespace

std::string file_url_in(const json& request) { return file_url_under(request, false); }

std::string canonical(const json& message) {
  std::string out;
  write_canonical(message, out);
  return out;
}

}  // namespace arrcoc::serving
