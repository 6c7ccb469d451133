#include "lab/measure/lines.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <utility>

#include "base/json.h"

namespace arrcoc::measuring {

namespace fs = std::filesystem;

Line::Line(std::string where, const std::string& text)
    : where_(std::move(where)), object_(parse_json(text, where_)) {
  if (!object_.is_object()) refuse("a line must be a JSON object");
}

Line::Line(std::string where, json object) : where_(std::move(where)), object_(std::move(object)) {
  if (!object_.is_object()) refuse("it must be a JSON object");
}

void Line::refuse(const std::string& why) const {
  throw Error(ErrorCode::bad_json, where_ + ": " + why);
}

const json* Line::find(const char* key) const {
  const auto found = object_.find(key);
  return found == object_.end() || found->is_null() ? nullptr : &*found;
}

std::string Line::text(const json& value, const std::string& key) const {
  std::string out;
  read_value(where_, key, value, out);
  return out;
}

float Line::number(const json& value, const std::string& key) const {
  float out = 0;
  read_value(where_, key, value, out);
  return out;
}

std::string Line::text(const char* key) const {
  if (!has(key)) refuse("no '" + std::string(key) + "'");
  return text(*find(key), key);
}

std::string Line::text_or_none(const char* key) const {
  return has(key) ? text(key) : std::string();
}

std::vector<std::string> Line::texts(const char* key) const {
  std::vector<std::string> out;
  if (const json* value = find(key)) read_value(where_, key, *value, out);
  return out;
}

int Line::size(const char* key) const {
  if (!has(key)) refuse("no '" + std::string(key) + "'");
  int out = 0;
  read_value(where_, key, *find(key), out);
  if (out < 1) refuse("'" + std::string(key) + "' must be positive");
  return out;
}

bool Line::flag(const char* key) const {
  bool out = false;
  if (const json* value = find(key)) read_value(where_, key, *value, out);
  return out;
}

Box Line::box(const json& value, const std::string& key) const {
  if (!value.is_array() || value.size() < 4) wrong_json(where_, key, "[x0,y0,x1,y1]");
  return {number(value[0], key), number(value[1], key), number(value[2], key),
          number(value[3], key)};
}

void Line::each(const char* key,
                const std::function<void(const json&, const std::string&)>& take) const {
  const json* list = find(key);
  if (!list) return;
  if (!list->is_array()) wrong_json(where_, key, "a list");
  for (size_t i = 0; i < list->size(); ++i) take((*list)[i], key + ("[" + std::to_string(i) + "]"));
}

void Line::each_text(const std::function<void(const Box&, std::string)>& take) const {
  each("text_boxes", [&](const json& value, const std::string& key) {
    if (!value.is_object() || !value.contains("box") || !value.contains("text"))
      refuse("'" + key + "' must have a 'box' and a 'text'");
    take(box(value["box"], key + ".box"), text(value["text"], key + ".text"));
  });
}

std::vector<Box> Line::boxes(const char* key) const {
  std::vector<Box> out;
  each(key, [&](const json& value, const std::string& name) { out.push_back(box(value, name)); });
  return out;
}

std::vector<std::string> line_files(const std::string& folder, const std::string& begin) {
  std::vector<std::string> out;
  std::error_code problem;
  for (const auto& entry : fs::directory_iterator(folder, problem)) {
    const std::string name = entry.path().filename().string();
    if (name.rfind(begin, 0) == 0 && entry.path().extension() == ".jsonl")
      out.push_back(entry.path().string());
  }
  std::sort(out.begin(), out.end());
  return out;
}

void each_line(const std::string& file, const std::function<void(const Line&)>& take) {
  std::ifstream in(file);
  if (!in) throw Error(ErrorCode::io, "cannot read " + file);
  std::string text;
  for (int number = 1; std::getline(in, text); ++number)
    if (text.find_first_not_of(" \t\r") != std::string::npos)
      take(Line(file + ":" + std::to_string(number), text));
}

}  // namespace arrcoc::measuring
