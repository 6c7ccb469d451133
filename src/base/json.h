// Reading JSON that others wrote: every surprise is an Error{bad_json} that says what and where.
#pragma once

#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "arrcoc/error.h"
#include "arrcoc/registry.h"

namespace arrcoc {

using nlohmann::json;
using nlohmann::ordered_json;

inline constexpr int kMaxJsonDepth = 32;

// Refuses nesting deeper than `depth` before parsing (the parser recurses), then what does not
// parse, invalid UTF-8 included. `what` begins the message: "calibration.json", "the request".
json parse_json(std::string_view text, const std::string& what, int depth = kMaxJsonDepth);
// A whole file. Error{not_found} that names it.
std::string read_text(const std::string& path);

// 'KEY' must be WANTED.
[[noreturn]] void wrong_json(const std::string& what, const std::string& key,
                             const std::string& wanted);

// ---- One value of a known type. Numbers are finite and fit their type.

void read_value(const std::string& what, const std::string& key, const json& value,
                std::string& target);
void read_value(const std::string& what, const std::string& key, const json& value,
                std::vector<std::string>& target);
void read_value(const std::string& what, const std::string& key, const json& value, bool& target);
void read_value(const std::string& what, const std::string& key, const json& value, int& target);
void read_value(const std::string& what, const std::string& key, const json& value,
                int64_t& target);
void read_value(const std::string& what, const std::string& key, const json& value,
                uint64_t& target);
void read_value(const std::string& what, const std::string& key, const json& value, double& target);
void read_value(const std::string& what, const std::string& key, const json& value, float& target);
template <NamedEnum Enum>
void read_value(const std::string& what, const std::string& key, const json& value, Enum& target) {
  std::string name;
  read_value(what, key, value, name);
  try {
    target = parse_enum<Enum>(name);
  } catch (const Error& problem) {
    throw Error(ErrorCode::bad_json, what + ": " + problem.what());
  }
}

// ---- The fields of one object: each is read where it is there; what is left over is an error.
//   JsonFields fields = JsonFields::parse("calibration", text);
//   fields.number("slope", out.slope, 0, 100);
//   fields.done();
class JsonFields {
 public:
  JsonFields(std::string what, json object);
  static JsonFields parse(const std::string& what, std::string_view text) {
    return {what, parse_json(text, what)};
  }

  bool has(const char* key) const { return object_.contains(key); }
  template <class T>
  JsonFields& field(const char* key, T& target) {
    if (const json* value = take(key)) read_value(what_, key, *value, target);
    return *this;
  }
  // A number from low to high.
  template <class T>
  JsonFields& number(const char* key, T& target, double low, double high) {
    if (const json* value = take(key)) {
      double wide = 0;
      read_value(what_, key, *value, wide);
      if (!(wide >= low && wide <= high)) out_of_range(key, low, high);
      target = static_cast<T>(wide);
    }
    return *this;
  }
  // For people, or read by somebody else.
  JsonFields& ignore(const char* key) {
    take(key);
    return *this;
  }
  // The value itself; null when it is not there.
  const json* take(const char* key);
  void done() const;  // unknown keys

 private:
  [[noreturn]] void out_of_range(const std::string& key, double low, double high) const;
  std::string what_;
  json object_;
  std::vector<std::string> taken_;
};

// Rounds to 4 decimals, so that printed numbers are the same on every machine.
inline double rounded(double value) { return std::round(value * 1e4) / 1e4; }

}  // namespace arrcoc
