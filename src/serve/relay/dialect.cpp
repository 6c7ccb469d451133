#include "serve/relay/dialect.h"

#include <algorithm>
#include <array>
#include <cstdlib>

#include "serve/relay/dialects.h"

namespace arrcoc::serving {

void Conversation::settle() {
  newest = messages.size();
  while (newest > 0 && messages[newest - 1].role == ChatRole::assistant)
    --newest;  // words put into its mouth
  while (newest > 0 && messages[newest - 1].role != ChatRole::assistant) --newest;
  for (size_t i = 1; i < pictures.size(); ++i)
    if (pictures[i].message == pictures[i - 1].message)
      pictures[i].within = pictures[i - 1].within + 1;
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
  for (const char* mark : {"image", "arrcoc", "\\u00"})
    if (body.find(mark) != std::string_view::npos) return true;
  return spells_file(body);
}

namespace {

char lower(char c) { return static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c); }

// Escapes resolved, lower case, without blanks and control characters.
std::string plain(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == '\\' && i + 1 < text.size()) {
      c = text[++i];
      if (c == 'u' && i + 4 < text.size()) {
        const std::string code(text.substr(i + 1, 4));
        c = static_cast<char>(std::strtoul(code.c_str(), nullptr, 16) & 0x7f);
        i += 4;
      } else if (c == 'n' || c == 'r' || c == 't' || c == 'b' || c == 'f') {
        c = ' ';
      }
    }
    if (static_cast<unsigned char>(c) > 0x20 && c != 0x7f) out += lower(c);
  }
  return out;
}

}  // namespace

bool is_file_url(std::string_view value) {
  std::string start;
  for (size_t i = 0; i < value.size() && start.size() < 5; ++i)
    if (static_cast<unsigned char>(value[i]) > 0x20 && value[i] != 0x7f) start += lower(value[i]);
  return start == "file:";
}

bool spells_file(std::string_view text) {
  constexpr size_t kWindow = 64;
  for (size_t at = 0; (at = text.find(':', at)) != std::string_view::npos; ++at) {
    const char before = at > 0 ? lower(text[at - 1]) : ' ';
    const bool may = before == 'e' || before == '5' || static_cast<unsigned char>(before) <= 0x20 ||
                     before == 'n' || before == 't' || before == 'r' || before == '9' ||
                     before == 'a' || before == 'd';
    if (!may) continue;
    const size_t from = at > kWindow ? at - kWindow : 0;
    if (plain(text.substr(from, at - from)).ends_with("file")) return true;
  }
  return text.find("\\u003a") != std::string_view::npos ||
         text.find("\\u003A") != std::string_view::npos;
}

namespace {

// Words may speak of files; only these places hold no words.
bool fetched(const std::string& key) {
  static const std::array<const char*, 12> keys = {"url",       "uri",    "image_url", "video_url",
                                                   "audio_url", "image",  "video",     "audio",
                                                   "images",    "videos", "path",      "file_url"};
  return std::find(keys.begin(), keys.end(), key) != keys.end();
}

using Except = std::vector<PicturePart>;

std::string file_url_under(const json& value, bool here, const Except& except) {
  if (value.is_string()) {
    const auto& text = value.get_ref<const std::string&>();
    const bool ours = std::any_of(except.begin(), except.end(), [&](const PicturePart& picture) {
      return picture.data.data() == text.data();
    });
    return here && !ours && is_file_url(text) ? text : "";
  }
  if (value.is_array())
    for (const json& one : value)
      if (std::string found = file_url_under(one, here, except); !found.empty()) return found;
  if (value.is_object())
    for (const auto& [key, one] : value.items())
      if (std::string found = file_url_under(one, fetched(key), except); !found.empty())
        return found;
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

std::string file_url_in(const json& request, const Except& except) {
  return file_url_under(request, false, except);
}

std::string canonical(const json& message) {
  std::string out;
  write_canonical(message, out);
  return out;
}

}  // namespace arrcoc::serving
