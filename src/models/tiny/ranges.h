// Ranges of what a bundle's products read (ranges.json), fitted for its weights.
#pragma once

#include <cstdint>
#include <string>

#include "models/tiny/files.h"
#include "models/tiny/prepared.h"

namespace arrcoc::tiny {

struct NetworkRanges {
  uint64_t weights = 0;  // digest_of the weights that they were fitted for
  Ranges realizer, answerer;
};

// Tells weights apart, by every value of both networks.
uint64_t digest_of(const NetworkWeights& weights);

std::string to_json(const NetworkRanges& ranges, const Shape& shape, int64_t questions);
// Of ranges that belong to other weights only their digest is read: these may be of another shape.
// Error{bad_json} for unknown products, wrong types and ranges that are none.
NetworkRanges ranges_from_json(const std::string& text, const Shape& shape, uint64_t weights);

}  // namespace arrcoc::tiny
