#include "base/json.h"

#include <algorithm>
#include <fstream>
#include <limits>
#include <sstream>

namespace arrcoc {

namespace {

int deepest(std::string_view text) {
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

// 65535 and not 65535.0.
std::string plain(double value) {
  return value == std::floor(value) && std::abs(value) < 1e15
             ? std::to_string(static_cast<int64_t>(value))
             : json(value).dump();
}

}  // namespace

json parse_json(std::string_view text, const std::string& what, int depth) {
  if (deepest(text) > depth)
    throw Error(ErrorCode::bad_json,
                what + " is nested deeper than " + std::to_string(depth) + " levels");
  json parsed = json::parse(text.begin(), text.end(), nullptr, false);
  if (parsed.is_discarded()) throw Error(ErrorCode::bad_json, what + " is not valid JSON (UTF-8)");
  return parsed;
}

std::string read_text(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw Error(ErrorCode::not_found, path + ": cannot be read");
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

void wrong_json(const std::string& what, const std::string& key, const std::string& wanted) {
  throw Error(ErrorCode::bad_json, what + ": '" + key + "' must be " + wanted);
}

void read_value(const std::string& what, const std::string& key, const json& value,
                std::string& target) {
  if (!value.is_string()) wrong_json(what, key, "a string");
  target = value.get<std::string>();
}

void read_value(const std::string& what, const std::string& key, const json& value,
                std::vector<std::string>& target) {
  if (!value.is_array()) wrong_json(what, key, "a list of strings");
  target.clear();
  for (const json& one : value) {
    if (!one.is_string()) wrong_json(what, key, "a list of strings");
    target.push_back(one.get<std::string>());
  }
}

void read_value(const std::string& what, const std::string& key, const json& value, bool& target) {
  if (!value.is_boolean()) wrong_json(what, key, "true or false");
  target = value.get<bool>();
}

void read_value(const std::string& what, const std::string& key, const json& value,
                int64_t& target) {
  const bool large = value.is_number_unsigned() && value.get<uint64_t>() >> 63 != 0;
  if (!value.is_number_integer() || large) wrong_json(what, key, "a whole number");
  target = value.get<int64_t>();
}

void read_value(const std::string& what, const std::string& key, const json& value, int& target) {
  int64_t wide = 0;
  read_value(what, key, value, wide);
  if (std::abs(wide) > 1'000'000'000) wrong_json(what, key, "a whole number of sensible size");
  target = static_cast<int>(wide);
}

void read_value(const std::string& what, const std::string& key, const json& value,
                uint64_t& target) {
  if (!value.is_number_unsigned()) wrong_json(what, key, "a whole number, not negative");
  target = value.get<uint64_t>();
}

void read_value(const std::string& what, const std::string& key, const json& value,
                double& target) {
  if (!value.is_number() || !std::isfinite(value.get<double>())) wrong_json(what, key, "a number");
  target = value.get<double>();
}

void read_value(const std::string& what, const std::string& key, const json& value, float& target) {
  double wide = 0;
  read_value(what, key, value, wide);
  if (std::abs(wide) > 1e9) wrong_json(what, key, "a number of sensible size");
  target = static_cast<float>(wide);
}

JsonFields::JsonFields(std::string what, json object)
    : what_(std::move(what)), object_(std::move(object)) {
  if (!object_.is_object()) throw Error(ErrorCode::bad_json, what_ + ": no JSON object");
}

const json* JsonFields::take(const char* key) {
  taken_.emplace_back(key);
  const auto found = object_.find(key);
  return found == object_.end() ? nullptr : &*found;
}

void JsonFields::done() const {
  for (const auto& [key, value] : object_.items())
    if (std::find(taken_.begin(), taken_.end(), key) == taken_.end())
      throw Error(ErrorCode::bad_json, what_ + ": unknown key '" + key + "'");
}

void JsonFields::out_of_range(const std::string& key, double low, double high) const {
  wrong_json(what_, key, "a number from " + plain(low) + " to " + plain(high));
}

}  // namespace arrcoc
