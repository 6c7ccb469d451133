// Files of one JSON object a line, as folders of pictures have them (items*.jsonl, words*.jsonl).
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "arrcoc/map.h"

namespace arrcoc::measuring {

// One line; whatever does not fit is Error{bad_json} "FILE:LINE: what is wrong". A field that is
// null counts as missing.
class Line {
 public:
  // where: "FILE:LINE". Error{bad_json} for text that is no JSON object.
  Line(std::string where, const std::string& text);
  Line(std::string where, nlohmann::json object);

  bool has(const char* key) const { return find(key) != nullptr; }
  std::string text(const char* key) const;          // must be there
  std::string text_or_none(const char* key) const;  // "" where it is missing
  std::vector<std::string> texts(const char* key) const;
  int size(const char* key) const;  // a whole number from 1 on; must be there
  bool flag(const char* key) const;
  std::vector<Box> boxes(const char* key) const;  // [[x0,y0,x1,y1],...]; may be empty ones
  // Calls take(value, "KEY[i]") for every element of a list.
  void each(const char* key,
            const std::function<void(const nlohmann::json&, const std::string&)>& take) const;
  // The first four numbers of a list; `key` names it in the message.
  Box box(const nlohmann::json& value, const std::string& key) const;
  // Calls take(box, text) for every {"box","text"} of text_boxes.
  void each_text(const std::function<void(const Box&, std::string)>& take) const;
  std::string text(const nlohmann::json& value, const std::string& key) const;
  float number(const nlohmann::json& value, const std::string& key) const;
  const nlohmann::json& object() const { return object_; }
  [[noreturn]] void refuse(const std::string& why) const;

 private:
  const nlohmann::json* find(const char* key) const;  // null: missing
  std::string where_;
  nlohmann::json object_;
};

// FOLDER/BEGIN*.jsonl, sorted by name; none where there is no such folder.
std::vector<std::string> line_files(const std::string& folder, const std::string& begin);
// Every line that is not blank. Error{io} for a file that cannot be read.
void each_line(const std::string& file, const std::function<void(const Line&)>& take);

}  // namespace arrcoc::measuring
