// Changes a JSON text in places and leaves every other byte as it came.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace arrcoc::serving {

struct JsonEdit {
  enum class How {
    replace,  // the value by `text`
    after,    // `text` is inserted behind the value
    remove,   // a member of an object, with its name and comma
  };
  json::json_pointer place;
  How how = How::replace;
  std::string text;
};

// text: valid JSON, already parsed by somebody (nesting is bounded). Of members with the same name
// the last counts, as in the parser. Error{bad_argument} for a place that is not there and for
// places inside each other.
std::string edited(std::string_view text, const std::vector<JsonEdit>& edits);

// The bytes of the value at a place.
std::string_view value_at(std::string_view text, const json::json_pointer& place);

}  // namespace arrcoc::serving
