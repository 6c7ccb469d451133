#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

#include "arrcoc/error.h"
#include "arrcoc/esper.h"
#include "arrcoc/look.h"

namespace arrcoc::esper {

namespace {

// One number in [0,1) for a cell (SplitMix64).
float grain(uint64_t seed, size_t cell) {
  uint64_t z = seed + 0x9E3779B97F4A7C15ULL * (cell + 1);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
  return static_cast<float>((z ^ (z >> 31)) >> 40) * 0x1p-24F;
}

}  // namespace

double uncertainty(const std::vector<float>& probabilities) {
  if (probabilities.empty()) return 1;
  double sum = 0;
  for (float p : probabilities) {
    if (!(p >= 0 && p <= 1.0001F))
      throw Error(ErrorCode::numeric,
                  "a backend gave a token the probability " + std::to_string(p));
    if (p <= 0) return 1;
    sum += std::log(std::min(1.0, static_cast<double>(p)));
  }
  return 1 - std::exp(sum / static_cast<double>(probabilities.size()));
}

double likelihood(const std::vector<float>& probabilities) {
  double out = probabilities.empty() ? 0 : 1;
  for (float p : probabilities) out *= static_cast<double>(p);
  return out;
}

double exploration(int pass, double last_uncertainty) {
  if (pass == 0) return 0.1;
  if (last_uncertainty > 0.7) return 0.5;
  return last_uncertainty > 0.4 ? 0.3 : 0.05;
}

Texture texture_of(const Trace& trace, const Geometry& geometry) {
  const Map* maps[] = {&trace.attention_previous, &trace.attention_accumulated, &trace.gaze};
  int64_t rows = 1, cols = 1;
  for (const Map* map : maps)
    if (!map->empty()) rows = map->rows, cols = map->cols;
  Texture out;
  out.channels = {Channel::attention_previous, Channel::attention_accumulated, Channel::gaze};
  out.values = at::zeros({3, rows, cols}, at::kFloat);
  out.source_width = geometry.width;
  out.source_height = geometry.height;
  for (int64_t i = 0; i < 3; ++i)
    if (const Map& map = *maps[i]; !map.empty())
      std::copy(map.values.begin(), map.values.end(), out.values[i].data_ptr<float>());
  return out;
}

namespace {

// What the scorer "attention" makes of the channels that earlier passes left.
Map attention_of(const Trace& trace, const Map& shape) {
  const Geometry extent{static_cast<int>(std::lround(shape.cell_width * shape.cols)),
                        static_cast<int>(std::lround(shape.cell_height * shape.rows)), 0};
  static const Picture nobody;
  static const at::Tensor nothing;
  static const Query unasked;
  const Texture texture = texture_of(trace, extent);
  return registry<Scorer>().make("attention")->score({nobody, nothing, texture, unasked, shape});
}

}  // namespace

Map temper(const Map& relevance, const Map& interest, const Trace& trace, const std::string& manner,
           double explore, double last_uncertainty, const Rules& rules, uint64_t seed) {
  Map out = relevance;
  const auto at = [](const Map& map, size_t i) { return map.empty() ? 0.0F : map.values[i]; };
  const bool whole = manner == "first" || manner == "wider";
  if (whole && trace.gaze.empty() && explore == 0) return out;
  if (manner == "wider") {
    for (size_t i = 0; i < out.size(); ++i)
      out.values[i] = std::max(out.values[i], at(trace.gaze, i));
    return out;
  }
  const Map attention = attention_of(trace, relevance);
  const auto apart = static_cast<float>(rules.apart);
  const auto vain = static_cast<float>(rules.inhibition * last_uncertainty);
  const auto lift = static_cast<float>(explore);
  for (size_t i = 0; i < out.size(); ++i) {
    float& r = out.values[i];
    if (manner == "closer") {
      r *= apart + (1 - apart) * attention.values[i];
      continue;
    }
    if (manner == "first") {
      r = std::max(r, attention.values[i]);
    } else {
      r *= 1 - vain * at(trace.attention_accumulated, i);
    }
    const float curious = at(interest, i) * (0.99F + 0.01F * grain(seed, i));
    r += lift * (1 - at(trace.seen, i)) * curious * (1 - r);
    r = std::clamp(r, 0.0F, 1.0F);
  }
  return out;
}

}  // namespace arrcoc::esper
