// Server options from configuration files and the environment, and what they may be.
#include <sys/stat.h>

#include <algorithm>
#include <cctype>

#include "arrcoc/ask.h"
#include "arrcoc/error.h"
#include "arrcoc/serve.h"
#include "base/json.h"
#include "serve/savings.h"

namespace arrcoc::serving {

namespace {

constexpr const char* kWhat = "options";

bool secret(const std::string& key) { return key == "api_key" || key == "upstream_key"; }

template <class T>
void read(const std::string& key, const json& value, T& target) {
  read_value(kWhat, key, value, target);
}
void read(const std::string& key, const json& value, std::string& target) {
  if (key == "budget" && value.is_number_integer()) {
    target = std::to_string(value.get<int64_t>());
  } else {
    read_value(kWhat, key, value, target);
  }
}
// One name is a list as well.
void read(const std::string& key, const json& value, std::vector<std::string>& target) {
  read_value(kWhat, key, value.is_string() ? json::array({value}) : value, target);
}
void read(const std::string& key, const json& value, std::optional<double>& target) {
  target.reset();
  if (!value.is_null()) read_value(kWhat, key, value, target.emplace());
}

template <class T>
json written(const T& value) {
  if constexpr (NamedEnum<T>) {
    return to_string(value);
  } else if constexpr (std::is_same_v<T, std::optional<double>>) {
    return value ? json(*value) : json();
  } else {
    return value;
  }
}

// An environment variable as JSON: strings and names stay as they are, lists are separated by
// commas, everything else is read as JSON.
template <class T>
json from_text(const std::string& text) {
  if constexpr (std::is_same_v<T, std::string> || NamedEnum<T>) {
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

void range(const char* name, double value, double low, double high) {
  const auto plain = [](double v) {  // 65535 and not 65535.0
    return v == std::floor(v) ? std::to_string(static_cast<int64_t>(v)) : json(v).dump();
  };
  if (!(value >= low && value <= high))
    throw Error(ErrorCode::bad_argument,
                std::string("option '") + name + "' must be " + plain(low) + " to " + plain(high));
}

void check_models(const Options& o) {
  range("max_new_tokens", o.max_new_tokens, 0, 1 << 20);
  if (o.mode == ReadMode::native)
    throw Error(ErrorCode::bad_argument,
                "option 'mode' must be auto, prune, patches or zoom: native keeps to no budget");
  if (o.relevance == RelevanceSource::clip && o.relevance_model.empty())
    throw Error(ErrorCode::bad_argument, "relevance 'clip' needs relevance_model");
  if (!o.model.empty() && !o.upstream.empty())
    throw Error(ErrorCode::bad_argument, "either a model or an upstream answers, not both");
  price_of(o.prices, "");
  range("upstream_memory_mb", o.upstream_memory_mb, 0, 1 << 20);
  range("upstream_old_pictures", o.upstream_old_pictures, 0, 1 << 20);
  range("upstream_seconds", o.upstream_seconds, 0.05, 86400);
  range("upstream_retries", o.upstream_retries, 0, 10);
  range("upstream_image_min_tokens", o.upstream_image_min_tokens, 0, 1 << 16);
  range("upstream_image_max_tokens", o.upstream_image_max_tokens, 0, 1 << 16);
  if (o.upstream_image_max_tokens > 0 && o.upstream_image_max_tokens < o.upstream_image_min_tokens)
    throw Error(ErrorCode::bad_argument,
                "option 'upstream_image_max_tokens' is less than upstream_image_min_tokens");
  const Family family = family_named(o.upstream_family == "auto" ? "unknown" : o.upstream_family);
  if (!o.upstream_processor.empty()) with_processor(family, read_text(o.upstream_processor));
  for (const std::string& rule : o.upstream_budgets)
    if (rule.find('=') == std::string::npos)
      throw Error(ErrorCode::bad_argument,
                  "upstream budget '" + rule + "' is not of the form PATTERN=BUDGET");
}

}  // namespace

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
  visit_fields(copy,
               [&](const char* name, const char*, auto& field) { out[name] = written(field); });
  for (const auto& [key, value] : out.items())
    if (secret(key) && value != "") out[key] = "***";
  // The environment may say anything.
  return out.dump(2, ' ', false, json::error_handler_t::replace);
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

namespace {

void read_key(const char* name, std::string& file, std::string& key) {
  if (file.empty()) return;
  const std::string option = std::string(name) + "_file";
  if (!key.empty())
    throw Error(ErrorCode::bad_argument, "either " + std::string(name) + " or " + option);
  struct stat now {};
  if (::stat(file.c_str(), &now) == 0 && (now.st_mode & 07U) != 0)
    throw Error(ErrorCode::io, option + ": everybody can read " + file + ": chmod o= it");
  key = read_text(file);
  key.erase(key.find_last_not_of("\r\n") + 1);
  const auto plain = [](unsigned char c) { return c > 0x20 && c < 0x7f; };
  if (key.empty() || key.size() > 4096 || !std::all_of(key.begin(), key.end(), plain))
    throw Error(ErrorCode::bad_argument, option + ": " + file + " holds no key on one line");
  file.clear();
}

}  // namespace

Options with_keys(Options o) {
  read_key("api_key", o.api_key_file, o.api_key);
  read_key("upstream_key", o.upstream_key_file, o.upstream_key);
  return o;
}

void check(const Options& o) {
  range("port", o.port, 0, 65535);
  range("threshold", o.threshold.value_or(0), 0, 1);
  range("workers", o.workers, 0, 1024);
  range("batch_tokens", o.batch_tokens, 1, 1 << 20);
  range("queue", o.queue, 1, 1 << 20);
  range("cache_mb", o.cache_mb, 0, 1 << 20);
  range("connections", o.connections, 1, 4096);
  range("connections_per_address", o.connections_per_address, 1, 4096);
  range("inflight_mb", o.inflight_mb, 1, 1 << 20);
  range("max_budget", o.max_budget, 0, 65536);
  range("max_body_mb", o.max_body_mb, 0.001, 4096);
  range("max_megapixels", o.max_megapixels, 0.001, 1000);
  range("decoders", o.decoders, 0, 1024);
  range("decode_seconds", o.decode_seconds, 0.001, 86400);
  range("decode_mb", o.decode_mb, 0, 1 << 20);
  range("max_pictures", o.max_pictures, 1, 64);
  range("request_seconds", o.request_seconds, 0.001, 86400);
  range("read_seconds", o.read_seconds, 0.05, 86400);
  range("idle_seconds", o.idle_seconds, 0.05, 86400);
  range("shutdown_seconds", o.shutdown_seconds, 0, 86400);
  range("log_share", o.log_share, 0, 1);
  range("log_days", o.log_days, 0, 36500);
  range("log_mb", o.log_mb, 0, 1 << 20);
  range("log_ratings", o.log_ratings, 0, 1 << 20);
  check_models(o);
  policy(o.policy);
  Look even;  // says whether there is such a budget
  even.relevance.map = Map{1, 1, 16, 16, {0.5F}};
  allocating::budget(even, parse_query("what"), o.budget);
}

}  // namespace arrcoc::serving
