// What was fitted for the bundled weights, as JSON.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "arrcoc/bundle.h"
#include "base/json.h"
#include "base/text.h"
#include "models/tiny/signs.h"

namespace arrcoc {

namespace {

constexpr const char* kPlace = "place";
constexpr const char* kKind = "kind";

double logit(double p) {
  p = std::clamp(p, 1e-9, 1 - 1e-9);
  return std::log(p / (1 - p));
}

// Whether that text can be what is asked for, as far as digits tell.
bool misfits(AnswerKind kind, const std::string& answer) {
  if (answer.empty() || answer == "none") return false;
  const auto any = [&](const auto& is) { return std::any_of(answer.begin(), answer.end(), is); };
  const bool digit = any([](unsigned char c) { return text::is_digit(c); });
  const bool letter = any([](unsigned char c) { return c >= 0x80 || text::is_letter(c); });
  switch (kind) {
    case AnswerKind::money:
    case AnswerKind::date:
    case AnswerKind::time:
    case AnswerKind::number:
    case AnswerKind::percent:
    case AnswerKind::phone:
      return !digit;
    case AnswerKind::name:
    case AnswerKind::place:
    case AnswerKind::colour:
      return !letter;
    case AnswerKind::any:
    case AnswerKind::text:
      return false;
  }
  return false;
}

}  // namespace

AnswerSigns signs_of(const std::string& question, const std::string& answer,
                     const std::vector<float>& probabilities) {
  const Query query = parse_query(question);
  AnswerSigns out;
  out.likelihood = out.least = 1;
  for (const float p : probabilities) {
    out.likelihood *= p;
    out.least = std::min(out.least, static_cast<double>(p));
  }
  out.length = std::log(std::max<double>(1, static_cast<double>(probabilities.size())));
  const std::vector<std::string> said = text::split_words(answer);
  const auto& asked = query.words;
  const auto found = std::search(asked.begin(), asked.end(), said.begin(), said.end());
  out.repeats = !said.empty() && found != asked.end() ? 1 : 0;
  out.computes = query.computes ? 1 : 0;
  out.misfit = misfits(query.answer, answer) ? 1 : 0;
  return out;
}

double tiny::place_sign(std::span<const float> focus, std::span<const Leaf> leaves) {
  constexpr double kLeast = 1e-3;  // of relevance, so that it does not count without bound
  double sum = 0, relevant = 0;
  for (size_t i = 0; i < std::min(focus.size(), leaves.size()); ++i) {
    sum += static_cast<double>(focus[i]);
    relevant += static_cast<double>(focus[i]) * static_cast<double>(leaves[i].relevance);
  }
  return relevant > 0 ? logit(std::clamp(relevant / sum, kLeast, 1 - kLeast)) : 0;
}

tiny::ConfidenceValues tiny::confidence_values(const ReadSigns& signs) {
  const AnswerSigns& answer = signs.answer;
  return {1,
          logit(answer.likelihood),
          logit(answer.least),
          answer.length,
          answer.repeats,
          answer.computes,
          answer.misfit,
          signs.place,
          signs.kind};
}

tiny::ConfidenceValues tiny::values_of(const SignWeights& weights) {
  ConfidenceValues out{};
  for (size_t i = 0; i < std::size(kConfidenceTerms); ++i)
    out[i] = weights.calibration.*kConfidenceTerms[i].weight;
  out[out.size() - 2] = weights.place;
  out.back() = weights.kind;
  return out;
}

tiny::SignWeights tiny::weights_of(const Calibration& rest, const ConfidenceValues& values) {
  SignWeights out{rest, values[values.size() - 2], values.back()};
  for (size_t i = 0; i < std::size(kConfidenceTerms); ++i)
    out.calibration.*kConfidenceTerms[i].weight = values[i];
  return out;
}

double tiny::calibrated(const SignWeights& weights, const ReadSigns& signs) {
  const ConfidenceValues values = confidence_values(signs), counts = values_of(weights);
  return 1 / (1 + std::exp(-std::inner_product(values.begin(), values.end(), counts.begin(), 0.0)));
}

double calibrated(const Calibration& c, const AnswerSigns& signs) {
  return tiny::calibrated({c}, {signs});
}

tiny::SignWeights tiny::sign_weights_from_json(const std::string& text) {
  SignWeights out{calibration_from_json(text)};
  JsonFields fields = JsonFields::parse("calibration", text);
  fields.number(kPlace, out.place, -100, 100).number(kKind, out.kind, -100, 100);
  return out;
}

std::string tiny::to_json(const SignWeights& weights) {
  ordered_json out = ordered_json::parse(arrcoc::to_json(weights.calibration));
  out[kPlace] = weights.place;
  out[kKind] = weights.kind;
  return out.dump();
}

double calibrated_need(const Calibration& c, double e, const Query& query) {
  if (query.complexity == Complexity::complex) e *= c.complex;
  return std::pow(std::clamp(c.scale * e, 0.0, 1.0), c.power);
}

Calibration calibration_from_json(const std::string& text) {
  Calibration out;
  JsonFields fields = JsonFields::parse("calibration", text);
  for (const tiny::ConfidenceTerm& term : tiny::kConfidenceTerms)
    fields.number(term.name, out.*term.weight, -100, 100);
  fields.number("threshold", out.threshold, 0, 1)
      .number("scale", out.scale, 0, 100)
      .number("power", out.power, 0.05, 20)
      .number("complex", out.complex, 0.05, 20)
      .field("weights", out.weights)
      .ignore(kPlace)  // sign_weights_from_json
      .ignore(kKind)
      .ignore("measured")
      .done();
  return out;
}

std::string to_json(const Calibration& c) {
  ordered_json out;
  for (const tiny::ConfidenceTerm& term : tiny::kConfidenceTerms) out[term.name] = c.*term.weight;
  out["threshold"] = c.threshold;
  out["scale"] = c.scale;
  out["power"] = c.power;
  out["complex"] = c.complex;
  out["weights"] = c.weights;
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
    {"stale", &FilmConstants::stale},   {"enough", &FilmConstants::enough},
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
