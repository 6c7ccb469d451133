// What goes back to clients.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"

namespace arrcoc::serving {

struct Usage {
  int64_t text = 0, completion = 0;
  int64_t kept = 0, native = 0;
  bool estimated = false;
  ordered_json image_tokens() const;
};
ordered_json to_json(const Usage& usage);

std::string event(const ordered_json& data);  // data: ...\n\n
std::string dump(const ordered_json& data);   // broken UTF-8 is replaced

// Why an answer ended.
enum class Finish {
  stop,      // the model had said it
  length,    // a limit of tokens
  sequence,  // one of the request's stop sequences came
};
// The text before the first of the stop sequences; `found` is that one, "" when there is none.
std::string before_stop(const std::string& text, const std::vector<std::string>& stop,
                        std::string& found);
// The text without an end that may be the beginning of a stop sequence.
std::string without_beginnings(std::string text, const std::vector<std::string>& stop);
// The last whole characters of a text, at most so many bytes.
std::string last_bytes(const std::string& text, size_t most);
// At most `limit` characters (0: all); `cut` says whether something went.
std::string first_characters(const std::string& text, int limit, bool& cut);

}  // namespace arrcoc::serving
