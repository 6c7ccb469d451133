// The balancers; strategies.cpp gives them their names.
#pragma once

#include <memory>

#include "arrcoc/look.h"

namespace arrcoc::balancing {

std::unique_ptr<Balancer> make_opponent();          // three tensions, first static form
std::unique_ptr<Balancer> make_opponent_softmax();  // second static form
std::unique_ptr<Balancer> make_adaptive();          // weights and tensions by policy
std::unique_ptr<Balancer> make_learned();           // weights by a fitted policy
inline constexpr const char* kParts[] = {"information", "salience", "coupling",
                                         "compress",    "exploit",  "focus"};
// Weights and tensions by the looker's BalanceNet; `without`: one of kParts that stays neutral, "":
// none.
std::unique_ptr<Balancer> make_outcome(const std::string& without = "");
std::unique_ptr<Balancer> make_fixed();  // weights by preset
std::unique_ptr<Balancer> make_multiplicative();
std::unique_ptr<Balancer> make_importance();  // 0.6 query + 0.4 hotspots

// The same as balancing::balance() with a balancer that exists already.
Relevance balance(const Knowledge& knowledge, const Query& query, const Balancer& balancer,
                  const std::string& name, const BalanceOptions& options);

// True when the coupling map is all that is read and says the same everywhere: then the other two
// are needed after all.
bool coupling_is_flat(const Knowledge& knowledge, const Balancer::Reads& reads);

// Distance of each cell to the nearest of the top max(1, min(50, N/5)) scorers / the largest.
Map spatial_diversity(const Map& raw);

// sum of weight x score; a map of weight 0 may be empty
Map mix(const Knowledge& knowledge, const Weights& weights);

}  // namespace arrcoc::balancing
