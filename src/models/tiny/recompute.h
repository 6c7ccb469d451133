// Activation checkpointing: a part of a network keeps its input only and computes itself anew when
// gradients come. Trades about a third more arithmetic for the memory of all that lies between.
#pragma once

#include <functional>

#include "models/tiny/layers.h"

namespace arrcoc::tiny {

using Part = std::function<Tensor(const Tensors& w, const Tensor& x)>;

// part(w, x), whose gradients for w and x are those of the plain call. The part must compute the
// same when called again.
Tensor recomputed(const Part& part, const Tensors& w, const Tensor& x);

}  // namespace arrcoc::tiny
