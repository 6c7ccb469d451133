// The balancers; strategies.cpp gives them their names.
#pragma once

#include <memory>

#include "arrcoc/look.h"

namespace arrcoc::balancing {

std::unique_ptr<Balancer> make_opponent();          // three tensions, first static form
std::unique_ptr<Balancer> make_opponent_softmax();  // second static form
std::unique_ptr<Balancer> make_adaptive();          // weights and tensions by policy
std::unique_ptr<Balancer> make_learned();           // weights by the installed policy
std::unique_ptr<Balancer> make_additive();
std::unique_ptr<Balancer> make_multiplicative();
std::unique_ptr<Balancer> make_importance();  // 0.6 query + 0.4 hotspots

// sum of weight x score
Map mix(const Knowledge& knowledge, const Weights& weights);

}  // namespace arrcoc::balancing
