// The constants of films as JSON: what `arrcoc clips --fit` writes and defaults() reads.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>

#include "arrcoc/error.h"
#include "arrcoc/film.h"
#include "base/installed.h"

namespace arrcoc::filming {

namespace {

using nlohmann::json;

Installed<Options> installed;

struct Entry {
  const char* name;
  float Tuning::*field;
  float most;
};
// Only what is fitted: what makes a cut and what is noise are facts about pictures.
constexpr Entry kEntries[] = {
    {"decay", &Tuning::decay, 1},   {"renew", &Tuning::renew, 1},
    {"boost", &Tuning::boost, 1},   {"mover", &Tuning::mover, 1},
    {"even", &Tuning::even, 1},     {"keep", &Tuning::keep, 1},
    {"steady", &Tuning::steady, 1}, {"unexplained", &Tuning::unexplained, 1}};

Options plain() {
  Options out;
  out.allocate.finest_weight = 1;
  // A thing of two percent of the frame that jumps must not wait for the next regular look.
  out.tuning.unexplained = 0.015F;
  return out;
}

float number(const std::string& key, const json& value, double most) {
  const double v = value.is_number() ? value.get<double>() : -1;
  if (!(v >= 0 && v <= most))
    throw Error(ErrorCode::bad_json,
                "'" + key + "' must be a number from 0 to " + std::to_string(std::lround(most)));
  return static_cast<float>(v);
}

}  // namespace

Options constants_from_json(const std::string& text) {
  const json given = json::parse(text, nullptr, false);
  if (!given.is_object())
    throw Error(ErrorCode::bad_json, "the constants of films are a JSON object");
  Options out = plain();
  for (const auto& [key, value] : given.items()) {
    if (key == "measured") continue;
    if (key == "novelty") {
      out.means.novelty = static_cast<double>(number(key, value, 1));
      continue;
    }
    const auto* const found =
        std::find_if(std::begin(kEntries), std::end(kEntries),
                     [&, &name = key](const Entry& e) { return name == e.name; });
    if (found == std::end(kEntries))
      throw Error(ErrorCode::bad_json, "unknown key '" + key + "' in the constants of films");
    out.tuning.*(found->field) = number(key, value, found->most);
  }
  return out;
}

std::string constants_json(const Options& options) {
  nlohmann::ordered_json out;
  const auto rounded = [](double v) { return std::round(v * 1e4) / 1e4; };
  for (const Entry& e : kEntries)
    out[e.name] = rounded(static_cast<double>(options.tuning.*(e.field)));
  out["novelty"] = rounded(options.means.novelty);
  return out.dump(2);
}

void install_constants(const std::string& text) {
  installed.put(text.empty() ? nullptr
                             : std::make_shared<const Options>(constants_from_json(text)));
}

Options defaults() {
  const auto fitted = installed.get();
  return fitted ? *fitted : plain();
}

}  // namespace arrcoc::filming
