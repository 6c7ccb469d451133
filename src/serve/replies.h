// What goes back to clients.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "arrcoc/ask.h"
#include "base/json.h"

namespace arrcoc::serving {

struct Usage {
  int64_t text = 0, completion = 0;
  int64_t kept = 0, native = 0;
  bool estimated = false;
  ordered_json image_tokens() const;
};
ordered_json to_json(const Usage& usage);
ordered_json counted(const Usage& usage);  // before it is sent

// Pictures of where the tokens went, as PNG: the homunculus of each picture.
void add_homunculi(const Answer& answer,
                   const std::vector<std::shared_ptr<const SeenPicture>>& pictures,
                   ordered_json& out);
// /v1/relevance: homunculus, relevance and quadtree of the one picture.
void add_drawings(const Answer& answer, const SeenPicture& picture, ordered_json& out);

ordered_json completion(const std::string& id, const std::string& model, const std::string& text,
                        const char* finish);
ordered_json chunk(const std::string& id, const std::string& model);
std::string event(const ordered_json& data);  // data: ...\n\n
std::string dump(const ordered_json& data);   // broken UTF-8 is replaced

// At most `limit` characters (0: all); `cut` says whether something went.
std::string first_characters(const std::string& text, int limit, bool& cut);

}  // namespace arrcoc::serving
