// As much of JSON Schema as web/openapi.json uses, and one rule more: what a reply says must be
// written down, so an object whose properties are listed may have no others.
#pragma once

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace arrcoc::serving::test {

class SchemaCheck {
 public:
  explicit SchemaCheck(nlohmann::json specification) : spec_(std::move(specification)) {}

  // "" or the first thing that is wrong, with its place.
  std::string operator()(const nlohmann::json& value, const nlohmann::json& schema,
                         const std::string& at = "$") const {
    if (schema.contains("$ref")) return (*this)(value, at_pointer(schema["$ref"]), at);
    for (const auto& [key, rule] : schema.items())
      if (!known(key)) return at + ": the schema's '" + key + "' is not checked";
    if (schema.contains("oneOf")) return one_of(value, schema["oneOf"], at);
    if (schema.contains("const") && value != schema["const"])
      return at + " is not " + schema["const"].dump();
    if (schema.contains("enum") && !contains(schema["enum"], value))
      return at + " is none of " + schema["enum"].dump();
    if (schema.contains("type") && !typed(value, schema["type"]))
      return at + " is no " + schema["type"].dump() + " but " + value.dump().substr(0, 60);
    if (value.is_number()) return number(value.get<double>(), schema, at);
    if (value.is_string() && schema.contains("maxLength") &&
        value.get_ref<const std::string&>().size() > schema["maxLength"].get<size_t>())
      return at + " is too long";
    if (value.is_array()) return array(value, schema, at);
    return value.is_object() ? object(value, schema, at) : "";
  }

  // Of a reply: paths -> method -> responses -> status -> content -> type.
  std::string reply(const nlohmann::json& body, const std::string& path, const std::string& method,
                    int status, const std::string& type = "application/json") const {
    const std::string code = std::to_string(status);
    const nlohmann::json& responses = spec_["paths"][path][method]["responses"];
    if (!responses.contains(code)) return path + ": status " + code + " is not written down";
    nlohmann::json response = responses[code];
    if (response.contains("$ref")) response = at_pointer(response["$ref"]);
    if (!response["content"].contains(type)) return path + ": no " + type + " is expected";
    return (*this)(body, response["content"][type]["schema"]);
  }
  std::string request(const nlohmann::json& body, const std::string& path) const {
    return (*this)(
        body, spec_["paths"][path]["post"]["requestBody"]["content"]["application/json"]["schema"]);
  }

 private:
  using json = nlohmann::json;
  const json& at_pointer(const json& reference) const {
    return spec_.at(json::json_pointer(reference.get<std::string>().substr(1)));
  }
  static bool known(const std::string& key) {
    static const std::vector<std::string> all = {
        "type",    "properties", "required", "additionalProperties",
        "items",   "minItems",   "maxItems", "minimum",
        "maximum", "maxLength",  "enum",     "const",
        "oneOf",   "description"};
    return std::find(all.begin(), all.end(), key) != all.end();
  }
  static bool contains(const json& list, const json& value) {
    return std::find(list.begin(), list.end(), value) != list.end();
  }
  static bool typed(const json& value, const json& type) {
    if (type.is_array())
      return std::any_of(type.begin(), type.end(), [&](const json& t) { return typed(value, t); });
    if (type == "object") return value.is_object();
    if (type == "array") return value.is_array();
    if (type == "string") return value.is_string();
    if (type == "boolean") return value.is_boolean();
    if (type == "null") return value.is_null();
    if (type == "integer") return value.is_number_integer();
    return type == "number" && value.is_number();
  }
  std::string one_of(const json& value, const json& choices, const std::string& at) const {
    int fits = 0;
    for (const json& choice : choices) fits += (*this)(value, choice, at).empty();
    return fits == 1 ? "" : at + " fits " + std::to_string(fits) + " of the choices";
  }
  static std::string number(double value, const json& schema, const std::string& at) {
    if (!std::isfinite(value)) return at + " is not finite";
    if (schema.contains("minimum") && value < schema["minimum"]) return at + " is too small";
    return schema.contains("maximum") && value > schema["maximum"] ? at + " is too large" : "";
  }
  std::string array(const json& value, const json& schema, const std::string& at) const {
    if (schema.contains("minItems") && value.size() < schema["minItems"]) return at + " is short";
    if (schema.contains("maxItems") && value.size() > schema["maxItems"]) return at + " is long";
    for (size_t i = 0; i < value.size() && schema.contains("items"); ++i) {
      std::string wrong = (*this)(value[i], schema["items"], at + "[" + std::to_string(i) + "]");
      if (!wrong.empty()) return wrong;
    }
    return "";
  }
  std::string object(const json& value, const json& schema, const std::string& at) const {
    for (const json& key : schema.value("required", json::array()))
      if (!value.contains(key)) return at + " has no " + key.dump();
    const json properties = schema.value("properties", json::object());
    for (const auto& [key, part] : value.items()) {
      std::string wrong;
      if (properties.contains(key)) {
        wrong = (*this)(part, properties[key], at + "." + key);
      } else if (schema.contains("additionalProperties") &&
                 schema["additionalProperties"].is_object()) {
        wrong = (*this)(part, schema["additionalProperties"], at + "." + key);
      } else if (!properties.empty()) {
        wrong = at + "." + key + " is not written down";
      }
      if (!wrong.empty()) return wrong;
    }
    return "";
  }

  json spec_;
};

}  // namespace arrcoc::serving::test
