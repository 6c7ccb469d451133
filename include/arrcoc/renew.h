// Allocating for films: what was paid for on an earlier frame is not paid for again.
//
//   Renewal next = renew(relevance, geometry, budget, {leaves in force, which still show the
//   film});
#pragma once

#include "arrcoc/allocate.h"

namespace arrcoc::allocating {

// Leaves that are held already.
struct Held {
  Allocation allocation;
  std::vector<bool> current;  // [leaves] false: it has to be bought again to count
};
struct RenewOptions {
  int most = 256;       // leaves in force at once; at least `plain`
  int plain = 64;       // leaves that are placed as the quadtree places them; beyond, splits ...
  float enough = 0.5F;  // ... need this share of the largest relevance
  float keep = 0.02F;   // added to the worth of a split below which all is held and current
};
struct Renewal {
  Allocation allocation;
  std::vector<int> held;  // [leaves] the leaf of Held that stays in force; -1: bought now
  int bought = 0;         // at most budget.tokens
};
// The largest quadtree of which all that is not held costs at most budget.tokens: what stays as it
// is becomes finer from frame to frame. Where no tree costs so little, the held one stays and its
// most relevant leaves are bought again. `allocation.budget.tokens` is `most` then.
// Error{bad_argument} where nothing is held, or current does not fit the leaves.
Renewal renew(const Relevance& relevance, const Geometry& geometry, const Budget& budget,
              const Held& held, const RenewOptions& options, const AllocateOptions& how = {});

}  // namespace arrcoc::allocating
