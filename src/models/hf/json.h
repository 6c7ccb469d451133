// Reading JSON that others wrote: every surprise is an Error that names the file and the key.
#pragma once

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <string_view>

#include "arrcoc/error.h"

namespace arrcoc::jsonio {

using nlohmann::json;

inline json parse(std::string_view text, const std::string& file) {
  json value = json::parse(text.begin(), text.end(), nullptr, false);
  if (value.is_discarded()) throw Error(ErrorCode::bad_json, file + ": not valid JSON");
  return value;
}

inline std::string read_text(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw Error(ErrorCode::not_found, path + ": cannot be read");
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

inline json read(const std::string& path) { return parse(read_text(path), path); }

// True when `object` has the key and it is not null: writers use both for "not set".
inline bool has(const json& object, const char* key) {
  return object.is_object() && object.contains(key) && !object.at(key).is_null();
}

[[noreturn]] inline void fail(const std::string& file, const std::string& key,
                              const std::string& what) {
  throw Error(ErrorCode::bad_json, file + ": '" + key + "' " + what);
}

inline const json& member(const json& object, const char* key, const std::string& file) {
  if (!has(object, key)) fail(file, key, "is missing");
  return object.at(key);
}

inline std::string text(const json& object, const char* key, const std::string& file) {
  const json& value = member(object, key, file);
  if (!value.is_string()) fail(file, key, "is not a string");
  return value.get<std::string>();
}

inline std::string text(const json& object, const char* key, const std::string& fallback,
                        const std::string& file) {
  return has(object, key) ? text(object, key, file) : fallback;
}

inline bool flag(const json& object, const char* key, bool fallback, const std::string& file) {
  if (!has(object, key)) return fallback;
  if (!object.at(key).is_boolean()) fail(file, key, "is not true or false");
  return object.at(key).get<bool>();
}

inline int64_t whole(const json& value, const char* key, int64_t low, int64_t high,
                     const std::string& file) {
  if (!value.is_number_integer() || (value.is_number_unsigned() && value.get<uint64_t>() >> 63)) {
    fail(file, key, "is not a whole number");
  }
  int64_t number = value.get<int64_t>();
  if (number < low || number > high) {
    fail(file, key,
         "is " + std::to_string(number) + ", outside " + std::to_string(low) + ".." +
             std::to_string(high));
  }
  return number;
}

inline int64_t whole(const json& object, const char* key, int64_t fallback, int64_t low,
                     int64_t high, const std::string& file) {
  return has(object, key) ? whole(object.at(key), key, low, high, file) : fallback;
}

inline double number(const json& object, const char* key, double fallback,
                     const std::string& file) {
  if (!has(object, key)) return fallback;
  if (!object.at(key).is_number()) fail(file, key, "is not a number");
  return object.at(key).get<double>();
}

}  // namespace arrcoc::jsonio
