// JSON files that other programs wrote: config.json, tokenizer.json, preprocessor_config.json ...
// Keys that nobody asks for are ignored, null counts as not given, and every surprise is an
// Error{bad_json} that names the file and the key.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"

namespace arrcoc {

// One object of such a file. It refers to the JSON value, which must outlive it.
class Settings {
 public:
  Settings(const json& object, std::string file) : object_(object), file_(std::move(file)) {
    if (!object_.is_object()) throw Error(ErrorCode::bad_json, file_ + ": not an object");
  }
  static json read(const std::string& path) { return parse_json(read_text(path), path); }

  const std::string& file() const { return file_; }
  const json& object() const { return object_; }
  bool has(const char* key) const { return object_.contains(key) && !object_.at(key).is_null(); }
  [[noreturn]] void fail(const std::string& key, const std::string& what) const {
    throw Error(ErrorCode::bad_json, file_ + ": '" + key + "' " + what);
  }

  const json& need(const char* key) const {
    if (!has(key)) fail(key, "is missing");
    return object_.at(key);
  }
  const json& need_list(const char* key) const {
    if (!need(key).is_array()) fail(key, "is not a list");
    return need(key);
  }
  // The object under a key; an empty one when it is not given.
  Settings below(const char* key) const {
    static const json none = json::object();
    return {has(key) ? need(key) : none, file_ + ": " + key};
  }

  // Strings, numbers, true or false.
  template <class T>
  T get(const char* key) const {
    T out{};
    read_value(file_, key, need(key), out);
    return out;
  }
  template <class T>
  T get(const char* key, T fallback) const {
    if (has(key)) read_value(file_, key, need(key), fallback);
    return fallback;
  }
  std::string get(const char* key, const char* fallback) const {
    return get(key, std::string(fallback));
  }
  // Whole numbers of a range.
  int64_t whole(const char* key, int64_t fallback, int64_t low, int64_t high) const {
    return has(key) ? whole(need(key), key, low, high) : fallback;
  }
  int64_t whole(const json& value, const char* key, int64_t low, int64_t high) const {
    int64_t out = 0;
    read_value(file_, key, value, out);
    if (out < low || out > high)
      fail(key, "is " + std::to_string(out) + ", outside " + std::to_string(low) + ".." +
                    std::to_string(high));
    return out;
  }
  std::vector<int64_t> wholes(const char* key, int64_t low, int64_t high) const {
    std::vector<int64_t> out;
    for (const json& one : need_list(key)) out.push_back(whole(one, key, low, high));
    return out;
  }

 private:
  const json& object_;
  std::string file_;
};

}  // namespace arrcoc
