// Weights of one shape fitted into another, so that training need not start anew when the networks
// change a little.
#pragma once

#include "models/tiny/files.h"

namespace arrcoc::training {

// Tensors that `from` does not have get their first values by `seed`; of wider MLPs the units with
// the largest weights stay, in their order. Error{bad_argument} names a tensor that cannot be
// fitted or would be lost.
tiny::NetworkWeights refit(const tiny::NetworkWeights& from, const tiny::Shape& shape,
                           uint64_t seed);

}  // namespace arrcoc::training
