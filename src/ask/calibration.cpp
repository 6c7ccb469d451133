#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "arrcoc/answering.h"
#include "arrcoc/error.h"

namespace arrcoc::answering {

namespace {

using nlohmann::json;

struct Field {
  const char* name;
  double Calibration::*value;
  double low, high;
};

constexpr Field kFields[] = {
    {"slope", &Calibration::slope, 0, 100},       {"offset", &Calibration::offset, -100, 100},
    {"threshold", &Calibration::threshold, 0, 1}, {"scale", &Calibration::scale, 0, 100},
    {"power", &Calibration::power, 0.05, 20},     {"complex", &Calibration::complex, 0.05, 20}};

[[noreturn]] void refuse(const std::string& what) {
  throw Error(ErrorCode::bad_json, "calibration: " + what);
}

}  // namespace

double calibrated(const Calibration& c, double likelihood) {
  const double p = std::clamp(likelihood, 1e-9, 1 - 1e-9);
  return 1 / (1 + std::exp(-(c.slope * std::log(p / (1 - p)) + c.offset)));
}

std::optional<AutoRange> auto_range(const std::string& rule) {
  constexpr int kMost = 4096;
  if (rule == "auto" || rule == "learned") return AutoRange{};
  if (rule.rfind("auto:", 0) != 0) return std::nullopt;
  AutoRange out{0, 0};
  char rest = 0;
  if (std::sscanf(rule.c_str(), "auto:%5d-%5d%c", &out.low, &out.high, &rest) != 2 || out.low < 1 ||
      out.low >= out.high || out.high > kMost)
    throw Error(ErrorCode::bad_argument, "budget '" + rule +
                                             "': auto:LOW-HIGH takes two numbers, 1 <= LOW < HIGH "
                                             "<= 4096");
  return out;
}

Budget auto_budget(const Calibration& c, const tiny::Opinion& opinion, const Query& query,
                   const AutoRange& range) {
  constexpr double kRange = kMaxBudget - kMinBudget;
  double share = (allocating::expected_budget(opinion.tier).tokens - kMinBudget) / kRange;
  const double expected = kMinBudget + kRange * share;
  const bool complex = query.complexity == Complexity::complex;
  if (complex) share *= c.complex;
  const double tokens = range.low + (range.high - range.low) *
                                        std::pow(std::clamp(c.scale * share, 0.0, 1.0), c.power);
  return Budget{static_cast<int>(std::lround(tokens)), "auto",
                "the network expects a need of " + std::to_string(std::lround(expected)) +
                    " tokens" + (complex ? ", a complex question" : "")};
}

Relevance relevance_of(const tiny::Opinion& opinion) {
  Relevance out;
  out.map = opinion.relevance;
  out.weights = {0, 0, 1};
  out.tensions = {opinion.tensions[0], opinion.tensions[1], opinion.tensions[2]};
  return out;
}

Calibration calibration_from_json(const std::string& text) {
  const json given = json::parse(text, nullptr, false);
  if (!given.is_object()) refuse("no JSON object");
  Calibration out;
  for (const auto& [key, value] : given.items()) {
    if (key == "weights") {
      if (!value.is_number_unsigned()) refuse("'weights' must be a whole number");
      out.weights = value.get<uint64_t>();
      continue;
    }
    if (key == "measured") continue;  // for people
    const auto field = std::find_if(std::begin(kFields), std::end(kFields),
                                    [&, &k = key](const Field& f) { return k == f.name; });
    if (field == std::end(kFields)) refuse("unknown key '" + key + "'");
    if (!value.is_number()) refuse("'" + key + "' must be a number");
    const double number = value.get<double>();
    if (!(number >= field->low && number <= field->high))
      refuse("'" + key + "' is out of its range");
    out.*(field->value) = number;
  }
  return out;
}

std::string to_json(const Calibration& calibration) {
  nlohmann::ordered_json out;
  for (const Field& field : kFields) out[field.name] = calibration.*(field.value);
  out["weights"] = calibration.weights;
  return out.dump();
}

}  // namespace arrcoc::answering
