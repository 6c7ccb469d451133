// Options as JSON.
#include "arrcoc/json.h"

#include "base/json.h"

namespace arrcoc {

namespace {

constexpr const char* kWhat = "options";

void read_option(const std::string& key, const json& value, std::string& target) {
  if (key == "budget" && value.is_number_integer()) {
    target = std::to_string(value.get<int64_t>());
  } else {
    read_value(kWhat, key, value, target);
  }
}
template <class T>
void read_option(const std::string& key, const json& value, T& target) {
  read_value(kWhat, key, value, target);
}

template <class T>
json written(const T& value) {
  if constexpr (NamedEnum<T>) {
    return to_string(value);
  } else {
    return value;
  }
}

}  // namespace

void apply_json(AskOptions& options, const json& given) {
  if (!given.is_object()) throw Error(ErrorCode::bad_json, "options must be a JSON object");
  if (given.contains("policy")) {
    std::string name;
    read_value(kWhat, "policy", given["policy"], name);
    options = policy(name);
  }
  for (const auto& [key, value] : given.items()) {
    bool found = key == "policy";
    visit_fields(options, [&, &k = key, &v = value](const char* name, const char*, auto& field) {
      if (k != name) return;
      read_option(k, v, field);
      found = true;
    });
    if (!found) throw Error(ErrorCode::bad_json, "unknown option '" + key + "'");
  }
}

AskOptions options_from_json(const std::string& text) {
  AskOptions out;
  apply_json(out, parse_json(text, kWhat, 8));
  return out;
}

std::string to_json(const AskOptions& options) {
  json out = json::object();
  out["policy"] = options.policy;
  AskOptions copy = options;
  visit_fields(copy,
               [&](const char* name, const char*, auto& field) { out[name] = written(field); });
  return out.dump();
}

}  // namespace arrcoc
