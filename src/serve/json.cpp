#include "serve/json.h"

#include "arrcoc/error.h"

namespace arrcoc::serving {

namespace {

int deepest(const std::string& text) {
  int depth = 0, most = 0;
  bool quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c == '\\') ++i;
      if (c == '"') quoted = false;
    } else if (c == '"') {
      quoted = true;
    } else if (c == '[' || c == '{') {
      most = std::max(most, ++depth);
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return most;
}

}  // namespace

json parse_json(const std::string& text, const std::string& what) {
  if (deepest(text) > kMaxDepth)
    throw Error(ErrorCode::bad_json,
                what + " is nested deeper than " + std::to_string(kMaxDepth) + " levels");
  json parsed = json::parse(text, nullptr, false);
  if (parsed.is_discarded()) throw Error(ErrorCode::bad_json, what + " is not valid JSON (UTF-8)");
  return parsed;
}

}  // namespace arrcoc::serving
