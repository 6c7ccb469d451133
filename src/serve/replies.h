// What goes back to clients.
#pragma once

#include <string>
#include <vector>

#include "serve/engine.h"
#include "serve/json.h"

namespace arrcoc::serving {

struct Usage {
  int64_t text = 0, completion = 0;
  int64_t kept = 0, native = 0;
  bool estimated = false;
};
ordered_json to_json(const Usage& usage);

// One picture of a reply: what was looked at, and as pictures when `map`.
ordered_json describe(const SeenPicture& seen, const Outcome& outcome, bool map);
// /v1/relevance: the same with the whole map and the leaves.
ordered_json relevance_report(const SeenPicture& seen, const Outcome& outcome,
                              const std::string& question, const std::string& policy, bool map);

ordered_json completion(const std::string& id, const std::string& model, const std::string& text,
                        const char* finish);
ordered_json chunk(const std::string& id, const std::string& model);
std::string event(const ordered_json& data);  // data: ...\n\n
std::string dump(const ordered_json& data);   // broken UTF-8 is replaced

// At most `limit` characters (0: all); `cut` says whether something went.
std::string first_characters(const std::string& text, int limit, bool& cut);

}  // namespace arrcoc::serving
