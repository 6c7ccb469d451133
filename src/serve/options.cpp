#include <cctype>
#include <cmath>
#include <nlohmann/json.hpp>

#include "arrcoc/error.h"
#include "arrcoc/realize.h"
#include "serve/json.h"
#include "serve/option_fields.h"

namespace arrcoc::serving {

namespace {

[[noreturn]] void wrong(const std::string& key, const char* wanted) {
  throw Error(ErrorCode::bad_json, "option '" + key + "' must be " + wanted);
}

void read(const std::string& key, const json& value, std::string& target) {
  if (key == "budget" && value.is_number_integer()) {
    target = std::to_string(value.get<int64_t>());
  } else if (value.is_string()) {
    target = value.get<std::string>();
  } else {
    wrong(key, "a string");
  }
}
void read(const std::string& key, const json& value, bool& target) {
  if (!value.is_boolean()) wrong(key, "true or false");
  target = value.get<bool>();
}
void read(const std::string& key, const json& value, int& target) {
  if (!value.is_number_integer() || std::abs(value.get<double>()) > 1e9)
    wrong(key, "a whole number");
  target = value.get<int>();
}
void read(const std::string& key, const json& value, double& target) {
  if (!value.is_number() || !std::isfinite(value.get<double>())) wrong(key, "a number");
  target = value.get<double>();
}
void read(const std::string& key, const json& value, std::vector<std::string>& target) {
  if (!value.is_array()) wrong(key, "a list of strings");
  target.clear();
  for (const json& v : value) {
    if (!v.is_string()) wrong(key, "a list of strings");
    target.push_back(v.get<std::string>());
  }
}

bool secret(const std::string& key) { return key == "api_key" || key == "upstream_key"; }

// An environment variable as JSON: a string stays one, everything else is read as JSON; lists are
// separated by commas.
template <class T>
json from_text(const std::string& text) {
  if constexpr (std::is_same_v<T, std::string>) {
    return text;
  } else if constexpr (std::is_same_v<T, std::vector<std::string>>) {
    json list = json::array();
    for (size_t at = 0; at <= text.size();) {
      const size_t comma = std::min(text.find(',', at), text.size());
      if (comma > at) list.push_back(text.substr(at, comma - at));
      at = comma + 1;
    }
    return list;
  } else {
    return json::parse(text, nullptr, false);
  }
}

// 65535 and not 65535.0.
std::string plain(double value) {
  return value == std::floor(value) ? std::to_string(static_cast<int64_t>(value))
                                    : json(value).dump();
}

void range(const char* name, double value, double low, double high) {
  if (!(value >= low && value <= high))
    throw Error(ErrorCode::bad_argument,
                std::string("option '") + name + "' must be " + plain(low) + " to " + plain(high));
}

void one_of(const char* name, const std::string& value, const std::vector<std::string>& known) {
  std::string all;
  for (const std::string& one : known) {
    if (value == one) return;
    if (!one.empty()) all += (all.empty() ? "" : ", ") + one;
  }
  throw Error(ErrorCode::bad_argument, std::string("option '") + name + "' must be one of " + all);
}

}  // namespace

Options options_from_json(const std::string& text) {
  Options options;
  apply_json(options, text);
  return options;
}

void apply_json(Options& options, const std::string& text) {
  const json given = parse_json(text, "the configuration");
  if (!given.is_object()) throw Error(ErrorCode::bad_json, "the configuration is no JSON object");
  for (const auto& [key, value] : given.items()) {
    bool found = false;
    visit_fields(options, [&, &k = key, &v = value](const char* name, const char*, auto& field) {
      if (k != name) return;
      read(k, v, field);
      found = true;
    });
    if (!found) throw Error(ErrorCode::bad_json, "unknown option '" + key + "'");
  }
}

std::string to_json(const Options& options) {
  json out = json::object();
  Options copy = options;
  visit_fields(copy, [&](const char* name, const char*, auto& field) { out[name] = field; });
  for (const auto& [key, value] : out.items())
    if (secret(key) && value != "") out[key] = "***";
  return out.dump(2);
}

void apply_environment(Options& options, const std::function<const char*(const char*)>& get) {
  visit_fields(options, [&](const std::string& name, const char*, auto& field) {
    std::string variable = "ARRCOC_SERVE_";
    for (char c : name) variable += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    const char* text = get(variable.c_str());
    if (text == nullptr) return;
    try {
      read(name, from_text<std::decay_t<decltype(field)>>(text), field);
    } catch (const Error& e) {
      throw Error(e.code(), variable + ": " + e.what());
    }
  });
}

void check(const Options& o) {
  range("port", o.port, 0, 65535);
  range("threshold", o.threshold, 0, 1);
  range("workers", o.workers, 0, 1024);
  range("batch_tokens", o.batch_tokens, 1, 1 << 20);
  range("queue", o.queue, 1, 1 << 20);
  range("cache_mb", o.cache_mb, 0, 1 << 20);
  range("connections", o.connections, 1, 4096);
  range("max_body_mb", o.max_body_mb, 0.001, 4096);
  range("max_megapixels", o.max_megapixels, 0.001, 1000);
  range("max_pictures", o.max_pictures, 1, 64);
  range("request_seconds", o.request_seconds, 0.001, 86400);
  range("read_seconds", o.read_seconds, 0.05, 86400);
  range("idle_seconds", o.idle_seconds, 0.05, 86400);
  range("shutdown_seconds", o.shutdown_seconds, 0, 86400);
  range("log_share", o.log_share, 0, 1);
  range("log_days", o.log_days, 0, 36500);
  range("max_new_tokens", o.max_new_tokens, 0, 1 << 20);
  // Mode native would spend what no budget allows.
  one_of("mode", o.mode, {"", "prune", "patches", "zoom"});
  one_of("relevance", o.relevance, {"realizer", "clip", "attention", "combined"});
  if (o.relevance == "clip" && o.relevance_model.empty())
    throw Error(ErrorCode::bad_argument, "relevance 'clip' needs relevance_model");
  if (!o.model.empty() && !o.upstream.empty())
    throw Error(ErrorCode::bad_argument, "either a model or an upstream answers, not both");
  range("upstream_seconds", o.upstream_seconds, 0.05, 86400);
  range("upstream_retries", o.upstream_retries, 0, 10);
  policy(o.policy);
  Relevance even;
  even.map = Map{1, 1, 16, 16, {0.5F}};
  if (o.budget != "learned") allocating::budget(even, parse_query("what"), o.budget);
  if (o.upstream_family != "auto") family_named(o.upstream_family);
  for (const std::string& rule : o.upstream_budgets)
    if (rule.find('=') == std::string::npos)
      throw Error(ErrorCode::bad_argument,
                  "upstream budget '" + rule + "' is not of the form PATTERN=BUDGET");
}

}  // namespace arrcoc::serving
