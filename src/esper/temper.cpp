#include <algorithm>
#include <cmath>

#include "arrcoc/error.h"
#include "arrcoc/esper.h"

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

double exploration(int pass, double last_uncertainty) {
  if (pass == 0) return 0.1;
  if (last_uncertainty > 0.7) return 0.5;
  return last_uncertainty > 0.4 ? 0.3 : 0.05;
}

Map temper(const Map& relevance, const Map& interest, const Trace& trace, double explore,
           double last_uncertainty, const Rules& rules, uint64_t seed) {
  Map out = relevance;
  const auto at = [](const Map& map, size_t i) { return map.empty() ? 0.0F : map.values[i]; };
  const auto vain = static_cast<float>(rules.inhibition * last_uncertainty);
  const auto lift = static_cast<float>(explore);
  for (size_t i = 0; i < out.size(); ++i) {
    float& r = out.values[i];
    r *= 1 - vain * at(trace.attention_accumulated, i);
    const float curious = at(interest, i) * (0.99F + 0.01F * grain(seed, i));
    r += lift * (1 - at(trace.seen, i)) * curious * (1 - r);
    r = std::clamp(r, 0.0F, 1.0F);
  }
  return out;
}

}  // namespace arrcoc::esper
