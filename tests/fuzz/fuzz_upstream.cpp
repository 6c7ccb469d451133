// Whatever an upstream sends is heard, or is no event, or an ApiError{502}: the same lines however
// its bytes come in pieces, counts that can be added up, and room for our part in an object.
// Input: one byte for the dialect, one for the size of pieces, the reply.
#include <algorithm>
#include <cstdint>
#include <string>

#include "serve/relay/dialects.h"
#include "serve/relay/hearing.h"

using namespace arrcoc;
using namespace arrcoc::serving;

namespace {

void must(bool holds) {
  if (!holds) __builtin_trap();
}

void extend(const Dialect& dialect, json& data, bool stream, bool include_usage) {
  json* place = dialect.extended(data, stream, include_usage);
  if (!place) return;
  must(place->is_object());
  (*place)["arrcoc"] = 1;
  must(json::accept(data.dump(-1, ' ', false, json::error_handler_t::replace)));
}

void check(const Heard& heard, size_t size) {
  for (const int64_t count : {heard.prompt_tokens, heard.completion_tokens, heard.cached_tokens,
                              heard.picture_tokens.value_or(0)})
    must(count >= 0 && count <= 2 * kMostCounted);
  must(heard.text.size() <= size);
}

void whole_reply(const Dialect& dialect, std::string_view body) {
  Hearing hearing(dialect);
  try {
    json data = hearing.object(body);
    extend(dialect, data, false, false);
  } catch (const ApiError& error) {
    must(error.status() == 502 && json::accept(error.body()));
  }
  check(hearing.heard(), body.size());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2) return 0;
  static const char* const paths[] = {"/v1/chat/completions", "/v1/responses", "/v1/messages",
                                      "/api/chat", "/api/generate"};
  const Dialect& dialect = *dialect_at(paths[data[0] % 5]);
  const size_t piece = size_t{1} + data[1] % 64;
  const std::string_view body(reinterpret_cast<const char*>(data) + 2, size - 2);
  Hearing hearing(dialect), slow(dialect);
  std::vector<std::string> lines, slow_lines;
  hearing.feed(body, true, lines);
  for (size_t at = 0; at < body.size(); at += piece)
    slow.feed(body.substr(at, piece), false, slow_lines);
  slow.feed("", true, slow_lines);
  must(lines == slow_lines);
  std::string again;
  for (const std::string& line : lines) {
    again += line + "\n";
    std::optional<json> event = hearing.line(line);
    if (event) extend(dialect, *event, true, (data[1] & 64) != 0);
  }
  must(again == body || again == std::string(body) + "\n");
  check(hearing.heard(), size);
  whole_reply(dialect, body);
  return 0;
}
