// What was fitted for the bundled weights, as JSON.
#include <algorithm>
#include <cmath>

#include "arrcoc/bundle.h"
#include "base/json.h"

namespace arrcoc {

double calibrated(const Calibration& c, double likelihood) {
  const double p = std::clamp(likelihood, 1e-9, 1 - 1e-9);
  return 1 / (1 + std::exp(-(c.slope * std::log(p / (1 - p)) + c.offset)));
}

double calibrated_need(const Calibration& c, double e, const Query& query) {
  if (query.complexity == Complexity::complex) e *= c.complex;
  return std::pow(std::clamp(c.scale * e, 0.0, 1.0), c.power);
}

Calibration calibration_from_json(const std::string& text) {
  Calibration out;
  JsonFields fields = JsonFields::parse("calibration", text);
  fields.number("slope", out.slope, 0, 100)
      .number("offset", out.offset, -100, 100)
      .number("threshold", out.threshold, 0, 1)
      .number("scale", out.scale, 0, 100)
      .number("power", out.power, 0.05, 20)
      .number("complex", out.complex, 0.05, 20)
      .field("weights", out.weights)
      .ignore("measured")
      .done();
  return out;
}

std::string to_json(const Calibration& c) {
  const ordered_json out = {{"slope", c.slope},    {"offset", c.offset}, {"threshold", c.threshold},
                            {"scale", c.scale},    {"power", c.power},   {"complex", c.complex},
                            {"weights", c.weights}};
  return out.dump();
}

namespace {

struct FilmEntry {
  const char* name;
  float FilmConstants::*field;
};
constexpr FilmEntry kFilm[] = {
    {"decay", &FilmConstants::decay},   {"renew", &FilmConstants::renew},
    {"boost", &FilmConstants::boost},   {"mover", &FilmConstants::mover},
    {"even", &FilmConstants::even},     {"keep", &FilmConstants::keep},
    {"steady", &FilmConstants::steady}, {"unexplained", &FilmConstants::unexplained}};

}  // namespace

FilmConstants film_constants_from_json(const std::string& text) {
  FilmConstants out;
  JsonFields fields = JsonFields::parse("the constants of films", text);
  for (const FilmEntry& entry : kFilm) fields.number(entry.name, out.*(entry.field), 0, 1);
  fields.number("novelty", out.novelty, 0, 1).ignore("measured").done();
  return out;
}

std::string to_json(const FilmConstants& constants) {
  ordered_json out;
  for (const FilmEntry& entry : kFilm)
    out[entry.name] = rounded(static_cast<double>(constants.*(entry.field)));
  out["novelty"] = rounded(constants.novelty);
  return out.dump(2);
}

}  // namespace arrcoc
