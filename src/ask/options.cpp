// Policies by name, and options as JSON.
#include <functional>
#include <nlohmann/json.hpp>
#include <type_traits>

#include "arrcoc/error.h"
#include "arrcoc/realize.h"
#include "ask/option_fields.h"

namespace arrcoc {

namespace {

struct Policy {
  const char* name;
  const char* summary;
  void (*apply)(Options&);
};

void only(Options& o, const char* preset) {
  o.balancer = "additive";
  o.balance.preset = preset;
}

void blind(Options& o, const char* allocator) {
  o.information = o.salience = o.coupling = "none";
  o.allocator = allocator;
}

const Policy kPolicies[] = {
    {"lexical", "default: what the question names visibly, balanced with information and salience",
     [](Options&) {}},
    {"full", "40 channels with all providers, symbolic salience",
     [](Options& o) {
       o.channels = "full";
       o.providers = {"clusters", "distance-field", "text"};
       o.information = "points";
       o.salience = "symbolic";
       o.balance.preset = "symbolic";
     }},
    {"reader", "OCR words matched to the question (slow, strong on documents)",
     [](Options& o) {
       only(o, "query");
       o.coupling = "reader";
     }},
    {"realizer", "the bundled network looks for what is asked (needs models/tiny)",
     [](Options& o) {
       only(o, "query");
       o.coupling = "realizer";
       o.allocator = "experts";
     }},
    {"learned", "three scorers, the network among them, balanced by a fitted policy",
     [](Options& o) {
       o.coupling = "realizer";
       o.balancer = "learned";
     }},
    {"realizer-thirds", "the same three scorers, a third each",
     [](Options& o) {
       only(o, "thirds");
       o.coupling = "realizer";
     }},
    {"text", "query-blind: print anywhere",
     [](Options& o) {
       only(o, "query");
       o.coupling = "print";
     }},
    {"saliency", "query-blind: what stands out", [](Options& o) { only(o, "salience"); }},
    {"information", "query-blind: entropy alone", [](Options& o) { only(o, "information"); }},
    {"coupling", "the lexical scorer alone", [](Options& o) { only(o, "query"); }},
    {"no-information", "two scorers, without information",
     [](Options& o) { only(o, "no-information"); }},
    {"no-salience", "two scorers, without salience", [](Options& o) { only(o, "no-salience"); }},
    {"no-query", "two scorers, without the question", [](Options& o) { only(o, "no-query"); }},
    {"thirds", "three scorers, a third each, no balancing", [](Options& o) { only(o, "thirds"); }},
    {"opponent", "three scorers, fixed tensions", [](Options& o) { o.balancer = "opponent"; }},
    {"multiplicative", "three scorers, multiplied",
     [](Options& o) { o.balancer = "multiplicative"; }},
    {"importance", "0.6 coupling + 0.4 hotspots", [](Options& o) { o.balancer = "importance"; }},
    {"breadth-first", "no relevance: split evenly, coarse to fine",
     [](Options& o) { blind(o, "breadth-first"); }},
    {"uniform", "no relevance: one level for the whole picture",
     [](Options& o) { blind(o, "uniform"); }},
    {"random", "no relevance: random splits", [](Options& o) { blind(o, "random"); }},
};

}  // namespace

Options policy(const std::string& name) {
  for (const Policy& p : kPolicies) {
    if (name == p.name || (name == "realized" && p.name == std::string_view("realizer"))) {
      Options options;
      p.apply(options);
      options.policy = name;
      return options;
    }
  }
  std::string known;
  for (const Policy& p : kPolicies) known += std::string(known.empty() ? "" : ", ") + p.name;
  throw Error(ErrorCode::not_found, "no policy named '" + name + "'; known: " + known);
}

std::vector<std::pair<std::string, std::string>> policies() {
  std::vector<std::pair<std::string, std::string>> out;
  for (const Policy& p : kPolicies) out.emplace_back(p.name, p.summary);
  return out;
}

namespace {

using nlohmann::json;

[[noreturn]] void wrong_type(const std::string& key, const char* wanted) {
  throw Error(ErrorCode::bad_json, "option '" + key + "' must be " + wanted);
}

void read(const std::string& key, const json& value, std::string& target) {
  if (value.is_string()) {
    target = value.get<std::string>();
  } else if (key == "budget" && value.is_number_integer()) {
    target = std::to_string(value.get<int64_t>());
  } else {
    wrong_type(key, "a string");
  }
}
void read(const std::string& key, const json& value, std::vector<std::string>& target) {
  if (!value.is_array()) wrong_type(key, "a list of strings");
  target.clear();
  for (const json& v : value) {
    if (!v.is_string()) wrong_type(key, "a list of strings");
    target.push_back(v.get<std::string>());
  }
}
void read(const std::string& key, const json& value, bool& target) {
  if (!value.is_boolean()) wrong_type(key, "true or false");
  target = value.get<bool>();
}
void read(const std::string& key, const json& value, int& target) {
  if (!value.is_number_integer()) wrong_type(key, "a whole number");
  const auto wide = value.get<int64_t>();
  if (wide < -1000000000 || wide > 1000000000) wrong_type(key, "a whole number of sensible size");
  target = static_cast<int>(wide);
}
void read(const std::string& key, const json& value, uint64_t& target) {
  if (!value.is_number_unsigned()) wrong_type(key, "a whole number, not negative");
  target = value.get<uint64_t>();
}
void read(const std::string& key, const json& value, float& target) {
  if (!value.is_number()) wrong_type(key, "a number");
  const auto wide = value.get<double>();
  if (!(wide > -1e9 && wide < 1e9)) wrong_type(key, "a number of sensible size");
  target = static_cast<float>(wide);
}

}  // namespace

Options options_from_json(const std::string& text) {
  // Depth is bounded before parsing: the parser recurses.
  int depth = 0;
  for (char c : text) {
    depth += (c == '[' || c == '{') - (c == ']' || c == '}');
    if (depth > 8) throw Error(ErrorCode::bad_json, "options are nested too deeply");
  }
  const json given = json::parse(text, nullptr, false);
  if (given.is_discarded()) throw Error(ErrorCode::bad_json, "options are not valid JSON");
  if (!given.is_object()) throw Error(ErrorCode::bad_json, "options must be a JSON object");
  Options options;
  if (given.contains("policy")) {
    std::string name;
    read("policy", given["policy"], name);
    options = policy(name);
  }
  for (const auto& [key, value] : given.items()) {
    bool found = key == "policy";
    visit_fields(options, [&, &k = key, &v = value](const char* name, const char*, auto& field) {
      if (k == name) {
        read(k, v, field);
        found = true;
      }
    });
    if (!found) throw Error(ErrorCode::bad_json, "unknown option '" + key + "'");
  }
  return options;
}

std::string to_json(const Options& options) {
  json out = json::object();
  out["policy"] = options.policy;
  Options copy = options;
  visit_fields(copy, [&](const char* name, const char*, auto& field) { out[name] = field; });
  return out.dump();
}

}  // namespace arrcoc
