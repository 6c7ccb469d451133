#include "models/hub/proxy.h"

#include <algorithm>
#include <cctype>
#include <charconv>

#include "arrcoc/error.h"

namespace arrcoc::hub {

namespace {

std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

std::string unescaped(const std::string& text) {
  std::string out;
  for (size_t at = 0; at < text.size(); ++at) {
    unsigned code = 0;
    const char* from = text.data() + at + 1;
    if (text[at] == '%' && at + 2 < text.size() &&
        std::from_chars(from, from + 2, code, 16).ptr == from + 2) {
      out += static_cast<char>(code);
      at += 2;
    } else {
      out += text[at];
    }
  }
  return out;
}

// host or [host], and :port behind it.
struct Address {
  std::string host, port;
};
Address split(const std::string& text) {
  const bool brackets = text.rfind('[', 0) == 0;
  const size_t end = brackets ? text.find(']') : text.find(':');
  if (end == std::string::npos) return {brackets ? "" : text, ""};
  const std::string after = text.substr(brackets ? end + 1 : end);
  return {text.substr(brackets ? 1 : 0, end - (brackets ? 1 : 0)),
          after.rfind(':', 0) == 0 ? after.substr(1) : after};
}

}  // namespace

Proxy parse_proxy(const std::string& text) {
  const auto wrong = [](const std::string& why) {
    // The text may hold a password: it is not repeated.
    return Error(
        ErrorCode::bad_argument,
        "the proxy of the environment is no http://[user:password@]host[:port] (" + why + ")");
  };
  const size_t scheme = text.find("://");
  if (scheme != std::string::npos && lower(text.substr(0, scheme)) != "http")
    throw wrong(lower(text.substr(0, std::min<size_t>(scheme, 20))) + " is not spoken");
  std::string rest = scheme == std::string::npos ? text : text.substr(scheme + 3);
  while (rest.ends_with('/')) rest.pop_back();
  Proxy out;
  if (const size_t at = rest.rfind('@'); at != std::string::npos) {
    const std::string who = rest.substr(0, at);
    const size_t colon = who.find(':');
    out.user = unescaped(who.substr(0, colon));
    if (colon != std::string::npos) out.password = unescaped(who.substr(colon + 1));
    rest = rest.substr(at + 1);
  }
  const Address address = split(rest);
  out.host = address.host;
  const bool odd = std::any_of(out.host.begin(), out.host.end(), [](char c) {
    return c <= ' ' || c > 126 || c == '/' || c == '?' || c == '#';
  });
  if (out.host.empty() || odd) throw wrong("no host");
  if (address.port.empty()) return out;
  const char* end = address.port.data() + address.port.size();
  const auto read = std::from_chars(address.port.data(), end, out.port);
  if (read.ec != std::errc() || read.ptr != end || out.port < 1 || out.port > 65535)
    throw wrong("no port");
  return out;
}

std::optional<Proxy> proxy_for(const std::string& origin, const Settings& settings) {
  const bool sealed = origin.rfind("https:", 0) == 0;
  const std::string& given = sealed ? settings.https_proxy : settings.http_proxy;
  if (given.empty()) return std::nullopt;
  const std::string host = lower(split(origin.substr(origin.find("//") + 2)).host);
  const std::string list = lower(settings.no_proxy) + ",";
  for (size_t from = 0, to = 0; (to = list.find(',', from)) != std::string::npos; from = to + 1) {
    std::string name = list.substr(from, to - from);
    name.erase(0, name.find_first_not_of(" \t"));
    name.erase(name.find_last_not_of(" \t") + 1);
    if (name == "*") return std::nullopt;
    name = name.find(':') == name.rfind(':') ? split(name).host : name;
    if (name.rfind('.', 0) == 0) name.erase(0, 1);
    if (!name.empty() && (host == name || host.ends_with("." + name))) return std::nullopt;
  }
  return parse_proxy(given);
}

}  // namespace arrcoc::hub
