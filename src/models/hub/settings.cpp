#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <set>

#include "arrcoc/error.h"
#include "arrcoc/hub.h"

namespace arrcoc::hub {

namespace {

constexpr size_t kLongestName = 96, kLongestRevision = 200, kLongestToken = 4096;

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// huggingface_hub's validate_repo_id, for one half of OWNER/NAME.
bool is_half(const std::string& text) {
  return !text.empty() && text.size() <= kLongestName && is_word(text.front()) &&
         is_word(text.back()) && text.find("--") == std::string::npos &&
         text.find("..") == std::string::npos && std::all_of(text.begin(), text.end(), [](char c) {
           return is_word(c) || c == '-' || c == '.';
         });
}

// Names a file below refs/ and a part of an address.
bool is_revision(const std::string& text) {
  return !text.empty() && text.size() <= kLongestRevision && text.front() != '/' &&
         text.back() != '/' && text.find("//") == std::string::npos &&
         ("/" + text).find("/.") == std::string::npos &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return is_word(c) || c == '-' || c == '.' || c == '/' || c == '+';
         });
}

using Environment = std::function<const char*(const char*)>;

std::string value_of(const Environment& environment, std::initializer_list<const char*> names) {
  for (const char* name : names)
    if (const char* value = environment(name); value && *value) return value;
  return "";
}

bool is_true(std::string value) {
  for (char& c : value) c = static_cast<char>(c >= 'a' && c <= 'z' ? c - 32 : c);
  return std::set<std::string>{"1", "ON", "YES", "TRUE"}.count(value) > 0;
}

std::string home(const Environment& environment) {
  const std::string set = value_of(environment, {"HOME"});
  if (!set.empty()) return set;
  const passwd* user = ::getpwuid(::getuid());
  if (!user || !user->pw_dir)
    throw Error(ErrorCode::bad_argument,
                "there is no home folder for the hub's cache: set HF_HOME to a folder");
  return user->pw_dir;
}

// ~ at the beginning, $NAME and ${NAME} anywhere; unknown names stay as they are.
std::string expanded(const std::string& path, const Environment& environment) {
  const bool tilde = path == "~" || path.rfind("~/", 0) == 0;
  std::string out = tilde ? home(environment) : "";
  for (size_t at = tilde ? 1 : 0; at < path.size();) {
    const bool braces = path.compare(at, 2, "${") == 0;
    size_t end = at + (braces ? 2 : 1);
    while (end < path.size() && is_word(path[end])) ++end;
    const size_t from = at + (braces ? 2 : 1);
    const bool whole = path[at] == '$' && end > from && (!braces || path[end] == '}');
    const char* value = whole ? environment(path.substr(from, end - from).c_str()) : nullptr;
    out += value ? std::string(value) : path.substr(at, 1);
    at = value ? end + (braces ? 1 : 0) : at + 1;
  }
  return out;
}

std::string trimmed(const std::string& text) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  return first == std::string::npos
             ? ""
             : text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

std::string token_of(const Environment& environment, const std::string& hf_home) {
  if (is_true(value_of(environment, {"HF_HUB_DISABLE_IMPLICIT_TOKEN"}))) return "";
  std::string from = "HF_TOKEN";
  std::string token = trimmed(value_of(environment, {"HF_TOKEN", "HUGGING_FACE_HUB_TOKEN"}));
  if (token.empty()) {
    from = expanded(value_of(environment, {"HF_TOKEN_PATH"}), environment);
    if (from.empty()) from = hf_home + "/token";
    std::ifstream in(from, std::ios::binary);
    token.resize(kLongestToken + 1);
    in.read(token.data(), static_cast<std::streamsize>(token.size()));
    token = trimmed(token.substr(0, static_cast<size_t>(in.gcount())));
  }
  const bool plain =
      std::all_of(token.begin(), token.end(), [](char c) { return c > ' ' && c < 127; });
  if (!plain || token.size() > kLongestToken)
    throw Error(ErrorCode::bad_argument, from + " holds no token of the hub (hf_...)");
  return token;
}

}  // namespace

std::optional<Name> parse_name(const std::string& text) {
  const size_t at = text.find('@');
  const std::string repo = text.substr(0, at);
  const size_t slash = repo.find('/');
  if (slash == std::string::npos) return std::nullopt;
  Name out{repo.substr(0, slash), repo.substr(slash + 1)};
  if (at != std::string::npos) out.revision = text.substr(at + 1);
  if (!is_half(out.owner) || !is_half(out.name) || out.name.ends_with(".git") ||
      !is_revision(out.revision))
    return std::nullopt;
  return out;
}

Settings settings_of(const Environment& environment) {
  Settings out;
  const auto folder = [&](std::initializer_list<const char*> names, const std::string& otherwise) {
    const std::string given = value_of(environment, names);
    return given.empty() ? otherwise : expanded(given, environment);
  };
  std::string hf_home = folder({"HF_HOME"}, "");
  if (hf_home.empty())
    hf_home = expanded(folder({"XDG_CACHE_HOME"}, "~/.cache"), environment) + "/huggingface";
  out.cache = folder({"HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE"}, hf_home + "/hub");
  out.token = token_of(environment, hf_home);
  out.offline = is_true(value_of(environment, {"HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE"}));
  if (const std::string given = value_of(environment, {"HF_ENDPOINT"}); !given.empty())
    out.endpoint = given;
  while (out.endpoint.ends_with('/')) out.endpoint.pop_back();
  out.https_proxy = value_of(environment, {"https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"});
  out.http_proxy = value_of(environment, {"http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"});
  out.no_proxy = value_of(environment, {"no_proxy", "NO_PROXY"});
  if (const std::string given = value_of(environment, {"HF_HUB_DOWNLOAD_TIMEOUT"});
      !given.empty()) {
    char* end = nullptr;
    out.seconds = std::strtod(given.c_str(), &end);
    if (*end || !(out.seconds > 0 && out.seconds <= 3600))
      throw Error(ErrorCode::bad_argument,
                  "HF_HUB_DOWNLOAD_TIMEOUT is a number of seconds, not '" + given + "'");
  }
  return out;
}

}  // namespace arrcoc::hub
