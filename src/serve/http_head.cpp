#include "serve/http_head.h"

#include <algorithm>

#include "serve/api_error.h"

namespace arrcoc::serving {

namespace {

constexpr std::string_view kEnd = "\r\n\r\n";

[[noreturn]] void refuse(int status, const char* code, const std::string& why) {
  throw ApiError(status, code, why);
}
[[noreturn]] void bad(const std::string& why) { refuse(400, "bad_request", why); }
[[noreturn]] void long_line(bool first) {
  if (first) refuse(414, "uri_too_long", "the request line is too long");
  refuse(431, "headers_too_large", "a header is too long");
}

bool is_token(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
  });
}

bool is_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
  return out;
}

std::string_view trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

// How the body is delimited, over all fields.
struct Framing {
  int lengths = 0, codings = 0;

  void take(const std::string& name, std::string_view value) {
    if (name == "content-length") {
      if (++lengths > 1) bad("more than one Content-Length");
      if (!is_number(value)) bad("Content-Length is no number");
    } else if (name == "transfer-encoding") {
      if (++codings > 1) bad("more than one Transfer-Encoding");
      if (lower(value) != "chunked")
        refuse(501, "not_implemented", "Transfer-Encoding may be chunked only");
    }
  }
  void done(bool old) const {
    if (lengths + codings > 1) bad("both Content-Length and Transfer-Encoding");
    if (old && codings > 0) bad("HTTP/1.0 knows no Transfer-Encoding");
  }
};

// Takes the line off, without its end.
std::string_view next_line(std::string_view& rest) {
  const size_t end = rest.find("\r\n");
  const std::string_view line = rest.substr(0, end);
  rest.remove_prefix(end + 2);
  const bool plain = std::all_of(line.begin(), line.end(), [](char c) {
    return static_cast<unsigned char>(c) >= 0x20 ? c != 0x7f : c == '\t';
  });
  if (!plain) bad("control characters in the head of the request");
  return line;
}

// True for HTTP/1.0.
bool judge_request_line(std::string_view line, RequestHead& out) {
  const size_t first = line.find(' '), last = line.rfind(' ');
  if (first == std::string_view::npos || first == last) bad("the request line is broken");
  const std::string_view target = line.substr(first + 1, last - first - 1);
  const std::string_view version = line.substr(last + 1);
  if (!is_token(line.substr(0, first)) || target.empty() ||
      target.find(' ') != std::string_view::npos)
    bad("the request line is broken");
  if (version.rfind("HTTP/", 0) != 0) bad("the request line is broken");
  if (version != "HTTP/1.1" && version != "HTTP/1.0")
    refuse(505, "http_version", "this server speaks HTTP/1.1");
  out.path = target.substr(0, target.find('?'));
  return version == "HTTP/1.0";
}

void add_field(std::string_view name, std::string_view value, std::string& text) {
  text += lower(name) == "range" ? "X-Arrcoc-Range" : name;
  text += ": ";
  for (const char c : value) c == '%' ? text += "%25" : text += c;
  text += "\r\n";
}

}  // namespace

size_t head_size(std::string_view bytes, const HeadLimits& limits, size_t from) {
  const size_t start = std::min(bytes.find_first_not_of("\r\n"), bytes.size());
  if (start > limits.line) bad("there is no request");
  const size_t end = bytes.find(kEnd, std::max(start, from < kEnd.size() ? 0 : from - kEnd.size()));
  const size_t size = end == std::string_view::npos ? 0 : end + kEnd.size();
  const std::string_view head = bytes.substr(start, size == 0 ? bytes.size() : size - start);
  const size_t line = std::min(head.find("\r\n"), head.size());
  if (line > limits.line) long_line(true);
  if ((size == 0 ? bytes.size() : size) - start > limits.bytes)
    refuse(431, "headers_too_large", "the head of the request is too large");
  return size;
}

RequestHead judge_head(std::string_view head, const HeadLimits& limits) {
  RequestHead out;
  std::string_view rest = head.substr(std::min(head.find_first_not_of("\r\n"), head.size()));
  if (!rest.ends_with(kEnd)) bad("the head of the request is cut off");
  const std::string_view line = next_line(rest);
  if (line.size() > limits.line) long_line(true);
  const bool old = judge_request_line(line, out);
  out.text.reserve(head.size() + 256);
  out.text.append(line).append("\r\n");
  Framing framing;
  for (size_t fields = 0; rest != "\r\n"; ++fields) {
    if (fields == limits.fields)
      refuse(431, "headers_too_large", "the request has too many headers");
    const std::string_view field = next_line(rest);
    if (field.size() > limits.line) long_line(false);
    const size_t colon = std::min(field.find(':'), field.size());
    const std::string_view name = field.substr(0, colon);
    if (colon == field.size() || !is_token(name)) bad("a header is broken");
    const std::string_view value = trimmed(field.substr(colon + 1));
    framing.take(lower(name), value);
    add_field(name, value, out.text);
  }
  framing.done(old);
  out.bodiless = framing.lengths + framing.codings == 0;
  out.chunked = framing.codings > 0;
  const bool bodied =
      line.starts_with("POST ") || line.starts_with("PUT ") || line.starts_with("PATCH ");
  if (out.bodiless && bodied) out.text += "Content-Length: 0\r\n";
  out.text += "\r\n";
  return out;
}

}  // namespace arrcoc::serving
