// Balancing: three maps become one, by opponent processing.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "arrcoc/knowing.h"
#include "arrcoc/map.h"
#include "arrcoc/query.h"
#include "arrcoc/registry.h"

namespace arrcoc {

// Where the three opponent processes stand, each in [0,1].
struct Tensions {
  float compress = 0.5F;  // 0 particularize .. 1 compress
  float exploit = 0.5F;   // 0 explore .. 1 exploit
  float focus = 0.5F;     // 0 diversify .. 1 focus
  bool operator==(const Tensions&) const = default;
};

// Shares of the three scores in the mix.
struct Weights {
  float information = 0.3F;
  float salience = 0.3F;
  float coupling = 0.4F;
  bool operator==(const Weights&) const = default;
};

struct Relevance {
  Map map;  // in [0,1]
  Weights weights;
  Tensions tensions;
  std::vector<std::string> fallbacks;  // what was given up on the way, in words
};

struct BalanceOptions {
  std::string preset = "vervaeke";  // named Weights, see weight_presets()
  bool sigmoid_weights = false;     // adaptive policy: sigmoid instead of softmax
  // Information even everywhere, and less variance than this in salience and coupling together:
  // the picture is a void or noise, and the map is uniform. (Noise has 0.002 to 0.005.)
  float void_variance = 0.008F;
};

// Named weight presets: {"vervaeke": .3/.3/.4, "symbolic": .3/.2/.5, ...}; Error{not_found} else.
Weights weight_preset(const std::string& name);
std::vector<std::string> weight_preset_names();

class Balancer {
 public:
  static constexpr const char* kStage = "balancer";
  virtual ~Balancer() = default;
  virtual Relevance balance(const Knowledge& knowledge, const Query& query,
                            const BalanceOptions& options) const = 0;
};
template <>
Registry<Balancer>& registry<Balancer>();

namespace balancing {
// Runs the named balancer. When the three maps tell nothing apart (see void_variance) the result is
// a uniform map and says so in `fallbacks`.
Relevance balance(const Knowledge& knowledge, const Query& query, const std::string& balancer,
                  const BalanceOptions& options = {});

// Distance of each cell to the nearest of the top max(1, min(50, N/5)) scorers / the largest.
Map spatial_diversity(const Map& raw);

// The policy of balancer "learned", as `arrcoc train --policies` writes it; "" takes it away again.
// Error{bad_json}. Balancers that exist keep theirs.
void install_policy(const std::string& json);

// (compress, exploit, focus) for a question; interpolates between anchor questions.
Tensions tensions_for(const Query& query);
}  // namespace balancing

}  // namespace arrcoc
