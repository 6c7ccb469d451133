// JSON from strangers.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace arrcoc::serving {

using json = nlohmann::json;
using ordered_json = nlohmann::ordered_json;

inline constexpr int kMaxDepth = 32;

// Refuses deep nesting before parsing (the parser recurses on destruction), then what does not
// parse, invalid UTF-8 included. Error{bad_json} that names `what`.
json parse_json(const std::string& text, const std::string& what);

}  // namespace arrcoc::serving
